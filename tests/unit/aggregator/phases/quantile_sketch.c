/*
 * quantile_sketch - tests of aggregator/phases/quantile_sketch.h against exact
 * quantiles.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <math.h>

#include "aggregator/phases/quantile_sketch.h"

enum { VALUES = 5000 };

static struct quantile_sketch *
fresh(void)
{
	struct quantile_sketch *quantile_sketch =
	    malloc(sizeof(*quantile_sketch));

	assert_non_null(quantile_sketch);
	quantile_sketch_init(quantile_sketch);
	return quantile_sketch;
}

static int
by_value(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Values of each kind: all sizes, narrow, with zeros, negative. */
static int64_t
pick(uint64_t *random, int shape)
{
	uint64_t r = check_random(random);

	switch (shape) {
	case 0: return (int64_t)(r >> (check_random(random) & 63) >> 1);
	case 1: return (int64_t)(1000000000 + r % 1000000);
	case 2: return (int64_t)(r % 10) - 3;
	default: return check_int64(random);
	}
}

static void
assert_within(double got, int64_t exact)
{
	double bound = fabs((double)exact) * 0.01 * (1 + 1e-9);

	if (fabs(got - (double)exact) > bound)
		fail_msg("%.17g for %lld", got, (long long)exact);
}

static void
every_quantile_is_within_one_percent(void **state)
{
	static int64_t values[VALUES];
	uint64_t random = check_seed();
	struct quantile_sketch *quantile_sketch = fresh();
	int shape, i;

	for (shape = 0; shape < 4; shape++) {
		quantile_sketch_reset(quantile_sketch);
		for (i = 0; i < VALUES; i++) {
			values[i] = pick(&random, shape);
			quantile_sketch_add(quantile_sketch, values[i]);
		}
		qsort(values, VALUES, sizeof(*values), by_value);
		/* VALUES is a multiple of 100: VALUES / 100 of them are a
		 * percent. */
		for (i = 1; i <= 100; i++)
			assert_within(quantile_sketch_quantile(
					  quantile_sketch, (unsigned)i),
			    values[VALUES / 100 * i - 1]);
	}
	free(quantile_sketch);
}

static void
the_ends_of_int64_have_their_buckets(void **state)
{
	static const int64_t ends[] = { INT64_MIN, INT64_MIN + 1, -1, 0, 1, 2,
		INT64_MAX - 1, INT64_MAX };
	struct quantile_sketch *quantile_sketch = fresh();
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		quantile_sketch_reset(quantile_sketch);
		quantile_sketch_add(quantile_sketch, ends[i]);
		assert_within(
		    quantile_sketch_quantile(quantile_sketch, 50), ends[i]);
		assert_true(quantile_sketch_remove(quantile_sketch, ends[i]));
		assert_false(quantile_sketch_remove(quantile_sketch, ends[i]));
	}
	free(quantile_sketch);
}

static void
buckets_are_in_the_order_of_values(void **state)
{
	uint64_t random = check_seed();
	int i;

	for (i = 0; i < 100000; i++) {
		int64_t a = check_int64(&random), b = check_int64(&random);

		if (a > b) {
			int64_t swap = a;

			a = b;
			b = swap;
		}
		assert_true(
		    quantile_sketch_bucket(a) <= quantile_sketch_bucket(b));
	}
}

static void
merge(struct quantile_sketch *to, const struct quantile_sketch *from)
{
	struct buffer bytes = { NULL, 0, 0 };
	struct varint_reader u;

	quantile_sketch_encode(from, &bytes);
	u = varint_reader_of(buffer_text(&bytes));
	quantile_sketch_decode(to, &u);
	assert_false(u.bad);
	buffer_clear(&bytes);
}

static void
merging_in_any_order_gives_the_same(void **state)
{
	uint64_t random = check_seed();
	struct quantile_sketch *all = fresh(), *part[5], *merged = fresh();
	int i;

	for (i = 0; i < 5; i++)
		part[i] = fresh();
	for (i = 0; i < VALUES; i++) {
		int64_t value = check_int64(&random);

		quantile_sketch_add(all, value);
		quantile_sketch_add(part[check_random(&random) % 5], value);
	}
	for (i = 0; i < 5; i++)
		merge(merged, part[(i * 3 + 1) % 5]);
	assert_true(merged->count == all->count);
	assert_memory_equal(merged->counts, all->counts, sizeof(all->counts));
	for (i = 0; i < 5; i++)
		free(part[i]);
	free(all);
	free(merged);
}

static void
a_removed_value_leaves_no_trace(void **state)
{
	static int64_t values[VALUES];
	uint64_t random = check_seed();
	struct quantile_sketch *a = fresh(), *b = fresh();
	int i;

	for (i = 0; i < VALUES; i++) {
		values[i] = check_int64(&random);
		quantile_sketch_add(a, values[i]);
		if (i % 2 == 0)
			quantile_sketch_add(b, values[i]);
	}
	for (i = 1; i < VALUES; i += 2)
		assert_true(quantile_sketch_remove(a, values[i]));
	assert_memory_equal(a->counts, b->counts, sizeof(a->counts));
	free(a);
	free(b);
}

static void
an_encoded_sketch_decodes_to_itself(void **state)
{
	uint64_t random = check_seed();
	struct quantile_sketch *a = fresh(), *b = fresh();
	struct buffer bytes = { NULL, 0, 0 };
	struct varint_reader u;
	size_t cut;
	int i;

	for (i = 0; i < VALUES; i++)
		quantile_sketch_add(a, pick(&random, i % 4));
	quantile_sketch_encode(a, &bytes);
	u = varint_reader_of(buffer_text(&bytes));
	quantile_sketch_decode(b, &u);
	assert_false(u.bad);
	assert_true(u.at == u.end);
	assert_memory_equal(a->counts, b->counts, sizeof(a->counts));
	for (cut = 0; cut < bytes.bytes; cut++) {
		quantile_sketch_reset(b);
		u = varint_reader_of(
		    (struct text){ (char *)bytes.at, (uint32_t)cut });
		quantile_sketch_decode(b, &u);
		assert_true(u.bad);
	}
	buffer_clear(&bytes);
	free(a);
	free(b);
}

/* What is at a bound counts, what is 3 % beyond does not; what is not positive
 * counts everywhere. */
static void
a_histogram_counts_what_is_at_most_its_bound(void **state)
{
	struct quantile_sketch *sketch = malloc(sizeof(*sketch));
	uint64_t counts[DURATION_BUCKETS];

	assert_non_null(sketch);
	quantile_sketch_init(sketch);
	quantile_sketch_histogram(sketch, counts);
	for (int i = 0; i < DURATION_BUCKETS; i++)
		assert_int_equal(counts[i], 0);
	quantile_sketch_add(sketch, -5);
	quantile_sketch_add(sketch, 0);
	for (int i = 0; i < DURATION_BUCKETS; i++) {
		int64_t ns = duration_buckets[i].ns;

		assert_true(i == 0 || ns > duration_buckets[i - 1].ns);
		assert_int_equal(
		    (int64_t)(atof(duration_buckets[i].seconds) * 1e9 + 0.5),
		    ns);
		quantile_sketch_add(sketch, ns);
		quantile_sketch_add(sketch, ns + ns / 100 * 3);
	}
	quantile_sketch_add(sketch, INT64_MAX);
	quantile_sketch_histogram(sketch, counts);
	for (uint64_t i = 0; i < DURATION_BUCKETS; i++)
		assert_int_equal(counts[i], 2 + 2 * i + 1);
	free(sketch);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_quantile_is_within_one_percent),
		cmocka_unit_test(the_ends_of_int64_have_their_buckets),
		cmocka_unit_test(buckets_are_in_the_order_of_values),
		cmocka_unit_test(merging_in_any_order_gives_the_same),
		cmocka_unit_test(a_removed_value_leaves_no_trace),
		cmocka_unit_test(an_encoded_sketch_decodes_to_itself),
		cmocka_unit_test(a_histogram_counts_what_is_at_most_its_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
