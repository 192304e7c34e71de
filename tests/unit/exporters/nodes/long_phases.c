/*
 * long_phases - from when on a phase takes longer than usual.  By hand.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/nodes/long_phases.h"

#include <math.h>

#include "tests/unit/check.h"

static double
limit(double count, double median, double p99)
{
	const struct usual usual = { count, median, p99 };

	return usual_limit(&usual);
}

static void
the_greatest_of_three_bounds_counts(void **state)
{
	(void)state;
	/* 3 x 22 = 66. */
	assert_true(limit(12, 22, 40) == 66);
	/* One node is always slow: its 99th percentile is more than 3 x 22. */
	assert_true(limit(12, 22, 88) == 88);
	/* 3 x 6 = 18 and 7 are noise. */
	assert_true(limit(59, 6, 7) == 30);
	assert_true(limit(59, 10, 30) == 30);
	assert_true(limit(59, 0, 0) == 30);
}

static void
of_few_values_nothing_is_said(void **state)
{
	(void)state;
	assert_true(isnan(limit(11, 22, 40)));
	assert_true(isnan(limit(0, NAN, NAN)));
	assert_true(isnan(limit(NAN, 22, 40)));
	assert_true(isnan(limit(12, NAN, 40)));
	assert_true(isnan(limit(12, 22, NAN)));
}

static void
the_numbers_are_those_of_a_phase(void **state)
{
	double numbers[PHASE_NUMBERS] = { [PHASE_COUNT] = 20,
		[PHASE_P50] = 5,
		[PHASE_P90] = 7,
		[PHASE_P99] = 9 };
	struct usual usual = usual_of(numbers);

	(void)state;
	assert_true(usual.count == 20);
	assert_true(usual.median == 5);
	assert_true(usual.p99 == 9);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_greatest_of_three_bounds_counts),
		cmocka_unit_test(of_few_values_nothing_is_said),
		cmocka_unit_test(the_numbers_are_those_of_a_phase),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
