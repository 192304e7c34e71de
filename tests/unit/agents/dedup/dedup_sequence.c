/*
 * dedup_sequence - numbered puts are taken once.
 * SPDX-License-Identifier: MIT
 */
#include "agents/dedup/dedup_sequence.h"

#include "tests/unit/check.h"

static struct session_id
session(uint64_t number)
{
	struct session_id id = { { 1 } };

	memcpy(id.bytes + 8, &number, sizeof(number));
	return id;
}

static int
set_up(void **state)
{
	struct dedup_sequence *dedup_sequence;

	dedup_sequence_new(&dedup_sequence);
	*state = dedup_sequence;
	return 0;
}

static int
tear_down(void **state)
{
	struct dedup_sequence *dedup_sequence = *state;

	dedup_sequence_free(&dedup_sequence);
	assert_null(dedup_sequence);
	return 0;
}

static void
a_number_is_taken_once_and_those_before_it_never_again(void **state)
{
	struct dedup_sequence *dedup_sequence = *state;
	struct session_id a = session(1), b = session(2);

	assert_true(dedup_sequence_take(dedup_sequence, 7, &a, 1));
	assert_false(dedup_sequence_take(dedup_sequence, 7, &a, 1));
	assert_true(dedup_sequence_take(dedup_sequence, 7, &b, 1));
	assert_true(dedup_sequence_take(dedup_sequence, 7, &a, 5));
	assert_false(dedup_sequence_take(dedup_sequence, 7, &a, 4));
	assert_true(dedup_sequence_take(dedup_sequence, 7, &b, 2));
}

static void
what_did_not_reach_the_disk_may_come_again(void **state)
{
	struct dedup_sequence *dedup_sequence = *state;
	struct session_id a = session(1);

	assert_true(dedup_sequence_take(dedup_sequence, 7, &a, 1));
	assert_true(dedup_sequence_take(dedup_sequence, 7, &a, 2));
	dedup_sequence_forget(dedup_sequence, 7, &a, 2);
	assert_false(dedup_sequence_take(dedup_sequence, 7, &a, 1));
	assert_true(dedup_sequence_take(dedup_sequence, 7, &a, 2));
	dedup_sequence_forget(
	    dedup_sequence, 7, &a, 1); /* it is not the last one */
	assert_false(dedup_sequence_take(dedup_sequence, 7, &a, 2));
}

static void
a_put_without_session_or_number_is_not_numbered(void **state)
{
	struct session_id none = { { 0 } }, a = session(1);

	assert_false(dedup_sequence_is_numbered(&none, 1));
	assert_false(dedup_sequence_is_numbered(&a, 0));
	assert_true(dedup_sequence_is_numbered(&a, 1));
}

static void
who_goes_on_is_known_among_crowds_that_come_and_go(void **state)
{
	struct dedup_sequence *dedup_sequence = *state;
	struct session_id steady = session(0);

	/* A thousand others between two of its own: far fewer than fit, but
	 * many more in all. */
	for (uint64_t i = 1; i < 300000; i++) {
		struct session_id passing = session(i);

		assert_true(
		    dedup_sequence_take(dedup_sequence, 7, &passing, 1));
		assert_false(
		    dedup_sequence_take(dedup_sequence, 7, &passing, 1));
		if (i % 1000 == 0) {
			assert_true(
			    dedup_sequence_take(dedup_sequence, 7, &steady, i));
			assert_false(
			    dedup_sequence_take(dedup_sequence, 7, &steady, i));
		}
	}
	assert_false(dedup_sequence_take(dedup_sequence, 7, &steady, 299000));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_number_is_taken_once_and_those_before_it_never_again),
		CASE(what_did_not_reach_the_disk_may_come_again),
		CASE(a_put_without_session_or_number_is_not_numbered),
		CASE(who_goes_on_is_known_among_crowds_that_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
