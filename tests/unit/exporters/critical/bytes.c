/*
 * bytes - what bytes cost and the most at once, of random phases, against a
 * judge that counts: ranks of all pairs, and the bytes of each whole moment.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/critical/bytes.h"

#include <math.h>

#include "tests/unit/check.h"

enum { ITEMS = 24, MOMENTS = 200, PHASES = 2, NODES = 4, WINDOW = 10 };
static const int64_t second_ns = 1000000000;

static uint64_t seed;
static struct critical_item items[ITEMS];
static double at[ITEMS];
static const struct critical_bytes bytes = { at };
static const struct critical_waits waits = { .at = items, .count = ITEMS };

static int
below(int n)
{
	return (int)(check_random(&seed) % (uint64_t)n);
}

static void
make(void)
{
	for (int i = 0; i < ITEMS; i++) {
		int begin = below(60), length = below(4) * below(20);

		items[i] =
		    (struct critical_item){ .begin_ns = begin * second_ns,
			    .end_ns = (begin + length) * second_ns,
			    .node = (uint32_t)below(NODES),
			    .phase = (uint32_t)below(PHASES) };
		at[i] = below(6) == 0 ? NAN : below(5) * 1e6;
	}
}

/* The cost that as many pairs are below as above, or the middle of two. */
static double
cost(uint32_t phase)
{
	double costs[ITEMS * ITEMS], low = NAN, high = NAN;
	int count = 0;

	for (int i = 0; i < ITEMS; i++)
		for (int j = 0; j < ITEMS; j++)
			if (items[i].phase == phase &&
			    items[j].phase == phase &&
			    items[i].node == items[j].node && at[j] > at[i])
				costs[count++] = (double)(items[j].end_ns -
							  items[j].begin_ns -
							  items[i].end_ns +
							  items[i].begin_ns) /
						 (at[j] - at[i]);
	for (int i = 0; i < count; i++) {
		int less = 0, equal = 0;

		for (int j = 0; j < count; j++) {
			less += costs[j] < costs[i];
			equal += !(costs[j] < costs[i] || costs[j] > costs[i]);
		}
		if (less <= (count - 1) / 2 && (count - 1) / 2 < less + equal)
			low = costs[i];
		if (less <= count / 2 && count / 2 < less + equal)
			high = costs[i];
	}
	return (low + high) / 2;
}

/* All begin and end at whole moments, and so does the window that has most. */
static double
most(uint32_t phase)
{
	double moved[MOMENTS] = { 0 }, best = 0;

	for (int i = 0; i < ITEMS; i++)
		for (int64_t t = items[i].begin_ns; t < items[i].end_ns;
		     t += second_ns)
			if (items[i].phase == phase && !isnan(at[i]))
				moved[t / second_ns] +=
				    at[i] * (double)second_ns /
				    (double)(items[i].end_ns -
					     items[i].begin_ns);
	for (int t = 0; t + WINDOW < MOMENTS; t++) {
		double sum = 0;

		for (int i = 0; i < WINDOW; i++)
			sum += moved[t + i];
		best = fmax(best, sum);
	}
	return best > 0 ? best / WINDOW / (double)second_ns : NAN;
}

static void
are_equal(double a, double b)
{
	assert_true(isnan(a) == isnan(b));
	if (!isnan(a))
		assert_true(fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)));
}

static void
what_is_found_is_what_is_counted(void **state)
{
	unsigned rounds = check_share(10000, 500);

	for (unsigned round = 0; round < rounds; round++) {
		make();
		for (uint32_t phase = 0; phase < PHASES; phase++) {
			are_equal(critical_bytes_cost(&bytes, &waits, phase),
			    cost(phase));
			are_equal(critical_bytes_most(&bytes, &waits, phase),
			    most(phase));
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_found_is_what_is_counted),
	};

	seed = check_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
