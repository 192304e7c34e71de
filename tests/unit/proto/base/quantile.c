/*
 * quantile - the quantile of values in any order is the one of the sorted ones.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/quantile.h"

#include <math.h>
#include <stdlib.h>

#include "tests/unit/check.h"

enum { VALUES_MAX = 3000, ROUNDS = 300 };

static int
by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Many equal ones, close ones, some of each size and sign, infinite ones. */
static double
pick(uint64_t *random, int kind)
{
	uint64_t bits = check_random(random);
	double value;

	if (kind == 0)
		return (double)(bits % 3);
	if (kind == 1)
		return 1e9 + (double)(bits % 100000) / 1e6;
	if (kind == 2)
		return ((double)(bits % 2001) - 1000) / 7;
	memcpy(&value, &bits, sizeof(value));
	return isnan(value) ? INFINITY : value;
}

static void
a_value_is_selected_as_if_they_were_sorted(void **state)
{
	static const unsigned percents[] = { 1, 10, 50, 90, 99, 100 };
	static double values[VALUES_MAX], sorted[VALUES_MAX];
	uint64_t random = check_seed();

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t count = 1 + check_random(&random) %
					 (round % 2 == 0 ? 12 : VALUES_MAX);

		for (uint64_t i = 0; i < count; i++)
			sorted[i] = values[i] = pick(&random, round % 4);
		qsort(sorted, count, sizeof(*sorted), by_value);
		for (unsigned i = 0; i < 6; i++) {
			/* The least rank that is not below the share. */
			uint64_t rank = (count * percents[i] + 99) / 100;

			assert_true(quantile_select(values, count,
					percents[i]) == sorted[rank - 1]);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_is_selected_as_if_they_were_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
