/*
 * dictionary - tests of aggregator/tables/dictionary.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/rig.h"
#include "tests/unit/scratch.h"

#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/tables.h"

static char folder[64];
static struct db *db;
static struct db_txn *txn;
static struct names *names;

static int
set_up(void **state)
{
	struct db_options options = { .map_bytes = 256 << 20 };
	struct err err = { "" };

	(void)state;
	strcpy(folder, "/tmp/poolscope-names-XXXXXX");
	if (mkdtemp(folder) == NULL)
		return -1;
	rig_good(tables_open(&db, folder, &options, &err), &err);
	rig_good(db_begin(db, true, &txn, &err), &err);
	names = names_new(10);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	db_abort(&txn);
	db_close(&db);
	names_free(&names);
	return nftw(folder, rig_remove, 8, FTW_DEPTH | FTW_PHYS);
}

static void
numbers_are_given_in_order_and_kept(void **state)
{
	struct text text;

	(void)state;
	assert_int_equal(names_number(names, txn, 1, text_of("a")), 1);
	assert_int_equal(names_number(names, txn, 1, text_of("b")), 2);
	assert_int_equal(names_number(names, txn, 1, text_of("a")), 1);
	assert_int_equal(names_number(names, txn, 2, text_of("b")), 1);
	names_forget(names);
	assert_int_equal(names_number(names, txn, 1, text_of("b")), 2);
	assert_int_equal(names_find(txn, 1, text_of("b")), 2);
	assert_int_equal(names_find(txn, 1, text_of("c")), 0);
	assert_int_equal(names_last(txn, 1), 2);
	assert_true(names_text(txn, 1, 2, &text));
	assert_true(text_equal(text, text_of("b")));
	assert_false(names_text(txn, 1, 3, &text));
	assert_false(names_text(txn, 1, 0, &text));
}

static void
beyond_the_limit_there_is_one_name(void **state)
{
	struct session_id session = { "session of ours" };
	struct text text;
	char name[16];
	uint32_t other;
	int i;

	(void)state;
	for (i = 1; i <= 10; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(names_number(names, txn, 1, text_of(name)), i);
	}
	assert_int_equal(names_number(names, txn, 1, text_of("x")), 0);
	other = names_number_or_other(names, txn, 1, text_of("y"));
	assert_int_equal(
	    names_number_or_other(names, txn, 1, text_of("z")), other);
	assert_true(names_text(txn, 1, other, &text));
	assert_true(text_equal(text, text_of(NAMES_OTHER)));
	assert_true(names_over(names) > 0);
	/* Those that are there stay, and streams do not count. */
	assert_int_equal(names_number(names, txn, 1, text_of("n7")), 7);
	assert_true(names_stream(names, txn, 1, &session) > 10);
	assert_int_equal(names_number(names, txn, 2, text_of("x")), 1);
}

static void
a_sender_has_a_share_of_the_names(void **state)
{
	uint32_t other;

	(void)state;
	names_sender(names, 1, text_of("greedy"));
	assert_int_equal(names_number(names, txn, 1, text_of("a")), 1);
	assert_int_equal(names_number(names, txn, 1, text_of("b")), 2);
	assert_int_equal(names_number(names, txn, 1, text_of("c")), 0);
	assert_int_equal(names_over(names), 1);
	other = names_number_or_other(names, txn, 1, text_of("d"));
	assert_int_equal(
	    names_number_or_other(names, txn, 1, text_of("e")), other);
	/* In another partition it has another share. */
	names_sender(names, 2, text_of("greedy"));
	assert_int_equal(names_number(names, txn, 2, text_of("c")), 1);
	/* Others have theirs, and what is there is free. */
	names_sender(names, 1, text_of("modest"));
	assert_true(names_number(names, txn, 1, text_of("c")) > 0);
	names_sender(names, 1, text_of("greedy"));
	assert_true(names_number(names, txn, 1, text_of("c")) > 0);
	names_forget(names);
	assert_int_equal(names_number(names, txn, 1, text_of("f")), 0);
	names_sender(names, 0, (struct text){ NULL, 0 });
	assert_true(names_number(names, txn, 1, text_of("f")) > 0);
}

static void
partitions_are_fewer(void **state)
{
	struct names *many = names_new(NAMES_MAX);
	char name[16];
	uint32_t other;

	(void)state;
	for (uint32_t i = 1; i <= NAMES_PARTITIONS_MAX; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		assert_int_equal(
		    names_number_or_other(many, txn, 0, text_of(name)), i);
	}
	other = names_number_or_other(many, txn, 0, text_of("x"));
	assert_int_equal(other, NAMES_PARTITIONS_MAX + 1);
	assert_int_equal(
	    names_number_or_other(many, txn, 0, text_of("y")), other);
	assert_int_equal(names_number(many, txn, 0, text_of("p7")), 7);
	assert_int_equal(names_over(many), 2);
	names_free(&many);
}

static void
a_stream_is_no_name(void **state)
{
	struct session_id session = { "session of ours" }, back;
	uint32_t number = names_stream(names, txn, 1, &session);
	struct text text;

	(void)state;
	assert_true(names_text(txn, 1, number, &text));
	assert_true(names_session(text, &back));
	assert_true(session_equal(&session, &back));
	assert_false(names_session(text_of("session of ours"), &back));
	assert_int_equal(names_stream(names, txn, 1, &session), number);
}

static void
a_node_is_fresh_once(void **state)
{
	uint32_t number;
	bool fresh;

	(void)state;
	names_number(names, txn, 1, text_of("n")); /* seen as something else */
	number = names_node(names, txn, 1, text_of("n"), &fresh);
	assert_true(fresh);
	assert_int_equal(
	    names_node(names, txn, 1, text_of("n"), &fresh), number);
	assert_false(fresh);
	names_forget(names);
	names_node(names, txn, 1, text_of("n"), &fresh);
	assert_false(fresh);
}

static void
more_names_than_the_cache_holds(void **state)
{
	struct names *many = names_new(NAMES_MAX);
	char name[32];
	int i, round;

	(void)state;
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 100000; i++) {
			snprintf(name, sizeof(name), "node-%d", i);
			assert_int_equal(
			    names_number(many, txn, 9, text_of(name)), i + 1);
		}
	}
	names_free(&many);
}

static void
a_damaged_count_gives_no_number_twice(void **state)
{
	/* Key and value of the row of number 0 of partition 1. */
	static const char count[] = "n\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\2";
	struct db_options options = { .map_bytes = 256 << 20 };
	struct err err = { "" };
	char path[128];

	(void)state;
	assert_int_equal(names_number(names, txn, 1, text_of("a")), 1);
	assert_int_equal(names_number(names, txn, 1, text_of("b")), 2);
	assert_int_equal(db_commit(&txn, &err), DB_OK);
	db_close(&db);
	snprintf(path, sizeof(path), "%s/tables/data.mdb", folder);
	assert_int_equal(scratch_flip(path, count, sizeof(count) - 1), 1);
	rig_good(tables_open(&db, folder, &options, &err), &err);
	rig_good(db_begin(db, true, &txn, &err), &err);
	assert_int_equal(names_number(names, txn, 1, text_of("b")), 2);
	names_number(names, txn, 1, text_of("c"));
	assert_int_equal(db_commit(&txn, &err), DB_BROKEN);
	assert_non_null(strstr(err.text, "damaged"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(numbers_are_given_in_order_and_kept),
		CASE(beyond_the_limit_there_is_one_name),
		CASE(a_sender_has_a_share_of_the_names),
		CASE(partitions_are_fewer),
		CASE(a_stream_is_no_name),
		CASE(a_node_is_fresh_once),
		CASE(more_names_than_the_cache_holds),
		CASE(a_damaged_count_gives_no_number_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
