/*
 * bucket - tests of aggregator/rollup/bucket.h.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rollup/bucket.h"

#include <math.h>

#include "tests/unit/check.h"

#define SECOND INT64_C(1000000000)

static const struct counter_rate_column column; /* of no time */

static struct counter_rate_sample
at(int64_t seconds, uint64_t boot, double value)
{
	return (struct counter_rate_sample){ seconds * SECOND, boot,
		{ VALUE_FLOAT, { .f = value } } };
}

static void
a_gauge_keeps_its_extremes_and_its_mean(void **state)
{
	struct counter_rate_sample samples[] = { at(0, 0, NAN), at(1, 0, 4),
		at(2, 0, -2), at(3, 0, NAN), at(4, 0, 7), at(5, 0, NAN) };
	struct bucket bucket = { 0 };

	for (unsigned i = 0; i < 6; i++)
		bucket_add_gauge(&bucket, &samples[i]);
	assert_int_equal(bucket.count, 3);
	assert_true(bucket.low == -2 && bucket.high == 7);
	assert_true(bucket_mean(&bucket) == 3);
	assert_true(bucket.first.time_ns == SECOND);
	assert_true(bucket.last.time_ns == 4 * SECOND);
}

static void
a_counter_keeps_its_growth_and_extreme_rates(void **state)
{
	struct counter_rate_sample samples[] = { at(0, 1, 10), at(1, 1, 20),
		at(3, 1, 24), at(4, 2, 5), at(5, 2, 6) };
	struct bucket bucket = { 0 };

	bucket_add_counter(&bucket, &column, &samples[0]);
	assert_true(isnan(bucket.low) && isnan(bucket.high));
	for (unsigned i = 1; i < 5; i++)
		bucket_add_counter(&bucket, &column, &samples[i]);
	assert_int_equal(bucket.count, 5);
	assert_true(bucket.sum == 10 + 4 + 5 + 1);
	assert_true(bucket.seconds == 1 + 2 + 1);
	assert_true(bucket.low == 1 && bucket.high == 10);
	assert_true(bucket.first.boot == 1 && bucket.last.boot == 2);
}

static void
an_empty_bucket_has_nothing(void **state)
{
	struct bucket bucket = { 0 }, none = { 0 };

	assert_true(isnan(bucket_mean(&bucket)));
	bucket_join(&bucket, NULL, &none);
	assert_int_equal(bucket.count, 0);
}

static void
assert_same(const struct bucket *a, const struct bucket *b)
{
	assert_int_equal(a->count, b->count);
	if (a->count == 0)
		return;
	assert_true(a->first.time_ns == b->first.time_ns);
	assert_true(a->last.time_ns == b->last.time_ns);
	assert_true(a->low == b->low || (isnan(a->low) && isnan(b->low)));
	assert_true(a->high == b->high || (isnan(a->high) && isnan(b->high)));
	assert_true(a->sum == b->sum && a->seconds == b->seconds);
}

/* Integers and whole seconds, so that sums are exact in any order. */
static void
joined_buckets_equal_a_wide_one(void **state)
{
	uint64_t random = check_seed();

	for (unsigned round = 0; round < 2000; round++) {
		struct bucket wide = { 0 }, joined = { 0 }, narrow = { 0 };
		struct counter_rate_sample sample;
		bool counter = round % 2;

		for (unsigned i = 0; i < 40; i++) {
			sample = at(i, check_random(&random) % 9 / 8,
			    check_random(&random) % 7
				? (double)(check_random(&random) % 1000)
				: NAN);
			if (check_random(&random) % 5 == 0) {
				bucket_join(
				    &joined, counter ? &column : NULL, &narrow);
				narrow = (struct bucket){ 0 };
			}
			if (counter) {
				bucket_add_counter(&wide, &column, &sample);
				bucket_add_counter(&narrow, &column, &sample);
			} else {
				bucket_add_gauge(&wide, &sample);
				bucket_add_gauge(&narrow, &sample);
			}
		}
		bucket_join(&joined, counter ? &column : NULL, &narrow);
		assert_same(&wide, &joined);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gauge_keeps_its_extremes_and_its_mean),
		cmocka_unit_test(a_counter_keeps_its_growth_and_extreme_rates),
		cmocka_unit_test(an_empty_bucket_has_nothing),
		cmocka_unit_test(joined_buckets_equal_a_wide_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
