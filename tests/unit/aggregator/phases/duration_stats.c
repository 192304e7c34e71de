/*
 * duration_stats - tests of aggregator/phases/duration_stats.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <math.h>

#include "aggregator/phases/duration_stats.h"

enum { VALUES = 2000 };

static struct duration_stats *
fresh(void)
{
	struct duration_stats *stats = malloc(sizeof(*stats));

	assert_non_null(stats);
	duration_stats_init(stats);
	return stats;
}

static void
assert_near(double got, long double want)
{
	if (fabsl(got - want) > 1e-14L * fabsl(want))
		fail_msg("%.17g is not %.17Lg", got, want);
}

static void
mean_and_deviation_are_those_of_two_passes(void **state)
{
	static int64_t values[VALUES];
	uint64_t random = check_seed();
	struct duration_stats *stats = fresh();
	int round, i;

	for (round = 0; round < 50; round++) {
		/* A small spread around a large value, where running sums of
		 * floating point fail. */
		int64_t base = check_int64(&random) / 4;
		unsigned n =
		    2 + (unsigned)(check_random(&random) % (VALUES - 2));
		__int128 sum = 0;
		long double mean, squares = 0;

		duration_stats_reset(stats);
		for (i = 0; i < (int)n; i++) {
			values[i] =
			    base + (int64_t)(check_random(&random) % 1000000);
			duration_stats_add(stats, values[i]);
			sum += values[i] - base;
		}
		mean = (long double)sum / n;
		for (i = 0; i < (int)n; i++) {
			long double d = values[i] - base - mean;

			squares += d * d;
		}
		assert_near(duration_sums_mean(&stats->sums), mean + base);
		assert_near(duration_sums_deviation(&stats->sums, false),
		    sqrtl(squares / n));
		assert_near(duration_sums_deviation(&stats->sums, true),
		    sqrtl(squares / (n - 1)));
	}
	free(stats);
}

static void
the_largest_durations_do_not_overflow(void **state)
{
	struct duration_stats *stats = fresh();
	int i;

	for (i = 0; i < 1000; i++) {
		duration_stats_add(stats, INT64_MIN);
		duration_stats_add(stats, INT64_MAX);
	}
	assert_near(duration_sums_mean(&stats->sums), -0.5L);
	assert_near(
	    duration_sums_deviation(&stats->sums, false), 0x1p63L - 0.5L);
	assert_true(stats->min == INT64_MIN && stats->max == INT64_MAX);
	free(stats);
}

static void
few_durations_have_no_deviation(void **state)
{
	struct duration_stats *stats = fresh();

	assert_int_equal(stats->sums.count, 0);
	assert_true(duration_sums_mean(&stats->sums) == 0);
	assert_true(duration_sums_deviation(&stats->sums, true) == 0);
	assert_true(duration_stats_quantile(stats, 50) == 0);
	duration_stats_add(stats, -7);
	assert_true(duration_sums_mean(&stats->sums) == -7);
	assert_true(duration_sums_deviation(&stats->sums, false) == 0);
	assert_true(duration_sums_deviation(&stats->sums, true) == 0);
	assert_true(duration_stats_quantile(stats, 90) == -7);
	free(stats);
}

/* numpy.percentile([1, 2, 3, 4, 10], q, method="inverted_cdf") */
static void
a_quantile_is_the_nearest_rank(void **state)
{
	static const int64_t values[] = { 10, 1, 4, 2, 3 };
	static const struct {
		unsigned percent;
		double value;
	} wanted[] = { { 1, 1 }, { 20, 1 }, { 21, 2 }, { 50, 3 }, { 80, 4 },
		{ 81, 10 }, { 90, 10 }, { 99, 10 }, { 100, 10 } };
	struct duration_stats *stats = fresh();

	for (size_t i = 0; i < 5; i++)
		duration_stats_add(stats, values[i]);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		double got = duration_stats_quantile(stats, wanted[i].percent);

		assert_true(got > 0.99 * wanted[i].value &&
			    got < 1.01 * wanted[i].value);
		/* The ends are exact. */
		if (wanted[i].value == 1 || wanted[i].value == 10)
			assert_true(got == wanted[i].value);
	}
	free(stats);
}

static void
removing_undoes_adding(void **state)
{
	static int64_t values[VALUES];
	uint64_t random = check_seed();
	struct duration_stats *a = fresh(), *b = fresh();
	int i;

	for (i = 0; i < VALUES; i++) {
		values[i] = check_int64(&random);
		duration_stats_add(a, values[i]);
	}
	for (i = 0; i < VALUES; i++) {
		if (i % 3 == 0)
			assert_true(duration_stats_remove(a, values[i]));
		else
			duration_stats_add(b, values[i]);
	}
	/* The extremes are exact again after the caller has found them. */
	assert_true(!a->loose || a->min <= b->min || a->max >= b->max);
	a->min = b->min;
	a->max = b->max;
	assert_true(duration_stats_equal(a, b));
	for (i = 0; i < VALUES; i++) {
		if (i % 3 != 0)
			assert_true(duration_stats_remove(a, values[i]));
	}
	assert_int_equal(a->sums.count, 0);
	assert_false(a->loose);
	assert_true(a->sums.sum == 0);
	free(a);
	free(b);
}

static void
merge(struct duration_stats *to, const struct duration_stats *from)
{
	struct buffer bytes = { NULL, 0, 0 };
	struct varint_reader u;

	duration_stats_encode(from, &bytes);
	u = varint_reader_of(buffer_text(&bytes));
	duration_stats_decode(to, &u);
	assert_false(u.bad);
	buffer_clear(&bytes);
}

static void
parts_merge_to_the_whole(void **state)
{
	uint64_t random = check_seed();
	struct duration_stats *all = fresh(), *one = fresh(), *two = fresh();
	struct duration_stats *both = fresh();
	int i;

	for (i = 0; i < VALUES; i++) {
		int64_t value = check_int64(&random);

		duration_stats_add(all, value);
		duration_stats_add(i % 5 ? one : two, value);
	}
	one->open_ends = all->open_ends = 3;
	two->open_starts = all->open_starts = 4;
	merge(both, two);
	merge(both, one);
	assert_true(duration_stats_equal(all, both));
	free(all);
	free(one);
	free(two);
	free(both);
}

static void
encoded_statistics_decode_to_themselves(void **state)
{
	uint64_t random = check_seed();
	struct duration_stats *a = fresh(), *b = fresh();
	struct buffer bytes = { NULL, 0, 0 };
	struct varint_reader u;
	int i;

	for (i = 0; i < 20; i++) {
		a->open_starts += i / 2;
		a->open_ends = (uint64_t)i;
		if (i > 0)
			duration_stats_add(a, check_int64(&random));
		bytes.bytes = 0;
		duration_stats_encode(a, &bytes);
		duration_stats_reset(b);
		u = varint_reader_of(buffer_text(&bytes));
		duration_stats_decode(b, &u);
		assert_false(u.bad);
		assert_true(u.at == u.end);
		assert_true(duration_stats_equal(a, b));
	}
	buffer_clear(&bytes);
	free(a);
	free(b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mean_and_deviation_are_those_of_two_passes),
		cmocka_unit_test(the_largest_durations_do_not_overflow),
		cmocka_unit_test(few_durations_have_no_deviation),
		cmocka_unit_test(a_quantile_is_the_nearest_rank),
		cmocka_unit_test(removing_undoes_adding),
		cmocka_unit_test(parts_merge_to_the_whole),
		cmocka_unit_test(encoded_statistics_decode_to_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
