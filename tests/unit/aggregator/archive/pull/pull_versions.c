/*
 * pull_versions - tests of aggregator/archive/pull/pull_versions.h and
 * pull_sum.h.
 *
 * Positions are epoch << 48 | change; the sums are worked out by hand.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "aggregator/archive/pull/pull_versions.h"

#define AT(epoch, change) ((uint64_t)(epoch) << 48 | (change))

static void
the_newest_of_each_row_is_used(void **state)
{
	static const struct {
		const char *key;
		uint64_t pos;
		enum pull_version wanted;
	} rows[] = {
		{ "a", AT(2, 7), PULL_NEWEST },
		{ "a", AT(2, 7), PULL_OLDER }, /* in both tables */
		{ "a", AT(1, 900), PULL_OLDER },
		{ "ab", AT(1, 5), PULL_NEWEST },
		{ "b", AT(1, 5), PULL_NEWEST },
		{ "b", AT(1, 4), PULL_OLDER },
	};
	struct pull_versions versions = { .pos = 0 };

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(pull_versions_next(&versions,
				     text_of(rows[i].key), rows[i].pos),
		    rows[i].wanted);
	/* a in epoch 2, ab and b in epoch 1: 2 + 1 + 1, 7 + 5 + 5. */
	assert_int_equal(versions.sum.rows, 3);
	assert_int_equal(versions.sum.epochs, 4);
	assert_int_equal(versions.sum.changes, 17);
	pull_versions_clear(&versions);
}

static void
an_answer_out_of_order_is_refused(void **state)
{
	struct pull_versions versions = { .pos = 0 };

	(void)state;
	assert_int_equal(
	    pull_versions_next(&versions, text_of(""), 1), PULL_WRONG);
	assert_int_equal(
	    pull_versions_next(&versions, text_of("b"), 1), PULL_NEWEST);
	assert_int_equal(
	    pull_versions_next(&versions, text_of("a"), 1), PULL_WRONG);
	/* An older version came first. */
	assert_int_equal(
	    pull_versions_next(&versions, text_of("b"), 2), PULL_WRONG);
	assert_int_equal(versions.sum.rows, 1);
	pull_versions_clear(&versions);
}

static void
a_replica_that_lacks_something_has_less(void **state)
{
	static const struct pull_sum whole = { 3, 4, 17 };
	static const struct pull_sum less[] = {
		{ 2, 4, 17 }, /* lacks a row */
		{ 3, 3, 40 }, /* has an old version, of an epoch before */
		{ 3, 4, 16 }, /* or of the same one */
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(less) / sizeof(less[0]); i++) {
		assert_true(pull_sum_compare(&less[i], &whole) < 0);
		assert_true(pull_sum_compare(&whole, &less[i]) > 0);
		assert_false(pull_sum_is_equal(&whole, &less[i]));
	}
	assert_true(pull_sum_is_equal(&whole, &whole));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_of_each_row_is_used),
		cmocka_unit_test(an_answer_out_of_order_is_refused),
		cmocka_unit_test(a_replica_that_lacks_something_has_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
