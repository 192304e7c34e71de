/*
 * absent - tests of aggregator/tables/absent.h: hours in their order.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tables/absent.h"

#include <stdlib.h>
#include <string.h>

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
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
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
		absent_put(txn, &hours[i], ABSENT_ALL);
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
	assert_int_equal(absent_get(txn, &hours[1]), ABSENT_ALL);
	absent_put(txn, &hours[1], ABSENT_NOT);
	assert_int_equal(absent_get(txn, &hours[1]), ABSENT_NOT);
	assert_int_equal(next(txn, (struct absent_hour){ 1, RECORD_EVENT, -4 }),
	    INT32_MAX - 1);
	assert_int_equal(db_commit(&txn, &err), DB_OK);
}

/* Of an hour that is absent some nodes are here; those of the hours before and
 * after, and of other kinds, are others. */
static void
nodes_of_an_hour_are_here(void **state)
{
	const struct absent_hour hour = { 1, RECORD_SAMPLE, 7 };
	const struct absent_hour others[] = { { 1, RECORD_SAMPLE, 6 },
		{ 1, RECORD_SAMPLE, 8 }, { 1, RECORD_EVENT, 7 },
		{ 2, RECORD_SAMPLE, 7 } };
	struct err err = { 0 };
	struct db_txn *txn;

	(void)state;
	assert_int_equal(db_begin(db, true, &txn, &err), 0);
	absent_put(txn, &hour, ABSENT_ROLLED_UP);
	absent_put_node(txn, &hour, 3);
	absent_put_node(txn, &hour, UINT32_MAX);
	for (unsigned i = 0; i < 4; i++)
		absent_put_node(txn, &others[i], 3);
	assert_int_equal(absent_get(txn, &hour), ABSENT_ROLLED_UP);
	assert_true(absent_has_node(txn, &hour, 3));
	assert_true(absent_has_node(txn, &hour, UINT32_MAX));
	assert_false(absent_has_node(txn, &hour, 4));
	absent_forget_nodes(txn, &hour);
	assert_false(absent_has_node(txn, &hour, 3));
	assert_false(absent_has_node(txn, &hour, UINT32_MAX));
	for (unsigned i = 0; i < 4; i++)
		assert_true(absent_has_node(txn, &others[i], 3));
	assert_int_equal(absent_get(txn, &hour), ABSENT_ROLLED_UP);
	db_abort(&txn);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    nodes_of_an_hour_are_here, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    hours_are_found_in_their_order, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
