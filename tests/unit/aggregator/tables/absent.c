/*
 * absent - tests of aggregator/tables/absent.h: hours in their order.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tables/absent.h"

#include <stdlib.h>

#include "aggregator/tables/tables.h"
#include "proto/record/record.h"
#include "tests/unit/aggregator/rig.h"

static char folder[] = "/tmp/poolscope-absent-XXXXXX";
static struct db *db;

static int
set_up(void **state)
{
	struct db_options options = { .temporary = true };
	struct err err = { 0 };

	(void)state;
	if (mkdtemp(folder) == NULL)
		return -1;
	return tables_open(&db, folder, &options, &err);
}

static int
tear_down(void **state)
{
	(void)state;
	db_close(&db);
	return nftw(folder, rig_remove, 8, FTW_DEPTH | FTW_PHYS);
}

static int32_t
next(struct db_txn *txn, struct absent_hour from)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_META);
	int32_t found = absent_next(cursor, &from);

	db_cursor_close(&cursor);
	return found;
}

/* Hours before 1970 come first; other kinds and partitions do not matter. */
static void
hours_are_found_in_their_order(void **state)
{
	static const struct absent_hour hours[] = {
		{ 1, RECORD_EVENT, -5 },
		{ 1, RECORD_EVENT, 0 },
		{ 1, RECORD_EVENT, INT32_MAX - 1 },
		{ 1, RECORD_SAMPLE, 3 },
		{ 2, RECORD_EVENT, -4 },
	};
	struct err err = { 0 };
	struct db_txn *txn;

	(void)state;
	assert_int_equal(db_begin(db, true, &txn, &err), 0);
	for (unsigned i = 0; i < 5; i++)
		absent_put(txn, &hours[i]);
	assert_int_equal(
	    next(txn, (struct absent_hour){ 1, RECORD_EVENT, INT32_MIN }), -5);
	assert_int_equal(
	    next(txn, (struct absent_hour){ 1, RECORD_EVENT, -4 }), 0);
	assert_int_equal(next(txn, (struct absent_hour){ 1, RECORD_EVENT, 1 }),
	    INT32_MAX - 1);
	assert_int_equal(
	    next(txn, (struct absent_hour){ 1, RECORD_SAMPLE, 0 }), 3);
	assert_int_equal(
	    next(txn, (struct absent_hour){ 1, RECORD_SAMPLE, 4 }), INT32_MAX);
	assert_int_equal(
	    next(txn, (struct absent_hour){ 3, RECORD_EVENT, 0 }), INT32_MAX);
	assert_true(absent_has(txn, &hours[1]));
	absent_delete(txn, &hours[1]);
	assert_false(absent_has(txn, &hours[1]));
	assert_int_equal(next(txn, (struct absent_hour){ 1, RECORD_EVENT, -4 }),
	    INT32_MAX - 1);
	assert_int_equal(db_commit(&txn, &err), DB_OK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    hours_are_found_in_their_order, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
