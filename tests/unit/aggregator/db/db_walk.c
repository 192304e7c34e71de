/*
 * db_walk - tests of cursors on damaged pages (aggregator/db/walk.h).
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

#include "aggregator/db/damage.h"
#include "aggregator/db/db.h"

enum { ROWS, PAGE = 4096, BRANCH = 1, LEAF = 2, KEYS = 5000, PAGES = 512 };
static const char *const tables[] = { "rows", "meta", NULL };
static const struct db_options usual = {
	.tables = tables,
	.map_bytes = 64 << 20,
	.format = 1,
};
static char folder[SCRATCH_BYTES];
static char store[SCRATCH_BYTES + 8], path[SCRATCH_BYTES + 24];

static struct db *db;
static struct db_txn *txn;

/* The file, and its leaves in the order of their keys. */
static unsigned char file[PAGES * PAGE];
static size_t file_bytes;
static unsigned leaf[PAGES], leaves;

static unsigned
get16(const unsigned char *at)
{
	return at[0] | (unsigned)at[1] << 8;
}

static unsigned char *
row_of(unsigned page, unsigned index)
{
	unsigned char *at = file + (size_t)page * PAGE;

	return at + get16(at + 16 + 2 * index);
}

static unsigned
count_of(unsigned page)
{
	return (get16(file + (size_t)page * PAGE + 12) - 16) / 2;
}

static bool
is_kind(unsigned page, unsigned kind)
{
	return get16(file + (size_t)page * PAGE + 10) == kind;
}

/* LMDB ends a program that goes from one leaf to such a page. */
static void
spoil(unsigned page)
{
	file[(size_t)page * PAGE + 10] = 4;
}

static unsigned
find_branch(void)
{
	unsigned page = 2;

	while (!is_kind(page, BRANCH))
		page++;
	return page;
}

static int
compare_leaves(const void *a, const void *b)
{
	return memcmp(row_of(*(const unsigned *)a, 0) + 8,
	    row_of(*(const unsigned *)b, 0) + 8, 8);
}

static void
load(void)
{
	int fd = open(path, O_RDONLY);
	ssize_t bytes = read(fd, file, sizeof(file));

	close(fd);
	assert_true(bytes > 0 && bytes < (ssize_t)sizeof(file));
	file_bytes = (size_t)bytes;
	leaves = 0;
	for (unsigned page = 2; page < file_bytes / PAGE; page++)
		if (is_kind(page, LEAF) &&
		    memcmp(row_of(page, 0) + 8, "0", 1) == 0)
			leaf[leaves++] = page;
	qsort(leaf, leaves, sizeof(leaf[0]), compare_leaves);
}

static void
save(void)
{
	int fd = open(path, O_WRONLY);

	assert_int_equal(write(fd, file, file_bytes), file_bytes);
	close(fd);
}

/* Rows "00000000", "00000001", ... on dozens of leaves, below one branch. */
static int
make(void **state)
{
	struct err err = { 0 };

	scratch_make(folder);
	snprintf(store, sizeof(store), "%s/env", folder);
	snprintf(path, sizeof(path), "%s/data.mdb", store);
	if (db_open(&db, store, &usual, &err) != 0 ||
	    db_begin(db, true, &txn, &err) != 0)
		fail_msg("%s", err.text);
	for (unsigned i = 0; i < KEYS; i++) {
		char key[16];

		snprintf(key, sizeof(key), "%08u", i);
		db_put(txn, ROWS, text_of(key), text_of("a value, as usual"));
	}
	if (db_commit(&txn, &err) != DB_OK)
		fail_msg("%s", err.text);
	db_close(&db);
	load();
	assert_true(leaves > 30);
	return 0;
}

static int
clear(void **state)
{
	scratch_remove(folder);
	return 0;
}

/* ---- what a reader finds ---- */

static void
begin(void)
{
	struct db_options reader = usual;
	struct err err = { 0 };

	reader.read_only = true;
	if (db_open(&db, store, &reader, &err) != 0 ||
	    db_begin(db, false, &txn, &err) != 0)
		fail_msg("%s", err.text);
}

static void
end(void)
{
	db_abort(&txn);
	db_close(&db);
}

/* Go through the table; no row is found twice.  Returns how many rows. */
static unsigned
walk(bool is_back)
{
	static bool has[KEYS];
	struct db_cursor *cursor = db_cursor_open(txn, ROWS);
	struct text key, value;
	unsigned rows = 0;
	bool more;

	memset(has, 0, sizeof(has));
	more = is_back ? db_last(cursor, &key, &value)
		       : db_next(cursor, &key, &value);
	while (more) {
		char word[16];
		unsigned n;

		snprintf(word, sizeof(word), "%.*s", (int)key.bytes, key.at);
		n = (unsigned)atoi(word);
		assert_true(key.bytes == 8 && n < KEYS && !has[n]);
		assert_true(text_equal(value, text_of("a value, as usual")));
		has[n] = true;
		rows++;
		more = is_back ? db_prev(cursor, &key, &value)
			       : db_next(cursor, &key, &value);
	}
	db_cursor_close(&cursor);
	return rows;
}

static void
expect(unsigned rows)
{
	begin();
	assert_int_equal(walk(false), rows);
	assert_int_equal(walk(true), rows);
	assert_true(db_damage_met(txn)->ids > 0);
	end();
}

/* ---- tests ---- */

/* The key looks as if it were behind all rows of the next pages. */
static void
a_changed_last_key_leads_to_no_page_that_was_not_checked(void **state)
{
	unsigned last = count_of(leaf[4]) - 1, lost;

	row_of(leaf[4], last)[8] = '1';
	lost = 1 + count_of(leaf[6]);
	spoil(leaf[6]);
	save();
	expect(KEYS - lost);
}

/* ... or before all of its own page. */
static void
a_changed_key_does_not_hide_where_the_walk_is(void **state)
{
	unsigned last = count_of(leaf[4]) - 1, lost;

	row_of(leaf[4], last)[8] = ' ';
	lost = 1 + count_of(leaf[5]);
	spoil(leaf[5]);
	save();
	expect(KEYS - lost);
}

/* The number of a page in a branch becomes that of another page of it: rows of
 * the one are lost, those of the other are not found twice. */
static void
a_page_that_two_numbers_lead_to_counts_once(void **state)
{
	static const unsigned other[] = { 3, 9 };
	unsigned branch = find_branch();

	assert_int_equal(get16(row_of(branch, 7)), leaf[7]);
	for (unsigned i = 0; i < 2; i++) {
		memcpy(row_of(branch, 7), row_of(branch, other[i]), 4);
		save();
		expect(KEYS - count_of(leaf[7]));
	}
}

/* The list of rows of a page has the place of one row twice. */
static void
a_row_that_is_twice_in_the_list_of_its_page_counts_once(void **state)
{
	unsigned char *list = file + (size_t)leaf[5] * PAGE + 16;

	memcpy(list + 2 * 20, list + 2 * 9, 2);
	save();
	expect(KEYS - 1);
}

static void
on_a_page_whose_keys_are_out_of_order_rows_are_found(void **state)
{
	unsigned char *list = file + (size_t)leaf[5] * PAGE + 16, first[2];
	unsigned last = count_of(leaf[5]) - 1;
	struct db_cursor *cursor;
	struct text sought, found, value;

	memcpy(first, list, 2);
	memcpy(list, list + 2 * last, 2);
	memcpy(list + 2 * last, first, 2);
	save();
	expect(KEYS);
	begin();
	cursor = db_cursor_open(txn, ROWS);
	for (unsigned i = 0; i <= last; i++) {
		sought = (struct text){ (char *)row_of(leaf[5], i) + 8, 8 };
		assert_true(db_get(txn, ROWS, sought, &value));
		assert_true(db_seek(cursor, sought, &found, &value));
		assert_true(memcmp(found.at, sought.at, 8) >= 0);
	}
	db_cursor_close(&cursor);
	end();
}

/* Any bits of pages of the table are flipped. */
static void
no_flipped_bits_end_a_walk(void **state)
{
	unsigned rounds = check_share(400, 20);
	static unsigned char whole[sizeof(file)];
	uint64_t random = check_seed();
	unsigned branch = find_branch();

	memcpy(whole, file, file_bytes);
	for (unsigned i = 0; i < rounds; i++) {
		unsigned flips = 1 + check_random(&random) % 64, rows;
		unsigned page = check_random(&random) % 4 == 0
				    ? branch
				    : leaf[check_random(&random) % leaves];
		struct db_cursor *cursor;
		struct text key, value;
		char sought[16];

		memcpy(file, whole, file_bytes);
		while (flips-- > 0)
			file[(size_t)page * PAGE +
			     check_random(&random) % PAGE] ^=
			    1 << check_random(&random) % 8;
		/* What lies behind it is damaged as well. */
		spoil(leaf[check_random(&random) % leaves]);
		save();
		begin();
		rows = walk(false);
		assert_int_equal(walk(true), rows);
		cursor = db_cursor_open(txn, ROWS);
		snprintf(sought, sizeof(sought), "%08u",
		    (unsigned)(check_random(&random) % KEYS));
		if (db_seek(cursor, text_of(sought), &key, &value))
			assert_true(memcmp(key.at, sought, 8) >= 0);
		while (db_prev(cursor, &key, &value))
			rows--;
		db_get(txn, ROWS, text_of(sought), &value);
		db_cursor_close(&cursor);
		end();
	}
}

static void
shorten_list(unsigned page, unsigned rows)
{
	unsigned char *at = file + (size_t)page * PAGE + 12;
	unsigned lower = get16(at) - 2 * rows;

	at[0] = (unsigned char)lower;
	at[1] = (unsigned char)(lower >> 8);
	save();
}

/* All else is as it should be, and the keys still ascend. */
static void
a_list_of_rows_that_is_too_short_is_damage(void **state)
{
	unsigned lost = 0;
	struct text value;

	shorten_list(leaf[3], 5);
	expect(KEYS - 5);
	begin();
	/* The last row of the leaf is one of them. */
	assert_false(db_get(txn, ROWS,
	    (struct text){
		(const char *)row_of(leaf[3], count_of(leaf[3]) + 4) + 8, 8 },
	    &value));
	assert_true(db_was_damaged(txn));
	end();
	shorten_list(leaf[3], (unsigned)-5);
	shorten_list(find_branch(), 4);
	for (unsigned i = leaves - 4; i < leaves; i++)
		lost += count_of(leaf[i]);
	expect(KEYS - lost);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clear)
	const struct CMUnitTest tests[] = {
		TEST(a_changed_last_key_leads_to_no_page_that_was_not_checked),
		TEST(a_changed_key_does_not_hide_where_the_walk_is),
		TEST(a_page_that_two_numbers_lead_to_counts_once),
		TEST(a_row_that_is_twice_in_the_list_of_its_page_counts_once),
		TEST(on_a_page_whose_keys_are_out_of_order_rows_are_found),
		TEST(a_list_of_rows_that_is_too_short_is_damage),
		TEST(no_flipped_bits_end_a_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
