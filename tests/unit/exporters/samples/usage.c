/*
 * usage - hours, peaks and totals of nodes and jobs, by hand.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/usage.h"

#include <math.h>

#include "tests/unit/exporters/samples/sampled.h"

static const struct usage_row *
find(const struct usage *usage, const char *job, const char *node)
{
	for (uint32_t i = 0; i < usage->count; i++)
		if (text_equal(usage->rows[i].job, text_of(job)) &&
		    text_equal(usage->rows[i].node, text_of(node)))
			return &usage->rows[i];
	fail_msg("no row of job '%s' and %s", job, node);
	return NULL;
}

static void
about(double got, double want)
{
	if (!(fabs(got - want) <= 1e-6 * (1 + fabs(want))))
		fail_msg("%.9g is not %.9g", got, want);
}

/* Two hours at 10 s: 4 processors, all at work in the first hour, none in the
 * second; node-2 does half as much and has a GPU. */
static void
make_pool(void)
{
	define_group("cpu",
	    "poolscope.boot system.cpu.time.user system.cpu.time.nice "
	    "system.cpu.time.system system.cpu.time.idle "
	    "system.cpu.time.iowait system.cpu.time.interrupt "
	    "system.cpu.time.softirq system.cpu.time.steal "
	    "system.cpu.logical.count",
	    "1 cs cs cs cs cs cs cs cs {cpu}",
	    "gauge counter counter counter counter counter counter counter "
	    "counter gauge");
	define_group("memory", "system.memory.limit system.memory.usage.used",
	    "By By", "gauge gauge");
	define_group("disk/a",
	    "poolscope.boot system.disk.io.read system.disk.io.write",
	    "1 By By", "gauge counter counter");
	define_group("gpu/0",
	    "poolscope.boot hw.gpu.utilization hw.gpu.memory.utilization "
	    "hw.gpu.memory.usage",
	    "1 1 1 By", "gauge gauge gauge gauge");
	define_group("pressure",
	    "poolscope.boot system.linux.pressure.cpu.some "
	    "system.linux.pressure.memory.some "
	    "system.linux.pressure.memory.full "
	    "system.linux.pressure.io.some",
	    "1 us us us us", "gauge counter counter counter counter");
	for (int64_t i = 0; i <= 720; i++) {
		int64_t busy = i < 360 ? i : 360, idle = i - busy;
		double t = 10 * (double)i;

		put_sample("node-1", "cpu", t, 10,
		    (int64_t[]){ 7, 4000 * busy, UNKNOWN, UNKNOWN, 3000 * idle,
			1000 * idle, UNKNOWN, UNKNOWN, UNKNOWN, 4 });
		put_sample("node-2", "cpu", t, 10,
		    (int64_t[]){ 8, 2000 * busy, UNKNOWN, UNKNOWN,
			2000 * busy + 4000 * idle, 0, UNKNOWN, UNKNOWN, UNKNOWN,
			4 });
		put_sample("node-1", "memory", t, 2,
		    (int64_t[]){ 1 << 30, i == 77 ? 900 : 5 });
		put_sample("node-1", "disk/a", t, 3,
		    (int64_t[]){ 7, 100 * i, 7 * busy });
		put_sample("node-2", "gpu/0", t, 4,
		    (int64_t[]){ 8, i == 500, UNKNOWN, 1000 + i });
		put_sample("node-1", "pressure", t, 5,
		    (int64_t[]){
			7, 1000000 * i, UNKNOWN, UNKNOWN, 500000 * i });
	}
	put_job("node-1", 1800, "start", "4711");
	put_job("node-1", 5400, "stop", "4711");
	put_job("node-2", 1805, "start", "4711");
	put_job("node-2", 1905, "stop", "4711");
	put_job("node-1", 7000, "start", "other");
	read_it();
}

static const struct time_window_options all = TIME_WINDOW_ALL;

static struct usage
usage_of_pool(void)
{
	struct usage usage;
	struct err err = { 0 };

	make_pool();
	rig_good(usage_read(&usage, source, text_of(RIG_PARTITION), &all, &err),
	    &err);
	return usage;
}

static void
nodes_have_hours_peaks_and_totals(void **state)
{
	struct usage usage = usage_of_pool();
	const struct usage_row *row;

	assert_int_equal(usage.nodes, 2);
	row = find(&usage, "", "node-1");
	about(row->at[USAGE_SECONDS], 7200);
	about(row->at[USAGE_CPUS], 4);
	about(row->at[USAGE_CPU_USED], 4);
	about(row->at[USAGE_CPU_UNUSED], 4);
	about(usage_share(row), 0.5);
	about(row->at[USAGE_MEMORY_PEAK], 900);
	about(row->at[USAGE_MEMORY_LIMIT], 1 << 30);
	about(row->at[USAGE_DISK_READ], 72000);
	about(row->at[USAGE_DISK_WRITTEN], 7 * 360);
	about(row->at[USAGE_PRESSURE_CPU], 720);
	about(row->at[USAGE_PRESSURE_IO], 360);
	assert_true(isnan(row->at[USAGE_PRESSURE_MEMORY]));
	assert_true(isnan(row->at[USAGE_GPU_PEAK]));
	/* A quarter of its time went into waiting for I/O: not idle. */
	about(row->at[USAGE_IDLE], 0);
	row = find(&usage, "", "node-2");
	about(row->at[USAGE_CPU_USED], 2);
	about(row->at[USAGE_CPU_UNUSED], 6);
	about(row->at[USAGE_IDLE], 1);
	about(row->at[USAGE_GPU_PEAK], 1);
	about(row->at[USAGE_GPU_MEMORY_PEAK], 1720);
	usage_clear(&usage);
}

static void
jobs_have_what_nodes_did_while_they_ran(void **state)
{
	struct usage usage = usage_of_pool();
	const struct usage_row *row;

	assert_int_equal(usage.count, 5);
	row = find(&usage, "4711", "node-1");
	about(row->at[USAGE_SECONDS], 3600);
	about(row->at[USAGE_CPU_USED], 2);
	about(row->at[USAGE_CPU_UNUSED], 2);
	about(row->at[USAGE_MEMORY_PEAK], 5);
	row = find(&usage, "4711", "node-2");
	about(row->at[USAGE_SECONDS], 100);
	row = find(&usage, "other", "node-1");
	about(row->at[USAGE_SECONDS], 200);
	about(row->at[USAGE_CPU_USED], 0);
	usage_clear(&usage);
}

static void
without_samples_there_is_no_use_to_tell(void **state)
{
	struct usage usage;
	struct err err = { 0 };

	put_job("node-1", 1, "start", "x");
	read_it();
	assert_int_equal(
	    usage_read(&usage, source, text_of(RIG_PARTITION), &all, &err), -1);
	assert_string_equal(err.text, "no samples to compute use from");
	usage_clear(&usage);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(nodes_have_hours_peaks_and_totals),
		CASE(jobs_have_what_nodes_did_while_they_ran),
		CASE(without_samples_there_is_no_use_to_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
