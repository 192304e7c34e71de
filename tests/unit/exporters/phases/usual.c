/*
 * usual - how long phases usually take, and from when on one takes longer.  By
 * hand.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/phases/usual.h"

#include "proto/os/clock.h"
#include "tests/unit/check.h"

static struct usual_values values;

static void
add(const char *key, unsigned count, int64_t seconds)
{
	for (unsigned i = 0; i < count; i++)
		usual_add(&values, text_of("work:load"), text_of(key),
		    seconds * NS_PER_SECOND);
}

/* What is usual of the key, of the values since the last time. */
static struct usual
find(const char *key)
{
	struct usual usual;

	usual_sort(&values);
	usual = usual_find(&values, text_of("work:load"), text_of(key));
	usual_clear(&values);
	usual_init(&values);
	return usual;
}

static void
the_greatest_of_three_bounds_counts(void **state)
{
	/* 3 x 22 = 66. */
	add("", 11, 22);
	add("", 1, 40);
	assert_int_equal(find("").limit_ns, 66 * NS_PER_SECOND);
	/* One node is always slow: its 99th percentile is more than 66. */
	add("", 11, 22);
	add("", 1, 88);
	assert_int_equal(find("").limit_ns, 88 * NS_PER_SECOND);
	/* 3 x 6 = 18 and 7 are noise. */
	add("", 58, 6);
	add("", 1, 7);
	assert_int_equal(find("").limit_ns, 30 * NS_PER_SECOND);
	add("", 12, 0);
	assert_int_equal(find("").limit_ns, 30 * NS_PER_SECOND);
}

static void
of_few_values_nothing_is_said(void **state)
{
	add("", 11, 22);
	assert_int_equal(find("").count, 0);
	assert_int_equal(find("").count, 0);
}

static void
a_key_with_few_values_is_as_the_phase(void **state)
{
	struct usual usual;

	add("a", 11, 5);
	add("b", 12, 7);
	usual = find("a");
	/* 5 eleven times, 7 twelve times: the 12th of 23. */
	assert_int_equal(usual.count, 23);
	assert_int_equal(usual.median_ns, 7 * NS_PER_SECOND);
	assert_false(usual.is_of_key);
	add("a", 11, 5);
	add("b", 12, 7);
	usual = find("b");
	assert_int_equal(usual.count, 12);
	assert_true(usual.is_of_key);
	/* Nothing is known of "c", nor of another phase. */
	add("a", 6, 5);
	add("b", 6, 7);
	usual = find("c");
	assert_int_equal(usual.count, 12);
	assert_int_equal(usual.median_ns, 5 * NS_PER_SECOND);
	add("a", 12, 5);
	usual_sort(&values);
	assert_int_equal(
	    usual_find(&values, text_of("work:save"), text_of("a")).count, 0);
	usual_clear(&values);
	usual_init(&values);
}

static void
the_greatest_duration_has_no_limit(void **state)
{
	for (int i = 0; i < 12; i++)
		usual_add(
		    &values, text_of("work:load"), text_of(""), INT64_MAX);
	assert_int_equal(find("").limit_ns, INT64_MAX);
}

static void
what_begins_belongs_to_the_start_before_it(void **state)
{
	const struct usual_starts starts = { { 10, 20 }, 2 };
	const struct usual_starts none = { .count = 0 };

	assert_int_equal(usual_start_of(&starts, 9), 0);
	assert_int_equal(usual_start_of(&starts, 10), 1);
	assert_int_equal(usual_start_of(&starts, 19), 1);
	assert_int_equal(usual_start_of(&starts, 20), 2);
	assert_int_equal(usual_start_of(&none, 20), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_greatest_of_three_bounds_counts),
		cmocka_unit_test(of_few_values_nothing_is_said),
		cmocka_unit_test(a_key_with_few_values_is_as_the_phase),
		cmocka_unit_test(the_greatest_duration_has_no_limit),
		cmocka_unit_test(what_begins_belongs_to_the_start_before_it),
	};
	int failed;

	usual_init(&values);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	usual_clear(&values);
	return failed;
}
