/*
 * exact_sum - sums of any numbers in any order are the same to the last bit.
 *
 * What they are is known from whole numbers of 128 bits, and from sums of which
 * all but one number cancel out.
 * SPDX-License-Identifier: MIT
 */
#include "proto/stats/exact_sum.h"

#include <float.h>
#include <math.h>

#include "tests/unit/check.h"

enum { NUMBERS = 40 };

static void
expect(const struct exact_sum *sum, long double value)
{
	assert_true(exact_sum_get(sum) == value);
}

static void
nothing_is_not_0(void **state)
{
	struct exact_sum sum = { .words = NULL };

	assert_true(isnan(exact_sum_get(&sum)));
	exact_sum_add(&sum, 0, 7);
	expect(&sum, 0);
	exact_sum_add(&sum, 5, 0);
	exact_sum_add(&sum, -0.0, 1);
	expect(&sum, 0);
	exact_sum_add(&sum, 2.5, 3);
	expect(&sum, 7.5L);
	exact_sum_clear(&sum);
	assert_true(isnan(exact_sum_get(&sum)));
}

static void
what_is_not_finite_makes_the_sum_unknown(void **state)
{
	const double values[] = { INFINITY, -INFINITY, NAN };

	for (int i = 0; i < 3; i++) {
		struct exact_sum sum = { .words = NULL };

		exact_sum_add(&sum, values[i], 1);
		exact_sum_add(&sum, 1, 1);
		assert_true(isnan(exact_sum_get(&sum)));
		exact_sum_clear(&sum);
	}
}

/* Valgrind computes long doubles as doubles: there sums are not exact, and
 * nothing else of them is judged by these. */
static void
need_long_doubles(void)
{
	volatile long double one = 1, next = one + LDBL_EPSILON;

	if (next == one)
		skip();
}

static void
the_ends_of_doubles_are_held_at_once(void **state)
{
	const double ends[] = { DBL_MAX, DBL_TRUE_MIN, 1, 0x1p53, 0x1p-12,
		0x1.fffffffffffffp-13, 1e300, 1e-300, 0.1 };
	const int count = sizeof(ends) / sizeof(*ends);

	need_long_doubles();
	for (int left = 0; left < count; left++) {
		struct exact_sum sum = { .words = NULL };

		for (int i = 0; i < count; i++)
			exact_sum_add(&sum, ends[i], UINT64_MAX);
		for (int i = count - 1; i >= 0; i--)
			if (i != left)
				exact_sum_add(&sum, -ends[i], UINT64_MAX);
		exact_sum_add(&sum, -ends[left], UINT64_MAX - 3);
		assert_true((double)(exact_sum_get(&sum) / 3) == ends[left]);
		exact_sum_add(&sum, -ends[left], 7);
		assert_true((double)(exact_sum_get(&sum) / 4) == -ends[left]);
		exact_sum_clear(&sum);
	}
}

/* Of 53 bits x 58 bits at most, so that 40 of them are in 127. */
static void
whole_numbers_add_up_as_whole_numbers(void **state)
{
	uint64_t random = check_seed();

	need_long_doubles();
	for (unsigned round = 0; round < check_share(20000, 500); round++) {
		struct exact_sum sum = { .words = NULL };
		__int128 all = 0;

		for (int i = 0; i < NUMBERS; i++) {
			int64_t value = check_int64(&random) / 1024;
			uint64_t times = check_random(&random) >>
					 (6 + check_random(&random) % 58);

			exact_sum_add(&sum, (double)value, times);
			all += (__int128)value * (__int128)times;
			/* Rounded twice: by one unit in the last place. */
			assert_true(
			    fabsl(exact_sum_get(&sum) - (long double)all) <=
			    fabsl((long double)all) * LDBL_EPSILON);
		}
		exact_sum_clear(&sum);
	}
}

/* Doubles of all sizes, each added at once and in two parts, in two orders. */
static void
neither_order_nor_parts_change_a_bit(void **state)
{
	uint64_t random = check_seed();

	for (unsigned round = 0; round < check_share(5000, 200); round++) {
		struct exact_sum sum = { .words = NULL }, other = sum;
		double values[NUMBERS];
		uint32_t times[NUMBERS];
		int range = 1 + (int)(check_random(&random) % 1000);

		for (int i = 0; i < NUMBERS; i++) {
			values[i] = ldexp((double)check_int64(&random),
			    (int)(check_random(&random) % (unsigned)range) -
				range / 2);
			times[i] = (uint32_t)check_random(&random);
			exact_sum_add(&sum, values[i], times[i]);
		}
		for (int i = NUMBERS - 1; i >= 0; i--) {
			uint32_t part = times[i] / 3;

			exact_sum_add(&other, values[i], part);
			exact_sum_add(&other, values[i], times[i] - part);
		}
		expect(&other, exact_sum_get(&sum));
		for (int i = 0; i < NUMBERS; i++)
			exact_sum_add(&other, -values[i], times[i]);
		expect(&other, 0);
		exact_sum_clear(&sum);
		exact_sum_clear(&other);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_not_0),
		cmocka_unit_test(what_is_not_finite_makes_the_sum_unknown),
		cmocka_unit_test(the_ends_of_doubles_are_held_at_once),
		cmocka_unit_test(whole_numbers_add_up_as_whole_numbers),
		cmocka_unit_test(neither_order_nor_parts_change_a_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
