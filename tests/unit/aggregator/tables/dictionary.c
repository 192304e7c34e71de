/*
 * dictionary - tests of aggregator/tables/dictionary.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/rig.h"
#include "tests/unit/scratch.h"

#include "aggregator/db/damage.h"
#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/lookup.h"
#include "aggregator/tables/tables.h"

static char folder[64];
static struct db *db;
static struct db_txn *txn;
static struct dictionary *dictionary;

static int
set_up(void **state)
{
	struct db_options options = { .map_bytes = 256 << 20 };
	struct err err = { 0 };

	strcpy(folder, "/tmp/poolscope-names-XXXXXX");
	if (mkdtemp(folder) == NULL)
		return -1;
	rig_good(tables_open(&db, folder, &options, &err), &err);
	rig_good(db_begin(db, true, &txn, &err), &err);
	dictionary = dictionary_new(10);
	return 0;
}

static int
tear_down(void **state)
{
	db_abort(&txn);
	db_close(&db);
	dictionary_free(&dictionary);
	return nftw(folder, rig_remove, 8, FTW_DEPTH | FTW_PHYS);
}

static void
numbers_are_given_in_order_and_never_change(void **state)
{
	struct text text;

	assert_int_equal(
	    dictionary_number(dictionary, txn, 1, text_of("a")), 1);
	assert_int_equal(
	    dictionary_number(dictionary, txn, 1, text_of("b")), 2);
	assert_int_equal(
	    dictionary_number(dictionary, txn, 1, text_of("a")), 1);
	assert_int_equal(
	    dictionary_number(dictionary, txn, 2, text_of("b")), 1);
	dictionary_forget(dictionary);
	assert_int_equal(
	    dictionary_number(dictionary, txn, 1, text_of("b")), 2);
	assert_int_equal(dictionary_find(txn, 1, text_of("b")), 2);
	assert_int_equal(dictionary_find(txn, 1, text_of("c")), 0);
	assert_int_equal(dictionary_last(txn, 1), 2);
	assert_true(dictionary_text(txn, 1, 2, &text));
	assert_true(text_equal(text, text_of("b")));
	assert_false(dictionary_text(txn, 1, 3, &text));
	assert_false(dictionary_text(txn, 1, 0, &text));
}

static void
beyond_the_limit_there_is_one_name(void **state)
{
	struct session_id session = { "session of ours" };
	struct text text;
	char name[16];
	uint32_t other;
	int i;

	for (i = 1; i <= 10; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(
		    dictionary_number(dictionary, txn, 1, text_of(name)), i);
	}
	assert_int_equal(
	    dictionary_number(dictionary, txn, 1, text_of("x")), 0);
	other = dictionary_number_or_other(dictionary, txn, 1, text_of("y"));
	assert_int_equal(
	    dictionary_number_or_other(dictionary, txn, 1, text_of("z")),
	    other);
	assert_true(dictionary_text(txn, 1, other, &text));
	assert_true(text_equal(text, text_of(DICTIONARY_OTHER)));
	assert_true(dictionary_over_limit(dictionary) > 0);
	/* Known names stay, and streams do not count. */
	assert_int_equal(
	    dictionary_number(dictionary, txn, 1, text_of("n7")), 7);
	assert_true(dictionary_stream(dictionary, txn, 1, &session) > 10);
	assert_int_equal(
	    dictionary_number(dictionary, txn, 2, text_of("x")), 1);
}

static void
a_sender_has_a_share_of_the_names(void **state)
{
	uint32_t other;

	dictionary_set_sender(dictionary, 1, text_of("greedy"));
	assert_int_equal(
	    dictionary_number(dictionary, txn, 1, text_of("a")), 1);
	assert_int_equal(
	    dictionary_number(dictionary, txn, 1, text_of("b")), 2);
	assert_int_equal(
	    dictionary_number(dictionary, txn, 1, text_of("c")), 0);
	assert_int_equal(dictionary_over_limit(dictionary), 1);
	other = dictionary_number_or_other(dictionary, txn, 1, text_of("d"));
	assert_int_equal(
	    dictionary_number_or_other(dictionary, txn, 1, text_of("e")),
	    other);
	/* In another partition the sender has another share. */
	dictionary_set_sender(dictionary, 2, text_of("greedy"));
	assert_int_equal(
	    dictionary_number(dictionary, txn, 2, text_of("c")), 1);
	/* Other senders have their own share, and known names are free. */
	dictionary_set_sender(dictionary, 1, text_of("modest"));
	assert_true(dictionary_number(dictionary, txn, 1, text_of("c")) > 0);
	dictionary_set_sender(dictionary, 1, text_of("greedy"));
	assert_true(dictionary_number(dictionary, txn, 1, text_of("c")) > 0);
	dictionary_forget(dictionary);
	assert_int_equal(
	    dictionary_number(dictionary, txn, 1, text_of("f")), 0);
	dictionary_set_sender(dictionary, 0, (struct text){ NULL, 0 });
	assert_true(dictionary_number(dictionary, txn, 1, text_of("f")) > 0);
}

static void
partitions_have_a_lower_limit(void **state)
{
	struct dictionary *many = dictionary_new(DICTIONARY_MAX);
	char name[16];
	uint32_t other;

	for (uint32_t i = 1; i <= DICTIONARY_PARTITIONS_MAX; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		assert_int_equal(
		    dictionary_number_or_other(many, txn, 0, text_of(name)), i);
	}
	other = dictionary_number_or_other(many, txn, 0, text_of("x"));
	assert_int_equal(other, DICTIONARY_PARTITIONS_MAX + 1);
	assert_int_equal(
	    dictionary_number_or_other(many, txn, 0, text_of("y")), other);
	assert_int_equal(dictionary_number(many, txn, 0, text_of("p7")), 7);
	assert_int_equal(dictionary_over_limit(many), 2);
	dictionary_free(&many);
}

static void
streams_do_not_count_as_names(void **state)
{
	struct session_id session = { "session of ours" }, back;
	uint32_t number = dictionary_stream(dictionary, txn, 1, &session);
	struct text text;

	assert_true(dictionary_text(txn, 1, number, &text));
	assert_true(dictionary_session(text, &back));
	assert_true(session_equal(&session, &back));
	assert_false(dictionary_session(text_of("session of ours"), &back));
	assert_int_equal(
	    dictionary_stream(dictionary, txn, 1, &session), number);
}

static void
a_node_is_new_once(void **state)
{
	uint32_t number;
	bool fresh;

	dictionary_number(
	    dictionary, txn, 1, text_of("n")); /* known as something else */
	number =
	    dictionary_node(dictionary, txn, 1, text_of("n"), false, &fresh);
	assert_true(fresh);
	assert_int_equal(
	    dictionary_node(dictionary, txn, 1, text_of("n"), false, &fresh),
	    number);
	assert_false(fresh);
	dictionary_forget(dictionary);
	dictionary_node(dictionary, txn, 1, text_of("n"), false, &fresh);
	assert_false(fresh);
}

/* As whoever imports first, and is a node of the pool later. */
static void
a_host_that_imports_is_a_node_when_it_comes_otherwise(void **state)
{
	const struct text n = text_of("n");
	uint32_t number, again = 0;
	bool fresh;

	number = dictionary_node(dictionary, txn, 1, n, true, &fresh);
	assert_false(fresh);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
		    dictionary_node(dictionary, txn, 1, n, true, &fresh),
		    number);
		assert_false(fresh);
		dictionary_forget(dictionary);
	}
	/* It has records, so that it is listed. */
	assert_true(dictionary_next_node(txn, 1, &again));
	assert_int_equal(again, number);
	assert_int_equal(
	    dictionary_node(dictionary, txn, 1, n, false, &fresh), number);
	assert_true(fresh);
	for (int i = 0; i < 2; i++) {
		dictionary_node(dictionary, txn, 1, n, i == 0, &fresh);
		assert_false(fresh);
		dictionary_forget(dictionary);
	}
}

static void
more_names_than_the_cache_holds(void **state)
{
	struct dictionary *many = dictionary_new(DICTIONARY_MAX);
	char name[32];
	int i, round;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < 100000; i++) {
			snprintf(name, sizeof(name), "node-%d", i);
			assert_int_equal(
			    dictionary_number(many, txn, 9, text_of(name)),
			    i + 1);
		}
	}
	dictionary_free(&many);
}

static void
a_damaged_count_gives_no_number_twice(void **state)
{
	/* Key and value of the row of number 0 of partition 1. */
	static const char count[] = "n\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\2";
	struct db_options options = { .map_bytes = 256 << 20 };
	struct err err = { 0 };
	char path[128];

	assert_int_equal(
	    dictionary_number(dictionary, txn, 1, text_of("a")), 1);
	assert_int_equal(
	    dictionary_number(dictionary, txn, 1, text_of("b")), 2);
	assert_int_equal(db_commit(&txn, &err), DB_OK);
	db_close(&db);
	snprintf(path, sizeof(path), "%s/tables/data.mdb", folder);
	assert_int_equal(scratch_flip(path, count, sizeof(count) - 1), 1);
	rig_good(tables_open(&db, folder, &options, &err), &err);
	rig_good(db_begin(db, true, &txn, &err), &err);
	assert_int_equal(
	    dictionary_number(dictionary, txn, 1, text_of("b")), 2);
	dictionary_number(dictionary, txn, 1, text_of("c"));
	assert_int_equal(db_commit(&txn, &err), DB_DAMAGED);
	assert_non_null(strstr(err.text, "damaged"));
}

static void
a_name_whose_row_is_damaged_keeps_its_number(void **state)
{
	static const char row[] = "t\0\0\0\1beta";
	struct db_options options = { .map_bytes = 256 << 20 };
	struct err err = { 0 };
	char path[128];

	dictionary_number(dictionary, txn, 1, text_of("alpha"));
	assert_int_equal(
	    dictionary_number(dictionary, txn, 1, text_of("beta")), 2);
	assert_int_equal(db_commit(&txn, &err), DB_OK);
	db_close(&db);
	snprintf(path, sizeof(path), "%s/tables/data.mdb", folder);
	assert_int_equal(scratch_flip(path, row, sizeof(row) - 1), 1);
	rig_good(tables_open(&db, folder, &options, &err), &err);
	rig_good(db_begin(db, true, &txn, &err), &err);
	dictionary_forget(dictionary);
	/* Looked for, and by a writer that mends the row. */
	assert_int_equal(dictionary_find(txn, 1, text_of("beta")), 2);
	assert_int_equal(dictionary_find(txn, 1, text_of("bet")), 0);
	assert_int_equal(
	    dictionary_number(dictionary, txn, 1, text_of("beta")), 2);
	assert_int_equal(
	    dictionary_number(dictionary, txn, 1, text_of("gamma")), 3);
	assert_int_equal(db_commit(&txn, &err), DB_OK);
	rig_good(db_begin(db, true, &txn, &err), &err);
	assert_int_equal(dictionary_find(txn, 1, text_of("beta")), 2);
	assert_false(db_was_damaged(txn));
}

/* The reader cannot see why: the key may have been damaged, and another row
 * written next to it since. */
static void
a_number_without_a_name_is_damage(void **state)
{
	/* Table of names, partition 1, number 2. */
	static const char row[] = "n\0\0\0\1\0\0\0\2";
	const struct row_block_name lost = { .number = 2 };
	const struct row_block_name known = { .number = 3 };
	struct lookup lookup = { .txn = NULL };
	char room[LOOKUP_KEY_BYTES];

	dictionary_number(dictionary, txn, 1, text_of("alpha"));
	dictionary_number(dictionary, txn, 1, text_of("beta"));
	dictionary_number(dictionary, txn, 1, text_of("gamma"));
	assert_true(
	    db_del(txn, TABLES_NAMES, (struct text){ row, sizeof(row) - 1 }));
	lookup_use(&lookup, txn, 1);
	assert_true(text_equal(lookup_number(&lookup, 3), text_of("gamma")));
	assert_int_equal(lookup_number(&lookup, 0).bytes, 0);
	assert_int_equal(db_damage_met(txn)->ids, 0);
	assert_int_equal(lookup_number(&lookup, 2).bytes, 0);
	assert_int_equal(db_damage_met(txn)->ids, 1);
	assert_true(
	    text_equal(lookup_key(&lookup, &lost, room), text_of("?2")));
	assert_true(
	    text_equal(lookup_key(&lookup, &known, room), text_of("gamma")));
	lookup_clear(&lookup);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(numbers_are_given_in_order_and_never_change),
		CASE(beyond_the_limit_there_is_one_name),
		CASE(a_sender_has_a_share_of_the_names),
		CASE(partitions_have_a_lower_limit),
		CASE(streams_do_not_count_as_names),
		CASE(a_node_is_new_once),
		CASE(a_host_that_imports_is_a_node_when_it_comes_otherwise),
		CASE(more_names_than_the_cache_holds),
		CASE(a_damaged_count_gives_no_number_twice),
		CASE(a_name_whose_row_is_damaged_keeps_its_number),
		CASE(a_number_without_a_name_is_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
