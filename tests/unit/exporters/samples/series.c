/*
 * series - nothing is lost between the hours, nothing is counted twice.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/series.h"

#include <math.h>

#include "proto/record/counter_rate.h"
#include "tests/unit/exporters/samples/sampled.h"

/* Seconds from RIG_T0 to the end of its hour. */
enum { SAMPLES = 600, HOUR = 400 };
#define HOUR_NS (INT64_C(3600) * NS_PER_SECOND)

static const struct counter_rate_column column = { .ticks = 10 }; /* "cs" */

static struct series *
open_series(int64_t step_ns, const char *metric)
{
	struct series_query query = { .metric = text_of(metric),
		.from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS,
		.step_ns = step_ns };
	struct series *series;
	struct err err = { 0 };

	rig_good(
	    series_open(&series, source, text_of(RIG_PARTITION), &err), &err);
	rig_good(series_select(series, &query, &err), &err);
	return series;
}

static bool
next(struct series *series, struct series_point *point)
{
	struct err err = { 0 };
	int rc = series_next(series, point, &err);

	if (rc < 0)
		fail_msg("%s", err.text);
	return rc > 0;
}

static void
define(void)
{
	define_group("cores", "poolscope.boot cpu.time cpu.count", "1 cs {cpu}",
	    "gauge counter gauge");
}

static void
an_interval_is_shared_by_the_steps_that_it_lies_in(void **state)
{
	struct series_point point;
	struct series *series;
	double seconds = 0, increase = 0;
	unsigned points = 0;

	define();
	for (int64_t i = 0; i < 100; i++)
		put_sample("node-1", "cores", 90 * (double)i, 3,
		    (int64_t[]){ 7, 1000 + 45 * i, 4 });
	read_it();
	series = open_series(600 * NS_PER_SECOND, "cpu.time");
	for (; next(series, &point); points++) {
		assert_true(point.counter);
		assert_true(text_equal(point.unit, text_of("cs")));
		assert_true(text_equal(point.rollup, text_of("raw")));
		assert_true(point.mean == 0.5);
		assert_true(point.low == 0.5 && point.high == 0.5);
		seconds += point.seconds;
		increase += point.increase;
	}
	assert_true(seconds == 99 * 90);
	assert_true(increase == 99 * 45);
	assert_int_equal(points, 16);
	series_close(&series);
}

static void
a_reboot_between_two_hours_makes_no_spike(void **state)
{
	struct series_point point;
	struct series *series;

	define();
	put_sample("node-1", "cores", HOUR - 20, 3, (int64_t[]){ 7, 9000, 4 });
	put_sample("node-1", "cores", HOUR - 10, 3, (int64_t[]){ 7, 9010, 4 });
	put_sample("node-1", "cores", HOUR + 10, 3, (int64_t[]){ 8, 500, 4 });
	put_sample("node-1", "cores", HOUR + 20, 3, (int64_t[]){ 8, 510, 4 });
	read_it();
	series = open_series(3600 * NS_PER_SECOND, "cpu.time");
	assert_true(next(series, &point));
	/* Half of the 500 since the boot is of each hour. */
	assert_true(point.mean == 1 && point.increase == 260);
	assert_true(next(series, &point));
	assert_true(point.increase == 260 && point.seconds == 10);
	assert_true(point.mean == 1 && point.high == 1);
	assert_false(next(series, &point));
	series_close(&series);
}

static void
a_gauge_has_no_increase(void **state)
{
	struct series_point point;
	struct series *series;

	define();
	put_sample("node-1", "cores", 0, 3, (int64_t[]){ 7, 1, 4 });
	put_sample("node-1", "cores", 1, 3, (int64_t[]){ 7, 1, 6 });
	read_it();
	series = open_series(3600 * NS_PER_SECOND, "cpu.count");
	assert_true(next(series, &point));
	assert_false(point.counter);
	assert_true(point.low == 4 && point.mean == 5 && point.high == 6);
	assert_true(point.increase == 0 && point.seconds == 0);
	assert_int_equal(point.count, 2);
	assert_false(next(series, &point));
	series_close(&series);
}

/* Whatever the step: the sum of all buckets is what the samples one after
 * another say. */
static void
all_steps_add_up_to_the_same(void **state)
{
	static const int64_t steps[] = { 1, 7, 60, 600, 3600 };
	uint64_t random = check_seed();
	struct counter_rate_sample before = { .value = { .type = VALUE_NIL } };
	double increase = 0, seconds = 0, t = 0;
	int64_t counter = 0, boot = 7;

	define();
	for (unsigned i = 0; i < SAMPLES; i++) {
		struct counter_rate_sample now;
		struct counter_rate counter_rate;

		t += 1 + (double)(check_random(&random) % 50);
		counter += (int64_t)(check_random(&random) % 1000);
		if (check_random(&random) % 40 == 0) {
			boot++;
			counter = (int64_t)(check_random(&random) % 100);
		}
		now = (struct counter_rate_sample){ (int64_t)t * NS_PER_SECOND,
			(uint64_t)boot, { VALUE_INT, { .i = counter } } };
		counter_rate = counter_rate_between(&column, &before, &now);
		increase += counter_rate.increase;
		seconds += counter_rate.seconds;
		before = now;
		put_sample(
		    "node-1", "cores", t, 3, (int64_t[]){ boot, counter, 4 });
	}
	read_it();
	for (unsigned i = 0; i < 5; i++) {
		struct series *series =
		    open_series(steps[i] * NS_PER_SECOND, "cpu.time");
		double all = 0, known = 0;
		struct series_point point;

		while (next(series, &point)) {
			all += point.increase;
			known += point.seconds;
		}
		/* An interval that steps share is a sum of fractions. */
		assert_true(fabs(all - increase) <= 1e-9 * increase);
		assert_true(fabs(known - seconds) <= 1e-9 * seconds);
		series_close(&series);
	}
}

/* From `seconds` on for ten minutes the node's clock is off. */
static void
put_clock(const char *node, int64_t seconds, int64_t offset_seconds)
{
	int64_t ms = NS_PER_SECOND / 1000;
	int64_t begin_ns = RIG_T0 + seconds * NS_PER_SECOND;

	for (int64_t i = 0; i <= 600; i += 60)
		put_sample(node, "clock", (double)(seconds + i), 7,
		    (int64_t[]){ offset_seconds * NS_PER_SECOND, ms, 0, 0,
			2 * ms, 1, begin_ns });
}

/* The clock of node-1 is right, that of node-2 is off beyond the hours next to
 * the window, which changes how far from the window its samples may be stored.
 * A counter of node-1 grows by 2 in a second and is read in the middle of each
 * 100 s: of the intervals at both ends of the window a half is in it. */
static void
sum_beside_a_clock(int64_t clock_seconds, int64_t offset_seconds)
{
	struct series_query query = { .metric = text_of("cpu.time"),
		.from_ns = RIG_T0,
		.to_ns = RIG_T0 + 600 * NS_PER_SECOND,
		.step_ns = 600 * NS_PER_SECOND };
	double increase = 0, seconds = 0;
	struct series_point point;
	struct series *series;
	struct err err = { 0 };

	define();
	for (int64_t t = -350; t < 1000; t += 100)
		put_sample("node-1", "cores", (double)t, 3,
		    (int64_t[]){ 7, 2 * (t + 1000), 4 });
	put_clock("node-2", clock_seconds, offset_seconds);
	read_it();
	source_clock(source)->choice = CLOCK_AUTO;
	rig_good(
	    series_open(&series, source, text_of(RIG_PARTITION), &err), &err);
	rig_good(series_select(series, &query, &err), &err);
	while (next(series, &point)) {
		increase += point.increase;
		seconds += point.seconds;
	}
	assert_true(seconds == 600 && increase == 1200);
	series_close(&series);
}

static void
a_clock_that_was_fast_before_a_window_takes_nothing_of_it(void **state)
{
	sum_beside_a_clock(-9600, -100);
}

static void
a_clock_that_is_slow_behind_a_window_takes_nothing_of_it(void **state)
{
	sum_beside_a_clock(9600, 100);
}

static void
a_partition_says_from_when_to_when_it_has_records(void **state)
{
	struct series_extent extent;
	struct err err = { 0 };

	define();
	put_sample("node-1", "cores", 5, 3, (int64_t[]){ 7, 1, 4 });
	put_sample("node-1", "cores", 9, 3, (int64_t[]){ 7, 1, 6 });
	read_it();
	rig_good(
	    series_extent(source, text_of(RIG_PARTITION), &extent, &err), &err);
	assert_true(extent.first_ns == RIG_T0 + 5 * NS_PER_SECOND);
	assert_true(extent.last_ns == RIG_T0 + 9 * NS_PER_SECOND);
	assert_true(extent.nodes == 2); /* and the one that sent it */
	assert_int_equal(
	    series_extent(source, text_of("other"), &extent, &err), -1);
	assert_non_null(strstr(err.text, "has no records"));
}

/* ---- series of several dynamic groups ---- */

#define GROUP_A "emit/00000000000a"
#define GROUP_B "emit/00000000000b"

/* Points of one series: how many, from A's name, and one behind the other. */
static unsigned
points_of(const char *node, int64_t step_ns, const char *metric, double *sum)
{
	struct series *series = open_series(step_ns, metric);
	struct series_point point;
	int64_t before_ns = TIME_MIN_NS;
	uint32_t number = UINT32_MAX;
	unsigned points = 0;

	*sum = 0;
	while (next(series, &point)) {
		if (!text_equal(point.node, text_of(node)))
			continue;
		assert_true(points++ == 0 || point.number == number);
		assert_true(text_equal(point.group, text_of(GROUP_A)));
		assert_true(point.begin_ns > before_ns);
		before_ns = point.begin_ns;
		number = point.number;
		*sum += point.counter ? point.increase
				      : point.mean * (double)point.count;
	}
	series_close(&series);
	return points;
}

/* q is in A, then in B, then in both by turns; the value at second t is t. */
static void
a_new_column_does_not_end_a_series(void **state)
{
	double sum, wanted = 0;

	define_group(GROUP_A, "q", "", "gauge");
	define_group(GROUP_B, "q w", "", "gauge gauge");
	for (int64_t t = 0; t < 120; t += 10) {
		bool is_a = t < 40 || (t >= 80 && t % 20 == 0);

		for (int n = 1; n <= 2; n++)
			put_sample(n == 1 ? "node-1" : "node-2",
			    is_a ? GROUP_A : GROUP_B, (double)t, is_a ? 1 : 2,
			    (int64_t[]){ t * n, 1 });
		wanted += (double)t;
	}
	read_it();
	assert_int_equal(
	    points_of("node-1", 10 * NS_PER_SECOND, "q", &sum), 12);
	assert_true(sum == wanted);
	assert_int_equal(
	    points_of("node-2", 10 * NS_PER_SECOND, "q", &sum), 12);
	assert_true(sum == 2 * wanted);
	/* 0 to 110 s are in seven steps of 20 s at most, in each of which there
	 * is one point, whatever groups its samples are of. */
	assert_in_range(
	    points_of("node-1", 20 * NS_PER_SECOND, "q", &sum), 6, 7);
	assert_true(sum == wanted);
	assert_int_equal(points_of("node-1", HOUR_NS, "q", &sum), 1);
	assert_true(sum == wanted);
}

/* It counts 45 each 90 s, in two groups by turns, over three hours. */
static void
a_counter_goes_on_in_another_group(void **state)
{
	double sum;

	define_group(GROUP_A, "poolscope.boot n", "1", "gauge counter");
	define_group(GROUP_B, "poolscope.boot n w", "1", "gauge counter gauge");
	for (int64_t i = 0; i < 100; i++)
		put_sample("node-1", i / 3 % 2 == 0 ? GROUP_A : GROUP_B,
		    90 * (double)i, i / 3 % 2 == 0 ? 2 : 3,
		    (int64_t[]){ 7, 1000 + 45 * i, 4 });
	read_it();
	for (size_t i = 0; i < 4; i++) {
		const int64_t step_ns[] = { NS_PER_SECOND, 60 * NS_PER_SECOND,
			600 * NS_PER_SECOND, HOUR_NS };

		assert_true(points_of("node-1", step_ns[i], "n", &sum) > 2);
		assert_true(fabs(sum - 45 * 99) < 1e-6);
	}
}

/* Other units, kinds and origins; and what only looks like them. */
static void
what_differs_is_not_joined(void **state)
{
	static const struct {
		const char *group, *units, *types;
	} others[] = { { GROUP_A, "", "gauge" }, { GROUP_B, "By", "gauge" },
		{ "emit/00000000000c", "", "counter" },
		{ "prom/00000000000d", "", "gauge" }, { "emit/x", "", "gauge" },
		{ "emit", "", "gauge" } };
	enum { OTHERS = sizeof(others) / sizeof(*others) };
	struct series_point point;
	struct series *series;
	unsigned points = 0;

	for (size_t i = 0; i < OTHERS; i++) {
		define_group(
		    others[i].group, "q", others[i].units, others[i].types);
		for (int64_t t = 0; t < 20; t += 10)
			put_sample("node-1", others[i].group, (double)t, 1,
			    (int64_t[]){ t });
	}
	read_it();
	series = open_series(HOUR_NS, "q");
	for (; next(series, &point); points++)
		assert_true(point.number < OTHERS);
	assert_int_equal(points, OTHERS);
	series_close(&series);
}

static void
a_step_makes_at_most_so_many(void **state)
{
	assert_true(series_step(0, 36 * NS_PER_SECOND, 360) == 100000000);
	assert_true(series_step(0, 60 * NS_PER_SECOND, 360) == 200000000);
	assert_true(
	    series_step(0, 3600 * NS_PER_SECOND, 360) == 10 * NS_PER_SECOND);
	assert_true(series_step(0, INT64_C(400) * 86400 * NS_PER_SECOND, 360) ==
		    3600 * NS_PER_SECOND);
	for (int64_t ns = 1; ns < 4000 * NS_PER_SECOND; ns = 3 * ns + 7) {
		int64_t step = series_fit_step(ns);

		assert_true(step >= ns || step == 3600 * NS_PER_SECOND);
		assert_int_equal(3600 * NS_PER_SECOND % step, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_interval_is_shared_by_the_steps_that_it_lies_in),
		CASE(a_reboot_between_two_hours_makes_no_spike),
		CASE(a_gauge_has_no_increase),
		CASE(all_steps_add_up_to_the_same),
		CASE(a_clock_that_was_fast_before_a_window_takes_nothing_of_it),
		CASE(a_clock_that_is_slow_behind_a_window_takes_nothing_of_it),
		CASE(a_partition_says_from_when_to_when_it_has_records),
		CASE(a_new_column_does_not_end_a_series),
		CASE(a_counter_goes_on_in_another_group),
		CASE(what_differs_is_not_joined),
		cmocka_unit_test(a_step_makes_at_most_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
