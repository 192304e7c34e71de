/*
 * node_usage, open_phases - what a node does now.  The numbers are worked out
 * by hand.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/nodes/node_usage.h"

#include "proto/metric/metric_groups.h"
#include "tests/unit/exporters/samples/sampled.h"

#define SECOND      NS_PER_SECOND
#define AT(seconds) (RIG_T0 + (seconds)*SECOND)

/* A sample of a group of the agent that has only these metrics. */
static void
put_metrics(const char *node, const char *group, double seconds, int count,
    const char *const *metrics, const int64_t *values)
{
	const struct metric_group *of = metric_group_find(text_of(group));
	int64_t numbers[64];

	assert_non_null(of);
	for (uint32_t i = 0; i < of->count; i++) {
		/* The first one of a group is the boot that its counters count
		 * from, or a gauge. */
		numbers[i] = i == 0 ? 1 : UNKNOWN;
		for (int k = 0; k < count; k++)
			if (strcmp(of->columns[i].name, metrics[k]) == 0)
				numbers[i] = values[k];
	}
	put_sample(node, group, seconds, of->count, numbers);
}

static void
put_cpu(const char *node, double seconds, int64_t idle, int64_t iowait)
{
	static const char *const metrics[] = { "system.cpu.time.idle",
		"system.cpu.time.iowait", "system.cpu.logical.count" };

	put_metrics(node, "cpu", seconds, 3, metrics,
	    (const int64_t[]){ idle, iowait, 4 });
}

static void
put_two(const char *node, const char *group, double seconds,
    const char *const metrics[2], int64_t first, int64_t second)
{
	put_metrics(node, group, seconds, 2, metrics,
	    (const int64_t[]){ first, second });
}

static const char *const network[] = { "system.network.io.receive",
	"system.network.physical" };
static const char *const disk[] = { "system.disk.io.read",
	"system.disk.io.write" };

static void
put_pressure(const char *node, double seconds, int64_t us)
{
	static const char *const metrics[] = {
		"system.linux.pressure.io.some"
	};

	put_metrics(
	    node, "pressure", seconds, 1, metrics, (const int64_t[]){ us });
}

static void
define_all(void)
{
	static const char *const groups[] = { "cpu", "network/eth0",
		"network/br0", "network/eth1", "pressure", "load", "memory",
		"disk/sda", "disk/sdb", "gpu/0", "gpu/1" };

	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		assert_true(metric_group_define(&rig.batch,
		    metric_group_find(text_of(groups[i])), text_of(groups[i])));
}

static void
put_gauge(const char *node, const char *group, const char *metric,
    double seconds, int64_t value)
{
	put_metrics(node, group, seconds, 1, &metric, &value);
}

static struct node_usages usages;

static void
read_usage(enum node_usage_rate rate, int64_t now_ns)
{
	struct err err = { 0 };

	node_usage_clear(&usages);
	rig_good(node_usage_read(&usages, source, text_of(RIG_PARTITION), rate,
		     now_ns, &err),
	    &err);
}

/* NAN: unknown. */
static void
assert_usage(const char *node, enum node_usage_number number, double wanted)
{
	double got = node_usage_of(&usages, text_of(node)).numbers[number];

	if (isnan(wanted) ? !isnan(got) : !(fabs(wanted - got) < 1e-9))
		fail_msg("%s, number %d: %g, not %g", node, (int)number, got,
		    wanted);
}

/*
 * n1 has 4 processors.  From 80 to 90 it is idle for 10 of 40 s, from 90 to 100
 * for 22 s, and waits for a disk for 6 s.  In these last 10 s eth0 received
 * 5,000 bytes and eth1 2,500; br0 is carried by them.  A task waited for a disk
 * for 4 s.  Between its last two samples: cpu (40 - 22 - 6) / 40 = 30 %, iowait
 * 6 / 40 = 15 %, 750 bytes a second, 40 % of the time.  In the last 5 min, of
 * which 20 s are known: idle 32 of 80 s, iowait 6: cpu (80 - 38) / 80 = 52.5 %,
 * iowait 7.5 %, 40 % of the time.
 *
 * n2 has one sample, so that it has no rate, but a load.  n3's last ones are
 * more than two minutes old: from -90 to -80 it is idle for 1 of 40 s, 97.5 %.
 * n4 waits for a disk all the time, which is no work: cpu 0.
 *
 * n6 uses 3 GiB of 12 and has a load of 2; in the last 10 s sda read 1,000 and
 * wrote 2,000 bytes, sdb read 500: 350 a second.  One of its GPUs does nothing,
 * the other one all it can.
 */
static void
rates_are_the_last_one_or_the_mean_of_some_minutes(void **state)
{
	define_all();
	put_cpu("n3", -90, 0, 0);
	put_cpu("n3", -80, 100, 0);
	put_cpu("n4", 80, 0, 0);
	put_cpu("n4", 90, 0, 4000);
	put_cpu("n1", 80, 0, 0);
	put_cpu("n1", 90, 1000, 0);
	put_cpu("n1", 100, 3200, 600);
	put_cpu("n2", 95, 7, 7);
	put_gauge("n2", "load", "system.cpu.load_average.1m", 85, 9);
	put_gauge("n2", "load", "system.cpu.load_average.1m", 95, 3);
	for (int i = 0; i < 2; i++) {
		put_two(
		    "n1", "network/eth0", 90 + 10 * i, network, 5000 * i, 1);
		put_two(
		    "n1", "network/eth1", 90 + 10 * i, network, 2500 * i, 1);
		put_two("n1", "network/br0", 90 + 10 * i, network, 7500 * i, 0);
		put_pressure("n1", 90 + 10 * i, 4000000 * i);
	}
	for (int i = 0; i < 2; i++) {
		static const char *const memory[] = { "system.memory.limit",
			"system.memory.usage.used" };

		put_two(
		    "n6", "disk/sda", 90 + 10 * i, disk, 1000 * i, 2000 * i);
		put_two("n6", "disk/sdb", 90 + 10 * i, disk, 500 * i, 0);
		put_metrics("n6", "memory", 90 + 10 * i, 2, memory,
		    (const int64_t[]){ 12LL << 30, (2LL + i) << 30 });
		put_gauge("n6", "load", "system.cpu.load_average.1m",
		    90 + 10 * i, 1 + i);
		put_gauge("n6", "gpu/0", "hw.gpu.utilization", 90 + 10 * i, i);
		put_gauge("n6", "gpu/1", "hw.gpu.utilization", 90 + 10 * i, 0);
	}
	read_it();
	read_usage(USAGE_LAST, AT(105));
	assert_usage("n6", USAGE_DISK, 350);
	assert_usage("n6", USAGE_MEMORY_USED, 3LL << 30);
	assert_usage("n6", USAGE_MEMORY_LIMIT, 12LL << 30);
	assert_usage("n6", USAGE_LOAD, 2);
	assert_usage("n6", USAGE_GPU, 1);
	assert_usage("n1", USAGE_DISK, NAN);
	assert_usage("n1", USAGE_GPU, NAN);
	assert_usage("n1", USAGE_MEMORY_USED, NAN);
	assert_usage("n1", USAGE_CPU, 0.30);
	assert_usage("n1", USAGE_IOWAIT, 0.15);
	assert_usage("n1", USAGE_RECEIVE, 750);
	assert_usage("n1", USAGE_IO_PRESSURE, 0.4);
	assert_usage("n2", USAGE_CPU, NAN);
	assert_usage("n2", USAGE_RECEIVE, NAN);
	assert_usage("n3", USAGE_CPU, NAN);
	assert_usage("n4", USAGE_CPU, 0);
	assert_usage("n4", USAGE_IOWAIT, 1);
	read_usage(USAGE_MEAN, AT(105));
	assert_usage("n1", USAGE_CPU, 0.525);
	assert_usage("n1", USAGE_IOWAIT, 0.075);
	assert_usage("n1", USAGE_IO_PRESSURE, 0.4);
	assert_usage("n1", USAGE_RECEIVE, NAN);
	assert_usage("n1", USAGE_LOAD, NAN);
	assert_usage("n2", USAGE_CPU, NAN);
	assert_usage("n2", USAGE_LOAD, 3);
	assert_usage("n3", USAGE_CPU, 0.975);
	assert_usage("n5", USAGE_CPU, NAN);
	node_usage_clear(&usages);
}

static void
a_node_is_in_the_phase_that_began_last(void **state)
{
	struct open_phases phases;
	const struct open_phase *at;
	struct err err = { 0 };

	put_job("n1", 10, "start", "first");
	put_job("n1", 20, "start", "second");
	put_job("n1", 30, "start", "third");
	put_job("n1", 40, "stop", "third");
	put_job("n2", 10, "start", "done");
	put_job("n2", 20, "stop", "done");
	/* Three days before; a job that was lost does not hide a newer one. */
	put_job("n3", -3 * 86400, "start", "old");
	for (int i = 0; i < 400; i++) {
		char lost[16];

		snprintf(lost, sizeof(lost), "lost%d", i);
		put_job("n1", -3 * 86400, "start", lost);
	}
	read_it();
	rig_good(
	    open_phases_read(&phases, source, text_of(RIG_PARTITION), &err),
	    &err);
	at = open_phases_find(&phases, text_of("n1"));
	assert_non_null(at);
	assert_true(text_equal(at->label, text_of("run second")));
	assert_int_equal(at->begin_ns, AT(20));
	assert_null(open_phases_find(&phases, text_of("n2")));
	at = open_phases_find(&phases, text_of("n3"));
	assert_non_null(at);
	assert_true(text_equal(at->label, text_of("run old")));
	assert_int_equal(at->begin_ns, AT(-3 * 86400));
	assert_true(phases.labels.count < 110);
	open_phases_clear(&phases);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    rates_are_the_last_one_or_the_mean_of_some_minutes, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(
		    a_node_is_in_the_phase_that_began_last, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
