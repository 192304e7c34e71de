/*
 * limits, ranks and verdicts equal what trying all choices gives.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/compare/limits.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/compare/verdict.h"
#include "tests/unit/check.h"

enum { EACH_MAX = 6, BOTH_MAX = 2 * EACH_MAX };

static int
by_size(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void
assert_near(double is, double wanted)
{
	if (!(fabs(is - wanted) <= 1e-9))
		fail_msg("%.17g, not %.17g", is, wanted);
}

static void
draw(uint64_t *random, double *to, uint32_t count, uint32_t different)
{
	for (uint32_t i = 0; i < count; i++)
		to[i] = (double)(check_random(random) % different);
	qsort(to, count, sizeof(*to), by_size);
}

/* Twice the number of pairs in which a chosen one is the greater; equal ones
 * count half. */
static unsigned
pairs_of(const double *all, uint32_t count, unsigned chosen)
{
	unsigned pairs = 0;

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < count; k++)
			if ((chosen >> i & 1) && !(chosen >> k & 1))
				pairs += all[i] > all[k]    ? 2
					 : all[i] == all[k] ? 1
							    : 0;
	return pairs;
}

/* How many of all choices of as many have at most, and at least, these pairs.
 */
static unsigned
count_choices(const double *all, uint32_t count, uint32_t first, unsigned pairs,
    unsigned *below, unsigned *above)
{
	unsigned choices = 0;

	*below = *above = 0;
	for (unsigned chosen = 0; chosen < 1u << count; chosen++) {
		unsigned of;

		if ((uint32_t)__builtin_popcount(chosen) != first)
			continue;
		of = pairs_of(all, count, chosen);
		choices++;
		*below += of <= pairs;
		*above += of >= pairs;
	}
	return choices;
}

static void
likeness_is_the_share_of_all_choices(void **state)
{
	uint64_t random = check_seed();

	for (unsigned round = 0; round < check_share(200, 40); round++) {
		uint32_t first = 1 + check_random(&random) % EACH_MAX,
			 second = 1 + check_random(&random) % EACH_MAX;
		double all[BOTH_MAX], wanted;
		unsigned below, above, choices;

		draw(&random, all, first, 9);
		draw(&random, all + first, second, 9);
		choices = count_choices(all, first + second, first,
		    pairs_of(all, first + second, (1u << first) - 1), &below,
		    &above);
		wanted =
		    fmin(1, 2.0 * (below < above ? below : above) / choices);
		assert_near(
		    ranks_likeness(all, first, all + first, second), wanted);
	}
}

static void
limits_are_differences_by_their_order(void **state)
{
	uint64_t random = check_seed();
	struct ranks_null null = { 0 };

	for (unsigned round = 0; round < check_share(200, 40); round++) {
		uint32_t count[2] = { 1 + check_random(&random) % EACH_MAX,
			1 + check_random(&random) % EACH_MAX };
		uint32_t pairs = count[0] * count[1], at = 0;
		double groups[2][EACH_MAX], all[EACH_MAX * EACH_MAX],
		    ranks[BOTH_MAX], low, high, share = 0.05;
		struct limits_groups of = { groups[0], groups[1], count[0],
			count[1], &null };
		unsigned below = 0, above, choices = 1;

		draw(&random, groups[0], count[0], 1000);
		draw(&random, groups[1], count[1], 1000);
		for (uint32_t i = 0; i < pairs; i++)
			all[i] =
			    groups[1][i % count[1]] - groups[0][i / count[1]];
		qsort(all, pairs, sizeof(*all), by_size);
		for (uint32_t i = 0; i < count[0] + count[1]; i++)
			ranks[i] = i;
		/* Until so far the choices have more than the share. */
		for (;; at++) {
			choices = count_choices(ranks, count[0] + count[1],
			    count[0], 2 * at, &below, &above);
			if (below > share * choices)
				break;
		}
		ranks_null_make(&null, count[0], count[1]);
		assert_int_equal(limits_find(&of, share, &low, &high), at > 0);
		if (at > 0) {
			assert_near(low, all[at - 1]);
			assert_near(high, all[pairs - at]);
		}
		assert_near(limits_estimate(&of),
		    (all[(pairs - 1) / 2] + all[pairs / 2]) / 2);
	}
	ranks_null_clear(&null);
}

/* (old + new) choose new is at least 2,000. */
static void
the_least_numbers_of_runs_are_known(void **state)
{
	static const uint32_t old[][2] = { { 1999, 1 }, { 62, 2 }, { 21, 3 },
		{ 13, 4 }, { 9, 5 }, { 8, 6 }, { 7, 7 } };

	for (int i = 0; i < 7; i++) {
		assert_int_equal(limits_least(old[i][0], 0.0005), old[i][1]);
		assert_true(limits_least(old[i][0] - 1, 0.0005) > old[i][1]);
	}
}

/* 24 choose 12 is 2,704,156, and 22 choose 11 is 705,432.  Of one and another
 * not even a million would do. */
static void
so_many_numbers_need_more_runs(void **state)
{
	enum { NUMBERS = 1001 };
	static double one[] = { 0, 0.1 };
	struct compare_judged *judged = calloc(NUMBERS, sizeof(*judged));

	for (int i = 0; i < NUMBERS; i++)
		judged[i] = (struct compare_judged){ .old = &one[0],
			.new = &one[1],
			.old_count = 1,
			.new_count = 1,
			.gates = true };
	compare_judge(judged, NUMBERS, 0.01);
	assert_int_equal(judged[0].verdict, COMPARE_UNDECIDED);
	assert_int_equal(judged[0].needed, 12);
	free(judged);
}

/* Above 2,500 pairs the normal distribution says no more than the exact one. */
static void
large_groups_say_less_not_more(void **state)
{
	struct ranks_null exact = { 0 }, normal = { 0 };

	ranks_null_make(&exact, 50, 50);
	normal = (struct ranks_null){ .first = 50, .second = 50 };
	for (double share = 0.0001; share < 0.01; share *= 2) {
		uint64_t is = ranks_null_pairs(&normal, share),
			 most = ranks_null_pairs(&exact, share);

		assert_true(is <= most && is + 12 > most);
	}
	ranks_null_clear(&exact);
}

/* ---- verdicts ---- */

enum { RUNS = 8 };

/* Eight old ones of 100 to 107, as many new ones this many times as long. */
static struct compare_judged
judged(double old[RUNS], double new[RUNS], double times, bool gates)
{
	for (int i = 0; i < RUNS; i++) {
		old[i] = log(100 + i);
		new[i] = log((100 + i) * times);
	}
	return (struct compare_judged){ .old = old,
		.new = new,
		.old_count = RUNS,
		.new_count = RUNS,
		.gates = gates };
}

static void
many_that_decide_must_each_be_surer(void **state)
{
	enum { MANY = 7 };
	static double old[MANY][RUNS], new[MANY][RUNS];
	struct compare_judged of[MANY];

	/* All are above all: one of 12,870 choices, a sixth of one of 2,000. */
	of[0] = judged(old[0], new[0], 1.2, true);
	compare_judge(of, 1, 0.01);
	assert_int_equal(of[0].verdict, COMPARE_WORSE);
	for (int i = 1; i < MANY; i++)
		of[i] = judged(old[i], new[i], 1, true);
	compare_judge(of, 6, 0.01);
	assert_int_equal(of[0].verdict, COMPARE_WORSE);
	compare_judge(of, 7, 0.01);
	assert_int_equal(of[0].verdict, COMPARE_UNDECIDED);
	/* When two of 7 were clear, each of 6 would do: neither is. */
	of[1] = judged(old[1], new[1], 1.2, true);
	compare_judge(of, 7, 0.01);
	assert_int_equal(of[1].verdict, COMPARE_UNDECIDED);
	assert_int_equal(compare_of_all(of, 7), COMPARE_UNDECIDED);
	/* What explains does not count. */
	of[6].gates = false;
	compare_judge(of, 7, 0.01);
	assert_int_equal(of[0].verdict, COMPARE_WORSE);
	assert_int_equal(of[1].verdict, COMPARE_WORSE);
	assert_int_equal(of[2].verdict, COMPARE_UNDECIDED);
	assert_int_equal(of[6].verdict, COMPARE_NO_VERDICT);
	assert_near(of[0].wrong, 0.001 / 6);
	assert_near(of[2].wrong, 0.001 / 4);
	assert_int_equal(compare_of_all(of, 7), COMPARE_WORSE);
}

static void
what_explains_has_no_say(void **state)
{
	double old[2][RUNS], new[2][RUNS];
	struct compare_judged of[2] = { judged(old[0], new[0], 1, true),
		judged(old[1], new[1], 1.2, false) };

	compare_judge(of, 2, 0.1);
	assert_int_equal(of[1].verdict, COMPARE_WORSE);
	assert_int_equal(compare_of_all(of, 2), COMPARE_SAME);
}

static void
a_verdict_needs_the_margin(void **state)
{
	double old[RUNS], new[RUNS];
	struct compare_judged of = judged(old, new, 1.2, true);

	/* 120 / 107 = 1.12: one choice of 12,870 is as far, and so are two
	 * pairs less; 121.2 / 107 is 1.13. */
	compare_judge(&of, 1, 0.2);
	assert_int_equal(of.verdict, COMPARE_UNDECIDED);
	of = judged(old, new, 1 / 1.2, true);
	compare_judge(&of, 1, 0.01);
	assert_int_equal(of.verdict, COMPARE_BETTER);
	assert_int_equal(compare_of_all(&of, 1), COMPARE_BETTER);
	of = judged(old, new, 1, true);
	compare_judge(&of, 1, 0.1);
	assert_int_equal(of.verdict, COMPARE_SAME);
	of.new_count = 0;
	compare_judge(&of, 1, 0.1);
	assert_int_equal(of.verdict, COMPARE_UNDECIDED);
}

/* Of 8 and 5 all are above all in one of 1,287 choices, of 9 and 5 in one of
 * 2,002: a limit is beyond none only if it would be with half the share. */
static void
no_change_is_seldom_called_one(void **state)
{
	double old[9], new[5];
	struct compare_judged of = { .old = old,
		.new = new,
		.old_count = 8,
		.new_count = 5,
		.gates = true };

	for (int i = 0; i < 9; i++)
		old[i] = log(100 + i);
	for (int i = 0; i < 5; i++)
		new[i] = log(120 + i);
	compare_judge(&of, 1, 0);
	assert_int_equal(of.verdict, COMPARE_UNDECIDED);
	assert_near(of.low, 1);
	assert_near(of.high, 1.24);
	assert_int_equal(of.needed, 7);
	assert_true(isnan(of.visible));
	of.old_count = 9;
	compare_judge(&of, 1, 0);
	assert_int_equal(of.verdict, COMPARE_WORSE);
	/* Two of 2,002 are less than one of 1,000: the limit is the second. */
	assert_near(of.low, 121 / 108.0);
	/* The other way round. */
	of = (struct compare_judged){ .old = new,
		.new = old,
		.old_count = 5,
		.new_count = 8,
		.gates = true };
	compare_judge(&of, 1, 0);
	assert_int_equal(of.verdict, COMPARE_UNDECIDED);
	assert_near(of.high, 1);
	of.new_count = 9;
	compare_judge(&of, 1, 0);
	assert_int_equal(of.verdict, COMPARE_BETTER);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(likeness_is_the_share_of_all_choices),
		cmocka_unit_test(limits_are_differences_by_their_order),
		cmocka_unit_test(the_least_numbers_of_runs_are_known),
		cmocka_unit_test(so_many_numbers_need_more_runs),
		cmocka_unit_test(large_groups_say_less_not_more),
		cmocka_unit_test(many_that_decide_must_each_be_surer),
		cmocka_unit_test(what_explains_has_no_say),
		cmocka_unit_test(a_verdict_needs_the_margin),
		cmocka_unit_test(no_change_is_seldom_called_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
