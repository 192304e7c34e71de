/*
 * db_mark - tests of the marks of aggregator/db/db.h: which changes get one.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

#include "aggregator/db/db.h"
#include "proto/base/varint.h"

enum { ROWS, SLICES, META, MARKS, OTHERS };
static const char *const tables[] = { "rows", "slices", "meta", "marks",
	"others", NULL };
/* Rows: each key; slices: the first two bytes of keys of six, without
 * deletions; of meta the keys that begin with p. */
static const struct db_marking marking = {
	.marks = MARKS,
	.meta = META,
	.is_on = "on",
	.counter = "counter",
	.of = { [ROWS] = { DB_MARK_WHOLE, true, NULL },
	    [SLICES] = { 2, false, NULL },
	    [META] = { DB_MARK_WHOLE, true, "p" } },
};
static const struct db_options usual = { .tables = tables,
	.map_bytes = 64 << 20,
	.format = 1,
	.marking = &marking };
static char folder[SCRATCH_BYTES];
static struct db *db;

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

static void
open_db(void)
{
	char path[SCRATCH_BYTES + 8];
	struct err err = { 0 };

	snprintf(path, sizeof(path), "%s/env", folder);
	if (db_open(&db, path, &usual, &err) != 0)
		fail_msg("%s", err.text);
}

static void
turn_on(void)
{
	struct db_txn *txn = begin(true);

	db_put(txn, META, text_of("on"), text_of("\1"));
	commit(txn);
}

static int
set_up(void **state)
{
	scratch_make(folder);
	open_db();
	return 0;
}

static int
tear_down(void **state)
{
	db_close(&db);
	scratch_remove(folder);
	return 0;
}

/* A key of a slice: its two letters and the number of the row. */
static struct text
row_key(unsigned char to[static 6], const char *slice, uint32_t row)
{
	memcpy(to, slice, 2);
	varint_put_u32_be(to + 2, row);
	return (struct text){ (const char *)to, 6 };
}

/* All marks, in order: "r key change first\n" and so on. */
static char *
marks(void)
{
	static char out[64 << 10];
	struct db_txn *txn = begin(false);
	struct db_cursor *cursor = db_cursor_open(txn, MARKS);
	struct text key, value, all = { NULL, 0 };
	bool more = db_seek(cursor, all, &key, &value);
	size_t at = 0;

	out[0] = '\0';
	for (; more; more = db_next(cursor, &key, &value)) {
		assert_int_equal(value.bytes, 12);
		at += (size_t)snprintf(out + at, sizeof(out) - at,
		    "%c %.*s %u %u\n", "rsm"[(int)key.at[0]],
		    (int)key.bytes - 1, key.at + 1,
		    (unsigned)varint_get_u64_be(value.at),
		    varint_get_u32_be(value.at + 8));
		assert_true(at < sizeof(out));
	}
	db_cursor_close(&cursor);
	db_abort(&txn);
	return out;
}

static void
put(struct db_txn *txn, unsigned table, const char *key)
{
	db_put(txn, table, text_of(key), text_of("v"));
}

static void
put_row(struct db_txn *txn, const char *slice, uint32_t row)
{
	unsigned char key[6];

	db_put(txn, SLICES, row_key(key, slice, row), text_of("v"));
}

/* ---- cases ---- */

static void
nothing_is_marked_while_it_is_off(void **state)
{
	struct db_txn *txn = begin(true);

	put(txn, ROWS, "a");
	put_row(txn, "xx", 7);
	put(txn, META, "pa");
	assert_true(db_del(txn, ROWS, text_of("a")));
	commit(txn);
	assert_string_equal(marks(), "");
}

static void
every_way_to_change_a_row_marks_it(void **state)
{
	struct text key, value;
	struct db_cursor *cursor;
	struct db_txn *txn;
	unsigned char *at;

	turn_on();
	txn = begin(true);
	put(txn, ROWS, "put");
	at = db_reserve(txn, ROWS, text_of("zappend"), 1, true);
	assert_non_null(at);
	*at = 'v';
	db_complete(txn, text_of("zappend"), at, 1);
	at = db_reserve(txn, ROWS, text_of("reserve"), 1, false);
	assert_non_null(at);
	*at = 'v';
	db_complete(txn, text_of("reserve"), at, 1);
	cursor = db_cursor_open(txn, ROWS);
	db_cursor_put(cursor, text_of("cursor"), text_of("v"));
	db_cursor_close(&cursor);
	put(txn, META, "pa");
	put(txn, META, "qa");
	put(txn, OTHERS, "other");
	commit(txn);
	assert_string_equal(marks(),
	    "r cursor 1 0\nr put 1 0\nr reserve 1 0\nr zappend 1 0\n"
	    "m pa 1 0\n");
	txn = begin(true);
	assert_true(db_get(txn, ROWS, text_of("zappend"), &value));
	assert_int_equal(value.at[0], 'v');
	assert_true(db_get(txn, ROWS, text_of("reserve"), &value));
	assert_int_equal(value.at[0], 'v');
	assert_true(db_del(txn, ROWS, text_of("put")));
	assert_false(db_del(txn, ROWS, text_of("absent")));
	cursor = db_cursor_open(txn, ROWS);
	assert_true(db_seek(cursor, text_of("reserve"), &key, &value));
	db_cursor_del(cursor);
	assert_true(db_next(cursor, &key, &value));
	assert_true(text_equal(key, text_of("zappend")));
	db_cursor_close(&cursor);
	commit(txn);
	assert_string_equal(marks(),
	    "r cursor 1 0\nr put 2 0\nr reserve 2 0\nr zappend 1 0\n"
	    "m pa 1 0\n");
}

static void
a_slice_keeps_its_first_row_and_gets_the_last_change(void **state)
{
	struct db_txn *txn;
	unsigned char key[6];

	turn_on();
	txn = begin(true);
	put_row(txn, "xx", 7);
	put_row(txn, "yy", 8);
	put_row(txn, "xx", 9);
	commit(txn);
	assert_string_equal(marks(), "s xx 1 7\ns yy 1 8\n");
	txn = begin(true);
	put_row(txn, "xx", 10);
	commit(txn);
	assert_string_equal(marks(), "s xx 2 7\ns yy 1 8\n");
	/* A deletion is of no interest. */
	txn = begin(true);
	assert_true(db_del(txn, SLICES, row_key(key, "yy", 8)));
	commit(txn);
	assert_string_equal(marks(), "s xx 2 7\ns yy 1 8\n");
	/* All of it is lacking. */
	txn = begin(true);
	db_mark(txn, SLICES, text_of("yy"), 1);
	db_mark(txn, SLICES, text_of("xx"), 8);
	commit(txn);
	assert_string_equal(marks(), "s xx 3 7\ns yy 3 1\n");
}

static void
only_transactions_that_mark_something_have_a_number(void **state)
{
	struct db_txn *txn;

	turn_on();
	for (int i = 0; i < 5; i++) {
		txn = begin(true);
		put(txn, OTHERS, "a");
		put(txn, META, "q");
		commit(txn);
		txn = begin(true);
		put(txn, ROWS, "aborted");
		db_abort(&txn);
		txn = begin(true);
		db_pause_marks(txn, true);
		put(txn, ROWS, "paused");
		db_pause_marks(txn, false);
		commit(txn);
	}
	txn = begin(true);
	put(txn, ROWS, "a");
	commit(txn);
	assert_string_equal(marks(), "r a 1 0\n");
	/* The number is one of the store. */
	db_close(&db);
	open_db();
	txn = begin(true);
	put(txn, ROWS, "b");
	commit(txn);
	assert_string_equal(marks(), "r a 1 0\nr b 2 0\n");
}

static void
marks_are_those_of_a_list_of_changes(void **state)
{
	enum { KEYS = 60, ROUNDS = 300 };
	unsigned change[KEYS] = { 0 }, was[KEYS], last = 0;
	bool is_there[KEYS] = { false }, was_there[KEYS];
	uint64_t random = check_seed();
	char expected[KEYS * 24] = "", name[8];
	size_t at = 0;

	turn_on();
	for (int round = 0; round < ROUNDS; round++) {
		struct db_txn *txn = begin(true);
		bool changed = false, aborts = check_random(&random) % 4 == 0;

		memcpy(was, change, sizeof(was));
		memcpy(was_there, is_there, sizeof(was_there));
		for (unsigned n = check_random(&random) % 8; n > 0; n--) {
			unsigned key = check_random(&random) % KEYS;
			bool puts = check_random(&random) % 2 == 0;

			snprintf(name, sizeof(name), "k%02u", key);
			if (puts)
				put(txn, ROWS, name);
			else if (is_there[key] !=
				 db_del(txn, ROWS, text_of(name)))
				fail_msg("%s: wrong answer", name);
			if (!puts && !is_there[key])
				continue;
			is_there[key] = puts;
			change[key] = last + 1;
			changed = true;
		}
		if (aborts) {
			db_abort(&txn);
			memcpy(change, was, sizeof(was));
			memcpy(is_there, was_there, sizeof(was_there));
			continue;
		}
		commit(txn);
		last += changed;
	}
	for (unsigned key = 0; key < KEYS; key++)
		if (change[key] != 0)
			at += (size_t)snprintf(expected + at,
			    sizeof(expected) - at, "r k%02u %u 0\n", key,
			    change[key]);
	assert_string_equal(marks(), expected);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(nothing_is_marked_while_it_is_off),
		CASE(every_way_to_change_a_row_marks_it),
		CASE(a_slice_keeps_its_first_row_and_gets_the_last_change),
		CASE(only_transactions_that_mark_something_have_a_number),
		CASE(marks_are_those_of_a_list_of_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
