/*
 * node_values, open_phases - what a node does now.  The numbers are worked out
 * by hand.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/now/node_values.h"

#include "exporters/now/open_phases.h"
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
		numbers[i] = UNKNOWN;
		for (int k = 0; k < count; k++)
			if (strcmp(of->columns[i].name, metrics[k]) == 0)
				numbers[i] = values[k];
	}
	numbers[0] = 1; /* the boot that counters count from */
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
put_network(const char *node, const char *group, double seconds, int64_t bytes,
    int64_t physical)
{
	static const char *const metrics[] = { "system.network.io.receive",
		"system.network.physical" };

	put_metrics(node, group, seconds, 2, metrics,
	    (const int64_t[]){ bytes, physical });
}

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
		"network/br0", "network/eth1", "pressure" };

	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		assert_true(metric_group_define(&rig.batch,
		    metric_group_find(text_of(groups[i])), text_of(groups[i])));
}

static void
assert_near(double wanted, float got)
{
	assert_true(fabs(wanted - (double)got) < 1e-6);
}

/*
 * n1 has 4 processors.  From 80 to 90 it is idle for 10 of 40 s, from 90 to 100
 * for 22 s, and waits for a disk for 6 s: cpu (40 - 22 - 6) / 40 = 30 %, iowait
 * 15 %.  In these 10 s eth0 received 5,000 bytes and eth1 2,500, which is 750
 * bytes a second; br0 is carried by them.  A task waited for a disk for 4 s.
 * n2 has one sample, and the last one of n3 is more than two minutes old.
 */
static void
the_last_values_are_those_between_the_last_samples(void **state)
{
	struct node_values values;
	struct node_values_of of;
	struct err err = { 0 };

	(void)state;
	define_all();
	put_cpu("n3", -90, 0, 0);
	put_cpu("n3", -80, 100, 0);
	put_cpu("n1", 80, 0, 0);
	put_cpu("n1", 90, 1000, 0);
	put_cpu("n1", 100, 3200, 600);
	put_cpu("n2", 95, 7, 7);
	for (int i = 0; i < 2; i++) {
		put_network("n1", "network/eth0", 90 + 10 * i, 5000 * i, 1);
		put_network("n1", "network/eth1", 90 + 10 * i, 2500 * i, 1);
		put_network("n1", "network/br0", 90 + 10 * i, 7500 * i, 0);
		put_pressure("n1", 90 + 10 * i, 4000000 * i);
	}
	read_it();
	rig_good(node_values_read(
		     &values, source, text_of(RIG_PARTITION), AT(105), &err),
	    &err);
	of = node_values_find(&values, text_of("n1"));
	assert_near(0.30, of.cpu);
	assert_near(0.15, of.iowait);
	assert_near(750, of.receive);
	assert_near(0.4, of.pressure);
	of = node_values_find(&values, text_of("n2"));
	assert_true(isnan(of.cpu) && isnan(of.receive));
	of = node_values_find(&values, text_of("n3"));
	assert_true(isnan(of.cpu) && isnan(of.pressure));
	node_values_clear(&values);
}

static void
a_node_is_in_the_phase_that_began_last(void **state)
{
	struct open_phases phases;
	const struct open_phase *at;
	struct err err = { 0 };

	(void)state;
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
		    the_last_values_are_those_between_the_last_samples, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(
		    a_node_is_in_the_phase_that_began_last, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
