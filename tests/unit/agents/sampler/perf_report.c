/*
 * perf_report - the older monitor's report: rounding, counters that wrap,
 * devices that come and go.  tests/golden/perf has psutil as the judge.
 * SPDX-License-Identifier: MIT
 */
#include "agents/sampler/perf_report.h"

#include "tests/unit/check.h"

static bool
is_disk(void *arg, struct text name)
{
	return name.bytes == 3;
}

static void
a_tenth_is_rounded_as_python_does(void **state)
{
	static const struct {
		double from, to;
	} cases[] = { { 0.05, 0.1 }, { 0.15, 0.1 }, { 0.25, 0.2 },
		{ 0.35, 0.3 }, { 82.55, 82.5 }, { 99.95, 100.0 },
		{ 2.675, 2.7 }, { 50, 50 }, { 0.75, 0.8 }, { 12.25, 12.2 },
		{ 12.75, 12.8 }, { 33.333333333333336, 33.3 }, { 0, 0 } };
	uint64_t random = check_seed();
	char text[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_true(perf_report_round(cases[i].from) == cases[i].to);
	for (int i = 0; i < 200000; i++) {
		/* Sixteenths and hundredths hit the middle. */
		double value = (double)(check_random(&random) % 16000) /
			       (i % 2 ? 160 : 100);

		snprintf(text, sizeof(text), "%.1f", value);
		assert_true(perf_report_round(value) == strtod(text, NULL));
	}
}

static void
the_first_look_has_no_interval(void **state)
{
	struct perf_report report;
	struct perf_reporter *perf_reporter;

	perf_report_new(&perf_reporter);
	perf_report_cpu(perf_reporter,
	    text_of("cpu0 10 0 10 80\ncpu1 10 0 10 80\n"), &report);
	assert_int_equal(report.processors, 2);
	assert_true(report.values[METRIC_PERF_CPU_AVG] == 0);
	perf_report_cpu(perf_reporter,
	    text_of("cpu0 20 0 10 90\ncpu1 10 0 10 180\n"), &report);
	assert_true(report.values[METRIC_PERF_CPU_AVG] == 25);
	assert_true(report.values[METRIC_PERF_CPU_MIN] == 0);
	assert_true(report.values[METRIC_PERF_CPU_MAX] == 50);
	perf_report_free(&perf_reporter);
}

static void
a_processor_that_is_plugged_in_has_no_past(void **state)
{
	struct perf_report report;
	struct perf_reporter *perf_reporter;

	perf_report_new(&perf_reporter);
	perf_report_cpu(
	    perf_reporter, text_of("cpu0 0 0 0 0\ncpu3 9 0 0 9\n"), &report);
	perf_report_cpu(perf_reporter,
	    text_of("cpu0 30 0 0 70\ncpu1 1000 0 0 5\ncpu3 9 0 0 9\n"),
	    &report);
	assert_int_equal(report.processors, 3);
	assert_true(report.values[METRIC_PERF_CPU_AVG] == 30);
	/* Nothing at all is no error. */
	perf_report_cpu(perf_reporter, text_of(""), &report);
	assert_int_equal(report.processors, 0);
	assert_true(report.values[METRIC_PERF_CPU_AVG] == 0);
	perf_report_free(&perf_reporter);
}

static void
disks_of(struct perf_reporter *perf_reporter, const char *text,
    struct perf_report *report)
{
	perf_report_disks(perf_reporter, text_of(text), is_disk, NULL, report);
}

static void
a_counter_that_goes_down_has_wrapped(void **state)
{
	struct perf_report report;
	struct perf_reporter *perf_reporter;

	perf_report_new(&perf_reporter);
	disks_of(
	    perf_reporter, "8 0 sda 1 2 4096 4 5 6 2048 8 9 10 11\n", &report);
	assert_true(report.values[METRIC_PERF_READ] == 2);
	assert_true(report.values[METRIC_PERF_WRITE] == 1);
	disks_of(
	    perf_reporter, "8 0 sda 1 2 2048 4 5 6 2048 8 9 10 11\n", &report);
	assert_true(report.values[METRIC_PERF_READ] == 3);
	/* Again, and it is added up. */
	disks_of(
	    perf_reporter, "8 0 sda 1 2 0 4 5 6 2048 8 9 10 11\n", &report);
	assert_true(report.values[METRIC_PERF_READ] == 3);
	disks_of(perf_reporter,
	    "8 0 sda 1 2 0 4 5 6 2048 8 9 10 11\n"
	    "8 1 sda1 1 2 4096 4 5 6 2048 8 9 10 11\n"
	    "8 0 sdb 1 2 4096 4 5 6 2048 8 9 10 11\n",
	    &report);
	assert_true(report.values[METRIC_PERF_READ] == 5);
	/* With a device goes what it had wrapped. */
	disks_of(
	    perf_reporter, "8 0 sdb 1 2 4096 4 5 6 2048 8 9 10 11\n", &report);
	assert_true(report.values[METRIC_PERF_READ] == 2);
	disks_of(perf_reporter,
	    "8 0 sda 1 2 0 4 5 6 2048 8 9 10 11\n"
	    "8 0 sdb 1 2 4096 4 5 6 2048 8 9 10 11\n",
	    &report);
	assert_true(report.values[METRIC_PERF_READ] == 2);
	perf_report_free(&perf_reporter);
}

static void
loopback_is_lo_or_says_so(void **state)
{
	struct perf_report report;
	struct perf_reporter *perf_reporter;

	perf_report_new(&perf_reporter);
	perf_report_network(perf_reporter,
	    text_of("lo: 1048576 0 0 0 0 0 0 0 2097152 0 0 0\n"
		    "LO: 1048576 0 0 0 0 0 0 0 2097152 0 0 0\n"
		    "my_LoopBack1: 1048576 0 0 0 0 0 0 0 0 0 0 0\n"
		    "lo1: 8388608 0 0 0 0 0 0 0 4194304 0 0 0\n"
		    "loop: 0 0 0 0 0 0 0 0 4194304 0 0 0\n"),
	    &report);
	assert_true(report.values[METRIC_PERF_LO_SENT] == 4);
	assert_true(report.values[METRIC_PERF_EXT_RECV] == 8);
	assert_true(report.values[METRIC_PERF_EXT_SENT] == 8);
	perf_report_free(&perf_reporter);
}

static void
available_memory_falls_back_as_psutil_does(void **state)
{
	struct perf_report report;

	perf_report_memory(text_of("MemTotal: 100 kB\nMemFree: 10 kB\n"
				   "MemAvailable: 75 kB\n"),
	    &report);
	assert_true(report.values[METRIC_PERF_MEM] == 25);
	perf_report_memory(text_of("MemTotal: 100 kB\nMemFree: 10 kB\n"
				   "MemAvailable: 101 kB\n"),
	    &report);
	assert_true(report.values[METRIC_PERF_MEM] == 90);
	perf_report_memory(
	    text_of("MemTotal: 100 kB\nMemFree: 10 kB\nCached: 20 kB\n"),
	    &report);
	assert_true(report.values[METRIC_PERF_MEM] == 70);
	perf_report_memory(text_of(""), &report);
	assert_true(report.values[METRIC_PERF_MEM] == 0);
}

static void
a_file_system_without_blocks_is_empty(void **state)
{
	struct perf_report report;

	perf_report_space(
	    &(struct perf_report_space){ 100, 40, 30, 4096 }, &report);
	assert_true(report.values[METRIC_PERF_DISK] == 66.7);
	perf_report_space(&(struct perf_report_space){ 0, 0, 0, 0 }, &report);
	assert_true(report.values[METRIC_PERF_DISK] == 0);
	perf_report_space(
	    &(struct perf_report_space){ 1, 2, 0, 4096 }, &report);
	assert_true(report.values[METRIC_PERF_DISK] == 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tenth_is_rounded_as_python_does),
		cmocka_unit_test(the_first_look_has_no_interval),
		cmocka_unit_test(a_processor_that_is_plugged_in_has_no_past),
		cmocka_unit_test(a_counter_that_goes_down_has_wrapped),
		cmocka_unit_test(loopback_is_lo_or_says_so),
		cmocka_unit_test(available_memory_falls_back_as_psutil_does),
		cmocka_unit_test(a_file_system_without_blocks_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
