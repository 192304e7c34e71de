/*
 * packed - tests of aggregator/packed/packed.h: whatever is packed, and when, a
 * table has the rows that were put.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

#include <unistd.h>

#include "aggregator/chunk/chunk.h"
#include "aggregator/db/durable_dir.h"
#include "aggregator/packed/block.h"

enum { ROWS, BLOCKS, META };
static const char *const names[] = { "rows", "blocks", "meta", NULL };
static const struct packed_table table = { ROWS, BLOCKS, 8 };

/* What the table must have: by front and number. */
enum { FRONTS = 3, NUMBERS = 6000, VALUE_BYTES = 9000 };
struct model {
	uint32_t bytes[FRONTS][NUMBERS]; /* of the value and 1; 0: no row */
	unsigned char byte[FRONTS][NUMBERS];
};
static struct model now, before;

static uint64_t seed;
static char folder[64];
static struct db *db;
static struct packed *packed;

static int
open_store(void **state)
{
	const struct db_options options = {
		.tables = names, .map_bytes = 256 << 20, .format = 1
	};
	char path[DURABLE_DIR_PATH_BYTES];
	struct err err = { 0 };

	memset(&now, 0, sizeof(now));
	strcpy(folder, "/tmp/poolscope-packed-XXXXXX");
	if (mkdtemp(folder) == NULL ||
	    durable_dir_path(path, folder, "env", &err) != 0 ||
	    db_open(&db, path, &options, &err) != 0)
		fail_msg("%s", err.text);
	packed = packed_new();
	return 0;
}

static int
close_store(void **state)
{
	char path[DURABLE_DIR_PATH_BYTES];

	packed_free(&packed);
	db_close(&db);
	assert_int_equal(durable_dir_path(path, folder, "env", NULL), 0);
	assert_int_equal(durable_dir_remove(path, NULL), 0);
	return rmdir(folder);
}

static uint64_t
below(uint64_t limit)
{
	return check_random(&seed) % limit;
}

static struct db_txn *
begin(bool write)
{
	struct err err = { 0 };
	struct db_txn *txn;

	if (db_begin(db, write, &txn, &err) != 0)
		fail_msg("%s", err.text);
	return txn;
}

static void
commit(struct db_txn *txn)
{
	struct err err = { 0 };

	if (db_commit(&txn, &err) != DB_OK)
		fail_msg("%s", err.text);
}

/* ---- keys and values ---- */

static struct text
key_of(unsigned front, unsigned number)
{
	static char key[64];
	/* The order of the texts is that of the numbers; the length varies. */
	int bytes = snprintf(key, sizeof(key), "front--%u%05u%.*s", front,
	    number, (int)(number % 7), "abcdefg");

	return (struct text){ key, (uint32_t)bytes };
}

static bool
get_key(struct text key, unsigned *front, unsigned *number)
{
	char text[64] = "";

	if (key.bytes >= sizeof(text))
		return false;
	memcpy(text, key.at, key.bytes);
	*front = (unsigned)(text[7] - '0');
	text[13] = '\0';
	*number = (unsigned)strtoul(text + 8, NULL, 10);
	return *front < FRONTS && *number < NUMBERS &&
	       text_equal(key, key_of(*front, *number));
}

static struct text
value_of(const struct model *model, unsigned front, unsigned number)
{
	static char value[VALUE_BYTES];
	uint32_t bytes = model->bytes[front][number] - 1;

	memset(value, model->byte[front][number], bytes);
	if (bytes > 4)
		memcpy(value, &number, sizeof(number));
	return (struct text){ value, bytes };
}

static void
put(struct db_txn *txn, unsigned front, unsigned number, uint32_t bytes)
{
	now.bytes[front][number] = bytes + 1;
	now.byte[front][number] = (unsigned char)below(256);
	packed_put(packed, txn, table, key_of(front, number),
	    value_of(&now, front, number));
}

static void
del(struct db_txn *txn, unsigned front, unsigned number)
{
	bool there = now.bytes[front][number] != 0;

	assert_int_equal(
	    packed_del(packed, txn, table, key_of(front, number)), there);
	now.bytes[front][number] = 0;
}

/* ---- comparison ---- */

static unsigned
next_of(unsigned front, unsigned from)
{
	while (from < NUMBERS && now.bytes[front][from] == 0)
		from++;
	return from;
}

static void
expect_row(struct text key, struct text value, unsigned front, unsigned number)
{
	unsigned f, n;

	assert_true(get_key(key, &f, &n));
	assert_int_equal(f, front);
	assert_int_equal(n, number);
	assert_true(text_equal(value, value_of(&now, front, number)));
}

/* The walk from a key has all rows behind it, and no other. */
static void
expect_walk(struct db_txn *txn, unsigned front, unsigned from, uint32_t limit)
{
	struct packed_cursor *cursor = packed_cursor_open(txn, table);
	struct text key, value;
	bool more = packed_seek(cursor, key_of(front, from), &key, &value);
	unsigned number = next_of(front, from);

	for (uint32_t i = 0; i < limit; i++) {
		while (number == NUMBERS && ++front < FRONTS)
			number = next_of(front, 0);
		assert_int_equal(more, front < FRONTS);
		if (!more)
			break;
		expect_row(key, value, front, number);
		number = next_of(front, number + 1);
		more = packed_next(cursor, &key, &value);
	}
	packed_cursor_close(&cursor);
}

/* The same backwards, from before a key. */
static void
expect_walk_back(
    struct db_txn *txn, unsigned front, unsigned from, uint32_t limit)
{
	struct packed_cursor *cursor = packed_cursor_open(txn, table);
	struct text key, value;
	bool more =
	    packed_seek_before(cursor, key_of(front, from), &key, &value);

	for (uint32_t i = 0; i < limit; i++) {
		bool there = false;

		while (!there && (from > 0 || front > 0)) {
			front -= from == 0;
			from = from > 0 ? from - 1 : NUMBERS - 1;
			there = now.bytes[front][from] != 0;
		}
		assert_int_equal(more, there);
		if (!more)
			break;
		expect_row(key, value, front, from);
		more = packed_previous(cursor, &key, &value);
	}
	packed_cursor_close(&cursor);
}

static void
fail_on(void *arg, const char *sentence)
{
	fail_msg("%s", sentence);
}

static void
expect_all(struct db_txn *txn)
{
	struct text value;

	expect_walk(txn, 0, 0, UINT32_MAX);
	expect_walk_back(txn, FRONTS - 1, NUMBERS - 1, UINT32_MAX);
	for (unsigned i = 0; i < 200; i++) {
		unsigned front = (unsigned)below(FRONTS);
		unsigned number = (unsigned)below(NUMBERS);
		bool there = now.bytes[front][number] != 0;

		assert_int_equal(packed_get(packed, txn, table,
				     key_of(front, number), &value),
		    there);
		if (there)
			assert_true(
			    text_equal(value, value_of(&now, front, number)));
		if (i < 20) {
			expect_walk(txn, front, number, 40);
			expect_walk_back(txn, front, number, 40);
		}
	}
	packed_verify(packed, txn, table, fail_on, NULL);
	assert_false(db_failed(txn));
}

static uint64_t
count_rows(unsigned which)
{
	struct db_status status;
	struct err err = { 0 };

	assert_int_equal(db_status(db, &status, &err), 0);
	return status.rows[which];
}

/* ---- changes ---- */

static bool
some_rest(void *arg, struct text key, struct text value)
{
	unsigned front, number;

	assert_true(get_key(key, &front, &number));
	return number % *(unsigned *)arg != 1;
}

/* All of a front, or some of it. */
static void
pack(struct db_txn *txn, unsigned front, bool all, unsigned every, bool whole)
{
	struct packed_pass pass = {
		.table = table, .rests = some_rest, .arg = &every, .all = all
	};

	memcpy(pass.front, key_of(front, 0).at, table.front);
	while (packed_pack(packed, txn, &pass) && (whole || below(4) > 0))
		continue;
	buffer_clear(&pass.from);
}

static uint32_t
some_bytes(void)
{
	switch (below(40)) {
	case 0: return (uint32_t)below(VALUE_BYTES);
	case 1: return PACKED_ROW_BYTES;
	case 2: return PACKED_ROW_BYTES + 1;
	default: return (uint32_t)below(90);
	}
}

static void
change(struct db_txn *txn)
{
	unsigned front = (unsigned)below(FRONTS);
	unsigned number = (unsigned)below(NUMBERS);
	unsigned count = (unsigned)below(600);

	switch (below(8)) {
	case 0:
	case 1: /* ascending */
		for (; count > 0 && number < NUMBERS; count--)
			put(txn, front, number++, some_bytes());
		break;
	case 2:
	case 3:
		for (; count > 0; count--)
			put(txn, front, (unsigned)below(NUMBERS), some_bytes());
		break;
	case 4:
		for (; count > 0 && number < NUMBERS; count--)
			del(txn, front, number++);
		break;
	case 5:
		for (count /= 8; count > 0; count--)
			del(txn, front, (unsigned)below(NUMBERS));
		break;
	case 6: packed_unpack(packed, txn, table, key_of(front, number)); break;
	default:
		pack(txn, front, below(3) == 0, 1 + (unsigned)below(9),
		    below(2) == 0);
	}
}

static void
random_changes_give_the_rows_that_were_put(void **state)
{
	unsigned rounds = check_share(150, 20);
	uint64_t blocks = 0;

	for (unsigned i = 0; i < rounds; i++) {
		struct db_txn *txn = begin(true);

		before = now;
		for (uint64_t steps = below(6); steps > 0; steps--)
			change(txn);
		if (below(5) == 0)
			expect_all(txn);
		if (below(6) == 0) {
			db_abort(&txn);
			now = before;
		} else {
			commit(txn);
		}
		txn = begin(false);
		expect_all(txn);
		db_abort(&txn);
		blocks += count_rows(BLOCKS);
	}
	assert_true(blocks > rounds);
}

/* ---- what is packed ---- */

static void
fill(unsigned front, unsigned from, unsigned to, uint32_t bytes)
{
	struct db_txn *txn = begin(true);

	for (; from < to; from++)
		put(txn, front, from, bytes);
	commit(txn);
}

static void
pack_now(unsigned front, bool all, unsigned every)
{
	struct db_txn *txn = begin(true);

	pack(txn, front, all, every, true);
	commit(txn);
	txn = begin(false);
	expect_all(txn);
	db_abort(&txn);
}

/* 5,000 rows of 50 bytes and keys of 10 to 16 are about 13 blocks. */
static void
what_rests_is_packed(void **state)
{
	fill(1, 0, 5000, 50);
	pack_now(1, false, 2 * NUMBERS);
	/* One row (number 1) does not rest, and no block is begun. */
	assert_true(count_rows(ROWS) < 500 && count_rows(BLOCKS) > 10);
	pack_now(1, true, 1);
	assert_int_equal(count_rows(ROWS), 0);
	assert_in_range(count_rows(BLOCKS), 11, 16);
}

static void
what_does_not_rest_stays_single(void **state)
{
	fill(1, 0, 1000, 50);
	pack_now(1, true, 5);
	assert_int_equal(count_rows(ROWS), 200);
}

static void
few_rows_wait_for_more(void **state)
{
	struct db_txn *txn;

	fill(0, 0, 100, 50);
	pack_now(0, false, 1);
	assert_int_equal(count_rows(BLOCKS), 0);
	fill(0, 1000, 1300, 50);
	pack_now(0, true, 1);
	assert_int_equal(count_rows(ROWS), 0);
	/* 5 of 400 have changed, then half of them. */
	fill(0, 1000, 1005, 51);
	pack_now(0, false, 1);
	assert_int_equal(count_rows(ROWS), 5);
	fill(0, 1000, 1150, 52);
	pack_now(0, false, 1);
	assert_int_equal(count_rows(ROWS), 0);
	txn = begin(true);
	for (unsigned i = 0; i < 1300; i++)
		del(txn, 0, i);
	commit(txn);
	assert_int_equal(count_rows(ROWS) + count_rows(BLOCKS), 0);
}

static void
small_rows_fill_no_block_beyond_its_limit(void **state)
{
	fill(2, 0, NUMBERS, 0);
	pack_now(2, true, 1);
	assert_int_equal(count_rows(ROWS), 0);
	assert_in_range(count_rows(BLOCKS), 6, 8);
}

static void
large_rows_stay_single(void **state)
{
	fill(0, 0, 40, PACKED_ROW_BYTES);
	fill(0, 40, 50, PACKED_ROW_BYTES + 1);
	pack_now(0, true, 1);
	assert_int_equal(count_rows(ROWS), 10);
	assert_in_range(count_rows(BLOCKS), 10, 20);
}

/* The bytes of a block do not have the front. */
static void
equal_blocks_of_two_fronts_differ(void **state)
{
	struct text value;
	struct db_txn *txn;

	for (unsigned front = 0; front < 2; front++) {
		txn = begin(true);
		for (unsigned i = 0; i < 100; i++) {
			now.bytes[front][i] = 9;
			now.byte[front][i] = 'x';
			packed_put(packed, txn, table, key_of(front, i),
			    value_of(&now, front, i));
		}
		commit(txn);
		pack_now(front, true, 1);
	}
	txn = begin(true);
	assert_true(packed_get(packed, txn, table, key_of(1, 5), &value));
	assert_true(packed_get(packed, txn, table, key_of(0, 5), &value));
	del(txn, 0, 5);
	assert_true(packed_get(packed, txn, table, key_of(1, 5), &value));
	expect_all(txn);
	commit(txn);
}

/* A row that a block has must not be found once it was deleted, nor its old
 * value once it was changed. */
static void
the_last_row_of_a_block_can_go(void **state)
{
	struct db_txn *txn;

	fill(0, 0, 900, 50);
	pack_now(0, true, 1);
	assert_true(count_rows(BLOCKS) > 1);
	for (unsigned i = 900; i-- > 0;) {
		txn = begin(true);
		if (i % 3 == 0)
			put(txn, 0, i, 3);
		else
			del(txn, 0, i);
		if (i % 50 == 0)
			expect_all(txn);
		commit(txn);
	}
	assert_int_equal(count_rows(BLOCKS), 0);
	assert_int_equal(count_rows(ROWS), 300);
}

static void
a_block_is_made_rows_again(void **state)
{
	struct buffer from = { NULL, 0, 0 };
	struct db_txn *txn;
	uint64_t blocks;
	bool more;

	fill(0, 0, 900, 50);
	pack_now(0, true, 1);
	blocks = count_rows(BLOCKS);
	txn = begin(true);
	packed_unpack(packed, txn, table, key_of(0, 450));
	expect_all(txn);
	commit(txn);
	assert_int_equal(count_rows(BLOCKS), blocks - 1);
	assert_true(count_rows(ROWS) > 100);
	fill(2, 0, NUMBERS, 100);
	pack_now(2, true, 1);
	blocks = count_rows(BLOCKS);
	do {
		txn = begin(true);
		more = packed_unpack_some(packed, txn, table, &from);
		expect_all(txn);
		commit(txn);
		assert_true(count_rows(BLOCKS) < blocks);
		blocks = count_rows(BLOCKS);
	} while (more && blocks > 0);
	buffer_clear(&from);
	assert_int_equal(blocks, 0);
	assert_int_equal(count_rows(ROWS), 900 + NUMBERS);
}

/* ---- damage ---- */

static void
count_reports(void *arg, const char *sentence)
{
	assert_true(sentence[0] != '\0');
	++*(unsigned *)arg;
}

/* No transaction leaves that; a page that was written from elsewhere does. */
static void
a_key_in_both_tables_is_one_row(void **state)
{
	unsigned reports = 0;
	struct db_txn *txn;

	fill(0, 0, 900, 50);
	pack_now(0, true, 1);
	txn = begin(true);
	now.byte[0][450]++;
	db_put(txn, ROWS, key_of(0, 450), value_of(&now, 0, 450));
	expect_walk(txn, 0, 0, UINT32_MAX);
	expect_walk(txn, 0, 450, UINT32_MAX);
	expect_walk_back(txn, 0, 451, UINT32_MAX);
	expect_walk_back(txn, 0, 900, UINT32_MAX);
	packed_verify(packed, txn, table, count_reports, &reports);
	assert_int_equal(reports, 1);
	commit(txn);
	pack_now(0, true, 1);
	assert_int_equal(count_rows(ROWS), 0);
	txn = begin(true);
	now.byte[0][450]++;
	db_put(txn, ROWS, key_of(0, 450), value_of(&now, 0, 450));
	packed_unpack(packed, txn, table, key_of(0, 449));
	expect_all(txn);
	commit(txn);
}

static struct text
first_block(
    struct db_txn *txn, unsigned char key[DB_KEY_BYTES_MAX], struct text *bytes)
{
	struct db_cursor *cursor = db_cursor_open(txn, BLOCKS);
	struct text at, all = { NULL, 0 };

	assert_true(db_seek(cursor, all, &at, bytes));
	memcpy(key, at.at, at.bytes);
	at.at = (const char *)key;
	db_cursor_close(&cursor);
	return at;
}

/* Spoil the first block with a good checksum. */
static void
spoil(uint32_t cut, uint32_t flip)
{
	unsigned char key[DB_KEY_BYTES_MAX];
	struct text at, bytes;
	struct db_txn *txn = begin(true);
	char *copy;

	at = first_block(txn, key, &bytes);
	copy = malloc(bytes.bytes);
	assert_non_null(copy);
	memcpy(copy, bytes.at, bytes.bytes);
	if (flip > 0)
		copy[flip % bytes.bytes] ^= 0x55;
	bytes = (struct text){ copy, bytes.bytes - cut };
	db_put(txn, BLOCKS, at, bytes);
	commit(txn);
	free(copy);
}

static void
rows_of_a_malformed_block_are_missing_and_counted(void **state)
{
	struct text value, key;
	unsigned reports = 0;
	struct packed_cursor *cursor;
	struct db_status status;
	struct db_txn *txn;
	struct err err = { 0 };
	bool more;

	fill(0, 0, 900, 50);
	pack_now(0, true, 1);
	spoil(3, 0);
	txn = begin(false);
	assert_false(packed_get(packed, txn, table, key_of(0, 0), &value));
	assert_true(packed_get(packed, txn, table, key_of(0, 899), &value));
	packed_verify(packed, txn, table, count_reports, &reports);
	assert_int_equal(reports, 1);
	/* A walk goes on behind it. */
	cursor = packed_cursor_open(txn, table);
	more = packed_seek(cursor, key_of(0, 0), &key, &value);
	assert_true(more);
	while (more) {
		unsigned front, number;

		assert_true(get_key(key, &front, &number));
		assert_true(text_equal(value, value_of(&now, front, number)));
		more = packed_next(cursor, &key, &value);
	}
	packed_cursor_close(&cursor);
	db_abort(&txn);
	assert_int_equal(db_status(db, &status, &err), 0);
	assert_int_equal(status.damaged_rows, 1);
	/* It stays as it is, and rows go on next to it. */
	txn = begin(true);
	put(txn, 0, 0, 7);
	pack(txn, 0, true, 1, true);
	assert_true(packed_get(packed, txn, table, key_of(0, 0), &value));
	packed_unpack(packed, txn, table, key_of(0, 1));
	assert_false(packed_del(packed, txn, table, key_of(0, 1)));
	commit(txn);
}

static void
no_byte_of_a_block_can_be_wrong_and_break_anything(void **state)
{
	struct text key, value;
	struct packed_cursor *cursor;
	struct db_txn *txn;
	bool more;

	fill(0, 0, 60, 20);
	pack_now(0, true, 1);
	for (uint32_t flip = 1; flip < 200; flip++) {
		spoil(0, flip);
		txn = begin(false);
		cursor = packed_cursor_open(txn, table);
		more = packed_seek(cursor, key_of(0, 0), &key, &value);
		for (unsigned rows = 0; more; rows++) {
			assert_true(rows < BLOCK_ROWS_MAX);
			more = packed_next(cursor, &key, &value);
		}
		packed_get(packed, txn, table, key_of(0, flip % 60), &value);
		packed_cursor_close(&cursor);
		db_abort(&txn);
		spoil(0, flip); /* back */
	}
	txn = begin(false);
	expect_all(txn);
	db_abort(&txn);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, open_store, close_store)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(random_changes_give_the_rows_that_were_put),
		TEST(what_rests_is_packed),
		TEST(what_does_not_rest_stays_single),
		TEST(few_rows_wait_for_more),
		TEST(small_rows_fill_no_block_beyond_its_limit),
		TEST(large_rows_stay_single),
		TEST(equal_blocks_of_two_fronts_differ),
		TEST(the_last_row_of_a_block_can_go),
		TEST(a_block_is_made_rows_again),
		TEST(a_key_in_both_tables_is_one_row),
		TEST(rows_of_a_malformed_block_are_missing_and_counted),
		TEST(no_byte_of_a_block_can_be_wrong_and_break_anything),
	};

	seed = check_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
