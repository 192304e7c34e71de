/*
 * metrics_usage - what the nodes of a partition used in the last minutes.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/metrics/usage.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/samples/series.h"
#include "proto/base/memory.h"

enum usage {
	CPU,
	IOWAIT,
	LOAD,
	MEMORY_LIMIT,
	MEMORY_USED,
	MEMORY_AVAILABLE,
	PAGING_USED,
	CPU_PRESSURE,
	MEMORY_PRESSURE,
	IO_PRESSURE,
};

const struct exposition_family metrics_usage_families[METRICS_USAGES] = {
	[CPU] = { "system_cpu_utilization_ratio", EXPOSITION_GAUGE, "ratio",
	    "Share of the processors that was not idle in the last 5 min." },
	[IOWAIT] = { "system_cpu_iowait_ratio", EXPOSITION_GAUGE, "ratio",
	    "Share of the processors that waited for I/O in the last 5 min." },
	[LOAD] = { "system_cpu_load_average_1m", EXPOSITION_GAUGE, "",
	    "Threads that run or wait to run, of the last minute." },
	[MEMORY_LIMIT] = { "system_memory_limit_bytes", EXPOSITION_GAUGE,
	    "bytes", "Memory of the node." },
	[MEMORY_USED] = { "system_memory_usage_bytes", EXPOSITION_GAUGE,
	    "bytes", "Used memory, without buffers and caches." },
	[MEMORY_AVAILABLE] = { "system_linux_memory_available_bytes",
	    EXPOSITION_GAUGE, "bytes",
	    "Memory that programs can get without swapping." },
	[PAGING_USED] = { "system_paging_usage_bytes", EXPOSITION_GAUGE,
	    "bytes", "Used swap space." },
	[CPU_PRESSURE] = { "system_linux_pressure_cpu_ratio", EXPOSITION_GAUGE,
	    "ratio",
	    "Share of the last 5 min in which a process waited for a "
	    "processor." },
	[MEMORY_PRESSURE] = { "system_linux_pressure_memory_ratio",
	    EXPOSITION_GAUGE, "ratio",
	    "Share of the last 5 min in which a process waited for memory." },
	[IO_PRESSURE] = { "system_linux_pressure_io_ratio", EXPOSITION_GAUGE,
	    "ratio",
	    "Share of the last 5 min in which a process waited for I/O." },
};

/* What they are made of; the shares of processors are of `COUNT` of them. */
enum { COUNT = METRICS_USAGES, MADE_OF };

static const struct {
	const char *group, *metric;
	int of;
	double second; /* units of a counter in a second of one processor */
} sampled[] = {
	{ "cpu", "system.cpu.time.idle", CPU, 100 },
	{ "cpu", "system.cpu.time.iowait", IOWAIT, 100 },
	{ "cpu", "system.cpu.logical.count", COUNT, 0 },
	{ "load", "system.cpu.load_average.1m", LOAD, 0 },
	{ "memory", "system.memory.limit", MEMORY_LIMIT, 0 },
	{ "memory", "system.memory.usage.used", MEMORY_USED, 0 },
	{ "memory", "system.linux.memory.available", MEMORY_AVAILABLE, 0 },
	{ "memory", "system.paging.usage.used", PAGING_USED, 0 },
	{ "pressure", "system.linux.pressure.cpu.some", CPU_PRESSURE, 1e6 },
	{ "pressure", "system.linux.pressure.memory.some", MEMORY_PRESSURE,
	    1e6 },
	{ "pressure", "system.linux.pressure.io.some", IO_PRESSURE, 1e6 },
};

/* Of a node, while it is read. */
struct made_of {
	double last[MADE_OF]; /* gauges */
	double increase[MADE_OF], seconds[MADE_OF];
};

struct reading {
	struct metrics_usages *usages;
	struct made_of *at;
	uint32_t room;
};

static struct made_of *
node_of(struct reading *reading, struct text name)
{
	struct string_table *nodes = &reading->usages->nodes;
	uint32_t before = nodes->count, number = string_table_add(nodes, name);

	reading->at = memory_grow(
	    reading->at, &reading->room, number, sizeof(*reading->at));
	if (number == before) {
		reading->at[number] = (struct made_of){ .seconds = { 0 } };
		for (int i = 0; i < MADE_OF; i++)
			reading->at[number].last[i] = NAN;
	}
	return &reading->at[number];
}

static double
number_of(const struct value *value)
{
	switch (value->type) {
	case VALUE_INT: return (double)value->is.i;
	case VALUE_UINT: return (double)value->is.u;
	case VALUE_FLOAT: return value->is.f;
	default: return NAN;
	}
}

static int
read_metric(struct reading *reading, struct series *series, size_t i,
    int64_t now_ns, struct err *err)
{
	const struct series_query query = { .group = text_of(sampled[i].group),
		.metric = text_of(sampled[i].metric),
		.from_ns = now_ns - METRICS_USAGE_NS,
		.to_ns = now_ns,
		.step_ns = METRICS_USAGE_NS };
	struct series_point point;
	int rc = series_select(series, &query, err), of = sampled[i].of;

	if (rc != 0)
		return -1;
	while ((rc = series_next(series, &point, err)) > 0) {
		struct made_of *node = node_of(reading, point.node);

		/* In the order of time. */
		node->last[of] = number_of(&point.last);
		if (sampled[i].second > 0 && point.seconds > 0) {
			node->increase[of] +=
			    point.increase / sampled[i].second;
			node->seconds[of] += point.seconds;
		}
	}
	return rc;
}

/* Of 1; beyond it are only edges of time. */
static double
share(double part)
{
	return part < 0 ? 0 : part > 1 ? 1 : part;
}

static struct metrics_usage
make_usage(const struct made_of *node)
{
	struct metrics_usage usage;

	for (int i = 0; i < METRICS_USAGES; i++)
		usage.numbers[i] = node->last[i];
	for (size_t i = 0; i < sizeof(sampled) / sizeof(*sampled); i++) {
		int of = sampled[i].of;
		bool is_cpu = of == CPU || of == IOWAIT;
		double rate = node->increase[of] / node->seconds[of];

		if (sampled[i].second <= 0)
			continue;
		usage.numbers[of] =
		    share(is_cpu ? rate / node->last[COUNT] : rate);
		if (of == CPU)
			usage.numbers[of] = 1 - usage.numbers[of];
	}
	return usage;
}

int
metrics_usage_read(struct metrics_usages *usages, struct source *source,
    struct text partition, int64_t now_ns, struct err *err)
{
	struct reading reading = { .usages = usages };
	struct series *series = NULL;
	int rc;

	*usages = (struct metrics_usages){ .room = 0 };
	string_table_init(&usages->nodes);
	rc = series_open(&series, source, partition, err);
	for (size_t i = 0; rc == 0 && i < sizeof(sampled) / sizeof(*sampled);
	     i++)
		rc = read_metric(&reading, series, i, now_ns, err);
	series_close(&series);
	for (uint32_t i = 0; rc == 0 && i < usages->nodes.count; i++) {
		usages->at = memory_grow(
		    usages->at, &usages->room, i, sizeof(*usages->at));
		usages->at[i] = make_usage(&reading.at[i]);
	}
	free(reading.at);
	return rc;
}

void
metrics_usage_clear(struct metrics_usages *usages)
{
	free(usages->at);
	string_table_clear(&usages->nodes);
	*usages = (struct metrics_usages){ .room = 0 };
}

const struct metrics_usage *
metrics_usage_of(const struct metrics_usages *usages, struct text node)
{
	uint32_t number;

	if (usages->at == NULL ||
	    !string_table_find(&usages->nodes, node, &number))
		return NULL;
	return &usages->at[number];
}
