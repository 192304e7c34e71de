/*
 * robust - medians, spreads and bounds against scipy 1.17.1 and numpy 2.4.6.
 *
 * The numbers are what these printed for the values below:
 *
 *	numpy.median(x)
 *	scipy.stats.median_abs_deviation(x) * 1.4826
 *	numpy.median(x[x > m] - m) * 1.4826
 *	numpy.quantile(x, .75) + 1.5 * scipy.stats.iqr(x)
 *	scipy.stats.binom.sf(k - 1, n, p), scipy.stats.poisson_binom.sf(k - 1,
 *p)
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/robust.h"

#include <math.h>

#include "exporters/stragglers/chronic.h"
#include "exporters/stragglers/who.h"
#include "proto/base/sort.h"
#include "tests/unit/check.h"

enum { VALUES = 10 };

static void
equal(double got, double wanted)
{
	if (!(fabs(got - wanted) <= 1e-9 * fabs(wanted)))
		fail_msg("%.17g is not %.17g", got, wanted);
}

static void
of_values(uint32_t count, const double *wanted)
{
	double x[VALUES] = { 23, 77, 20, 31, 22.25, 21.5, 25.5, 40, 24, 22 };

	sort_doubles(x, VALUES);
	equal(x[0], 20);
	equal(x[VALUES - 1], 77);
	equal(robust_median(x, count), wanted[0]);
	equal(robust_spread(x, count), wanted[1]);
	equal(robust_upper_spread(x, count), wanted[2]);
	equal(robust_tukey(x, count), wanted[3]);
	equal(robust_quantile(x, count, 0.25), wanted[4]);
}

static void
an_even_number_of_values(void **state)
{
	of_values(
	    10, (const double[]){ 23.5, 2.9652, 11.1195, 40.96875, 22.0625 });
}

static void
an_odd_number_of_values(void **state)
{
	of_values(9, (const double[]){ 23, 2.2239, 7.78365, 30.75, 22 });
}

static void
equal_values_have_no_spread(void **state)
{
	double x[] = { 3, 3, 3 };

	equal(robust_spread(x, 3) + 1, 1);
	equal(robust_upper_spread(x, 3) + 1, 1);
	equal(robust_upper_spread(x, 1) + 1, 1);
	equal(robust_tukey(x, 1), 3);
}

static void
tails(void **state)
{
	const double equal_ones[30] = { 0.01, 0.01, 0.01, 0.01, 0.01, 0.01,
		0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01,
		0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01,
		0.01, 0.01, 0.01, 0.01 };
	const double others[] = { 0.1, 0.02, 0.3, 0.05, 0.5 };

	equal(chronic_tail(equal_ones, 30, 5), 1.1567574525494199e-05);
	equal(chronic_tail(others, 4, 2), 0.05409);
	equal(chronic_tail(others, 5, 3), 0.02825);
	equal(chronic_tail(others, 5, 0), 1);
	equal(chronic_tail(others, 0, 0), 1);
	equal(1 + chronic_tail(others, 0, 1), 1);
}

/* ---- who ---- */

static bool
is_long(double seconds, uint32_t count)
{
	const struct straggler_bounds bounds = STRAGGLER_BOUNDS;
	double others[60];
	struct who_usual usual;

	/* The median is 100, the upper spread 1.4826 ln(1.02). */
	for (uint32_t i = 0; i < count; i++)
		others[i] = i % 2 == 0 ? 100.0 / 1.02 : 102;
	others[0] = 100;
	usual = who_usual_of(others, count);
	return who_is_long(&usual, seconds, &bounds);
}

static void
too_long_is_by_all_three(void **state)
{
	const struct straggler_bounds bounds = STRAGGLER_BOUNDS;
	struct who_usual usual = { log(100), 0.05, 20 };

	assert_false(who_is_long(&usual, 139, &bounds)); /* not 1.4 times */
	assert_true(who_is_long(&usual, 141, &bounds));
	usual.spread_ln = 0.1; /* exp(0.5) = 1.649 */
	assert_false(who_is_long(&usual, 164, &bounds));
	assert_true(who_is_long(&usual, 166, &bounds));
	usual = (struct who_usual){ log(10), 0.05, 20 };
	assert_false(who_is_long(&usual, 17.9, &bounds)); /* not 8 s */
	assert_true(who_is_long(&usual, 18.1, &bounds));
	usual.count = 0;
	assert_false(who_is_long(&usual, 1000, &bounds));
	assert_true(is_long(150, 13));
	assert_false(is_long(150, 11)); /* fewer than 12 */
}

static void
the_spread_is_three_per_cent_at_least(void **state)
{
	double equal_ones[12];
	struct who_usual usual;

	for (int i = 0; i < 12; i++)
		equal_ones[i] = 50;
	usual = who_usual_of(equal_ones, 12);
	equal(usual.spread_ln, 0.03);
	equal(usual.median_ln, log(50));
}

/* ---- chronic ---- */

enum { NODES = 60, STARTS = 30, MONTHS = 400 };

/* 24,000 node-months in which each node is slow by chance in one start of 200,
 * and in some starts one node of ten is: none is to be drained, or two at most
 * (1 in 10,000).  A node that is slow in every fourth start is. */
static void
drained(bool one_is_slow, uint32_t *right, uint32_t *wrong)
{
	static unsigned char was[NODES * STARTS];
	uint64_t seed = 20261130;

	*right = *wrong = 0;
	for (int month = 0; month < MONTHS; month++) {
		struct chronic_node nodes[NODES] = { { .starts = 0 } };

		for (int s = 0; s < STARTS; s++) {
			uint64_t most = month % 2 == 0 && s % 10 == 3 ? 20 : 1;

			for (int i = 0; i < NODES; i++) {
				bool slow = check_random(&seed) % 200 < most;

				if (one_is_slow && i == 7)
					slow = check_random(&seed) % 4 == 0;
				was[i * STARTS + s] =
				    check_random(&seed) % 20 == 0
					? CHRONIC_ABSENT
				    : slow ? CHRONIC_SLOW
					   : CHRONIC_WELL;
			}
		}
		chronic_judge(nodes, NODES, was, STARTS);
		for (int i = 0; i < NODES; i++) {
			bool is_slow = one_is_slow && i == 7;

			*right += nodes[i].is_chronic && is_slow;
			*wrong += nodes[i].is_chronic && !is_slow;
		}
	}
}

static void
hardly_a_node_is_drained_by_chance(void **state)
{
	uint32_t right, wrong;

	drained(false, &right, &wrong);
	printf(
	    "drained by chance: %u of %d node-months\n", wrong, NODES * MONTHS);
	assert_true(wrong <= 2);
}

static void
one_that_is_slow_every_fourth_time_is(void **state)
{
	uint32_t right, wrong;

	drained(true, &right, &wrong);
	printf("drained rightly: %u of %d\n", right, MONTHS);
	assert_true(wrong <= 2);
	assert_true(right >= MONTHS * 8 / 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_even_number_of_values),
		cmocka_unit_test(an_odd_number_of_values),
		cmocka_unit_test(equal_values_have_no_spread),
		cmocka_unit_test(tails),
		cmocka_unit_test(too_long_is_by_all_three),
		cmocka_unit_test(the_spread_is_three_per_cent_at_least),
		cmocka_unit_test(hardly_a_node_is_drained_by_chance),
		cmocka_unit_test(one_that_is_slow_every_fourth_time_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
