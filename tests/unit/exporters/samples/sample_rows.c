/*
 * Values of metrics beyond the bound of memory, and from a source that lies.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/sample_rows.h"

#include <math.h>

#include "proto/os/clock.h"
#include "tests/unit/check.h"

static struct series_point
gauge(uint32_t number, const char *metric, int64_t seconds, double value)
{
	return (struct series_point){ .number = number,
		.node = text_of("n1"),
		.group = text_of("g"),
		.metric = text_of(metric),
		.unit = text_of("1"),
		.rollup = text_of("raw"),
		.first_ns = seconds * NS_PER_SECOND,
		.last_ns = seconds * NS_PER_SECOND,
		.last = { .type = VALUE_FLOAT, .is.f = value },
		.count = 1,
		.low = value,
		.high = value,
		.mean = value };
}

/* 8 values of a, 4 of b, and room for 10: a has no quantiles, b has them. */
static void
the_row_with_the_most_values_loses_its_quantiles(void **state)
{
	struct sample_rows rows;
	struct series_point point;

	sample_rows_init(&rows, false, 0, 1000 * NS_PER_SECOND, NULL);
	rows.values_max = 10;
	for (int i = 1; i <= 8; i++) {
		point = gauge(0, "a", i, i);
		sample_rows_add(&rows, &point);
		if (i > 4)
			continue;
		point = gauge(1, "b", i, 10 * i);
		sample_rows_add(&rows, &point);
	}
	sample_rows_finish(&rows);
	assert_int_equal(rows.count, 2);
	assert_int_equal(rows.at[0].lack, SAMPLE_ROW_TOO_MANY);
	assert_int_equal(rows.at[0].count, 8);
	assert_true(rows.at[0].low == 1 && rows.at[0].high == 8);
	assert_true(rows.at[0].mean == 4.5);
	assert_true(isnan(rows.at[0].p50) && isnan(rows.at[0].p99));
	assert_int_equal(rows.at[1].lack, SAMPLE_ROW_EXACT);
	assert_true(rows.at[1].p50 == 20 && rows.at[1].p99 == 40);
	assert_true(rows.at[1].mean == 25);
	sample_rows_clear(&rows);
}

static void
a_count_that_no_memory_holds_ends(void **state)
{
	struct sample_rows rows;
	struct series_point point = gauge(0, "a", 1, 5);

	sample_rows_init(&rows, true, 0, 1000 * NS_PER_SECOND, NULL);
	rows.values_max = 1000;
	point.count = UINT64_MAX / 2;
	sample_rows_add(&rows, &point);
	point = gauge(0, "a", 2, INFINITY);
	sample_rows_add(&rows, &point);
	sample_rows_finish(&rows);
	assert_int_equal(rows.at[0].lack, SAMPLE_ROW_TOO_MANY);
	assert_int_equal(rows.at[0].unknown, 1);
	assert_true(rows.at[0].mean == 5);
	sample_rows_clear(&rows);
}

/* Two samples in a step: both are known, in their order, and each is in the
 * window or not. */
static void
two_samples_of_a_step_are_two_values(void **state)
{
	struct sample_rows rows;
	struct series_point point = gauge(0, "a", 8, 3);

	sample_rows_init(
	    &rows, true, 5 * NS_PER_SECOND, 10 * NS_PER_SECOND, NULL);
	point.first_ns = 4 * NS_PER_SECOND;
	point.low = 1;
	point.count = 2;
	assert_false(sample_rows_is_joined(&point, SAMPLE_ROWS_ALL));
	sample_rows_add(&rows, &point); /* 1 before the window, then 3 */
	point = gauge(0, "a", 9, 7);
	sample_rows_add(&rows, &point);
	sample_rows_finish(&rows);
	assert_int_equal(rows.at[0].count, 2);
	assert_true(rows.at[0].low == 3 && rows.at[0].high == 7);
	assert_true(rows.at[0].mean == 5 && rows.at[0].last == 7);
	point.count = 3;
	assert_false(
	    sample_rows_is_joined(&point, SAMPLE_ROWS_ALL)); /* all of them 7 */
	point.low = 6;
	assert_true(sample_rows_is_joined(&point, SAMPLE_ROWS_ALL));
	sample_rows_clear(&rows);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    the_row_with_the_most_values_loses_its_quantiles),
		cmocka_unit_test(a_count_that_no_memory_holds_ends),
		cmocka_unit_test(two_samples_of_a_step_are_two_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
