/*
 * perf_node, perf_report - the numbers of a node, and the reports they are of.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/perf/node_summary.h"

#include <math.h>

#include "proto/base/number.h"
#include "proto/os/clock.h"
#include "proto/wire/wire.h"
#include "tests/unit/check.h"

static double numbers[PERF_GROUP_COLUMNS];

static void
set_numbers(double number)
{
	for (int c = 0; c < PERF_GROUP_COLUMNS; c++)
		numbers[c] = number;
}

/* A report whose numbers are all the same. */
static void
add_report(struct perf_node *node, int64_t seconds, double number)
{
	set_numbers(number);
	perf_node_add(node, seconds * NS_PER_SECOND, numbers);
}

static void
assert_close(double got, double wanted)
{
	assert_true(fabs(got - wanted) <= 1e-12 * fabs(wanted));
}

static void
averages_on_a_threshold_are_over_it(void **state)
{
	static const double averages[] = { 100, 99.9, 80, 79.9, 40, 39.9, 20,
		19.9, 0, 100.1 };
	const struct perf_how how = { .cpu_count = 1 };
	struct perf_node node = { .reports = 0 };
	double m[PERF_METRICS];

	for (int i = 0; i < 10; i++)
		add_report(&node, i, averages[i]);
	perf_node_metrics(&node, &how, m);
	assert_close(m[PERF_AT100], 20);
	assert_close(m[PERF_OVER80], 40);
	assert_close(m[PERF_OVER40], 60);
	assert_close(m[PERF_OVER20], 80);
	assert_close(m[PERF_MAX_CPU_AVG], 100.1);
}

static void
cpu_hours_are_of_the_nodes_own_last_report(void **state)
{
	struct perf_how how = { .has_now = false };
	struct perf_node node = { .reports = 0 };
	double m[PERF_METRICS];

	add_report(&node, 1000, 75);
	set_numbers(25);
	numbers[PERF_GROUP_CPUS] = 8;
	perf_node_add(&node, 4600 * NS_PER_SECOND, numbers);
	perf_node_metrics(&node, &how, m);
	assert_close(m[PERF_CPU_HOURS], 8);
	assert_close(m[PERF_UNUSED_CPU_HOURS], 4);
	how = (struct perf_how){
		.has_now = true, .now_ns = 1360 * NS_PER_SECOND, .cpu_count = 2
	};
	perf_node_metrics(&node, &how, m);
	assert_close(m[PERF_CPU_HOURS], 0.2);
}

static void
totals_are_growth_or_since_boot_and_never_shrink(void **state)
{
	static const double totals[] = { 500, 510, 530, 3, 13 };
	struct perf_how how = { .cpu_count = 1 };
	struct perf_node node = { .reports = 0 };
	double m[PERF_METRICS];

	for (int i = 0; i < 5; i++)
		add_report(&node, i, totals[i]);
	perf_node_metrics(&node, &how, m);
	assert_close(m[PERF_TOTAL_READ], 10 + 20 + 3 + 10);
	how.since_boot = true;
	perf_node_metrics(&node, &how, m);
	assert_close(m[PERF_TOTAL_READ], 530);
}

/* Not about the same: the same bits, since the order is that of the time. */
static void
columns_add_up_to_what_their_reports_do(void **state)
{
	enum { REPORTS = 500, PARTS = 3 };
	static char cells[REPORTS * (PERF_GROUP_COLUMNS + 1) * WIRE_CELL_BYTES];
	static const uint32_t widths[PARTS] = { PERF_GROUP_COLUMNS, 4, 0 };
	struct perf_node one = { .reports = 0 }, many = { .reports = 0 };
	uint64_t random = check_seed();
	struct record record = {
		.kind = RECORD_SAMPLE, .name = text_of("*"), .count = REPORTS
	};
	struct wire_columns columns;

	for (uint32_t part = 0; part < PARTS; part++) {
		uint32_t width = widths[part];

		for (uint32_t i = 0; i < REPORTS; i++) {
			int64_t time_ns = part * 1000 + i;

			wire_put_cell(cells + 8 * i, (uint64_t)time_ns);
			set_numbers(NAN);
			for (uint32_t c = 0; c < width; c++) {
				uint64_t r = check_random(&random), bits;

				if (r % 17 > 0)
					numbers[c] = (double)(r >> 40) / 7;
				memcpy(&bits, &numbers[c], sizeof(bits));
				wire_put_cell(
				    cells + 8 * ((c + 1) * REPORTS + i), bits);
			}
			perf_node_add(&one, time_ns, numbers);
		}
		record.value_bytes =
		    (struct text){ cells, 8 * REPORTS * (width + 1) };
		assert_true(wire_columns_init(&columns, &record));
		perf_node_add_columns(&many, &columns);
		assert_memory_equal(&one, &many, sizeof(one));
	}
}

static void
what_no_report_says_is_not_known(void **state)
{
	const struct perf_how how = { .has_now = false };
	struct perf_node node = { .reports = 0 };
	double m[PERF_METRICS];

	set_numbers(NAN);
	numbers[PERF_GROUP_CPU_AVG] = numbers[PERF_GROUP_MEM] = 5;
	perf_node_add(&node, 1, numbers);
	perf_node_metrics(&node, &how, m);
	assert_close(m[PERF_UTILIZATION], 5);
	assert_close(m[PERF_MAX_MEM], 5);
	assert_true(isnan(m[PERF_CPU_HOURS]) && isnan(m[PERF_MAX_DISK]) &&
		    isnan(m[PERF_TOTAL_WRITE]));
}

static void
mlflow_gets_fifty_characters_of_those_it_takes(void **state)
{
	char name[PERF_MLFLOW_BYTES];

	assert_string_equal(
	    perf_mlflow_name(name, "", perf_metric_names[PERF_MAX_CPU_AVG]),
	    "max_t_cpu_pct_per_cpu_avg");
	assert_string_equal(
	    perf_mlflow_name(name, "a b/\xc3\xa4:(-._", "total"),
	    "a b/-._total");
	assert_string_equal(
	    perf_mlflow_name(name, "a prefix of thirty characters/",
		"cpu_avg_utilization_over80_pct"),
	    "a prefix of thirty characters/cpu_avg_utilization_");
}

static void
a_timestamp_comes_back_as_the_same_double(void **state)
{
	uint64_t seed = check_seed();

	assert_true(perf_seconds(0) == 0 && perf_seconds(-1) == -1e-9);
	for (int i = 0; i < 100000; i++) {
		double seconds =
		    1e9 + (double)(check_random(&seed) >> 11) * 0x1p-53 * 6e9;
		char text[NUMBER_BYTES];
		int64_t ns;

		number_repr(text, seconds);
		assert_int_equal(
		    clock_parse_seconds(text_of(text), &ns, NULL), 0);
		assert_true(perf_seconds(ns) == seconds);
	}
}

static void
a_sample_is_a_report_whatever_its_values_are(void **state)
{
	unsigned char bytes[256];
	struct value whole = { VALUE_INT, .is.i = -5 };
	struct value nil = { .type = VALUE_NIL };
	struct record record = { .kind = RECORD_SAMPLE,
		.source = text_of("perf") };
	struct perf_report report;
	struct wire_writer w;

	wire_writer_init(&w, bytes, sizeof(bytes));
	wire_put_value(&w, &whole);
	wire_put_value(&w, &nil);
	record.values = 2;
	record.value_bytes =
	    (struct text){ (const char *)bytes, (uint32_t)w.bytes };
	assert_true(perf_report_get(&report, &record));
	assert_int_equal(report.known, 1u << PERF_GROUP_CPU_AVG);
	assert_true(perf_report_number(&report, PERF_GROUP_CPU_AVG) == -5);
	assert_true(isnan(perf_report_number(&report, PERF_GROUP_CPU_MIN)));
	assert_true(isnan(perf_report_number(&report, PERF_GROUP_CPUS)));
	record_get_numbers(&record, numbers, PERF_GROUP_COLUMNS);
	assert_true(numbers[0] == -5 && isnan(numbers[1]) && isnan(numbers[2]));
	record.source = text_of("cpu");
	assert_false(perf_report_get(&report, &record));
}

static void
a_long_prefix_makes_no_two_names_the_same(void **state)
{
	char names[PERF_METRICS][PERF_MLFLOW_BYTES];

	perf_mlflow_names(names, "");
	assert_string_equal(names[PERF_UTILIZATION], "cpu_avg_utilization_pct");
	perf_mlflow_names(
	    names, "a prefix of 48 characters, the first of the two/");
	assert_string_equal(
	    names[0], "a prefix of 48 characters the first of the two/max");
	assert_string_equal(names[PERF_MAX_CPU_MIN],
	    "a prefix of 48 characters the first of the two/m-2");
	for (int i = 0; i < PERF_METRICS; i++)
		for (int j = 0; j < i; j++)
			assert_string_not_equal(names[i], names[j]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(averages_on_a_threshold_are_over_it),
		cmocka_unit_test(cpu_hours_are_of_the_nodes_own_last_report),
		cmocka_unit_test(
		    totals_are_growth_or_since_boot_and_never_shrink),
		cmocka_unit_test(columns_add_up_to_what_their_reports_do),
		cmocka_unit_test(what_no_report_says_is_not_known),
		cmocka_unit_test(
		    mlflow_gets_fifty_characters_of_those_it_takes),
		cmocka_unit_test(a_long_prefix_makes_no_two_names_the_same),
		cmocka_unit_test(a_timestamp_comes_back_as_the_same_double),
		cmocka_unit_test(a_sample_is_a_report_whatever_its_values_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
