/*
 * metrics_node_families - the metrics of nodes, and their samples.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/metrics/families.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/metrics/family_samples.h"
#include "proto/base/memory.h"

/* NaN: unknown; then there is no sample. */
struct node_family {
	struct exposition_family family;
	double (*value)(const struct node_state *node);
};

static double
heard_of(const struct node_state *node)
{
	return seconds(node->heard_ns);
}

static double
received_of(const struct node_state *node)
{
	return node->received_ns == INT64_MIN ? NAN
					      : seconds(node->received_ns);
}

static double
state_of(const struct node_state *node)
{
	return node->condition;
}

static double
spool_of(const struct node_state *node)
{
	return node->spool;
}

static double
clock_of(const struct node_state *node)
{
	return node->clock_ns / 1e9;
}

static const struct node_family node_families[] = {
	{ { "poolscope_node_heard_timestamp_seconds", EXPOSITION_GAUGE,
	      "seconds",
	      "When the node made its newest record, by the aggregator's "
	      "clock." },
	    heard_of },
	{ { "poolscope_node_received_timestamp_seconds", EXPOSITION_GAUGE,
	      "seconds",
	      "When the aggregator received the last record of the node." },
	    received_of },
	{ { "poolscope_node_state", EXPOSITION_GAUGE, "",
	      "0 live, 1 late, 2 silent, 3 gone." },
	    state_of },
	{ { "poolscope_node_spool_bytes", EXPOSITION_GAUGE, "bytes",
	      "What the agent of the node has not sent." },
	    spool_of },
	{ { "poolscope_node_clock_offset_seconds", EXPOSITION_GAUGE, "seconds",
	      "How far the aggregator's clock is ahead of the node's." },
	    clock_of },
};

enum { NODE_FAMILIES = sizeof(node_families) / sizeof(*node_families) };

static const struct exposition_family usage_families[] = {
	[USAGE_CPU] = { "system_cpu_utilization_ratio", EXPOSITION_GAUGE,
	    "ratio",
	    "Share of the processors that did something in the last 5 min." },
	[USAGE_IOWAIT] = { "system_cpu_iowait_ratio", EXPOSITION_GAUGE, "ratio",
	    "Share of the processors that waited for I/O in the last 5 min." },
	[USAGE_LOAD] = { "system_cpu_load_average_1m", EXPOSITION_GAUGE, "",
	    "Threads that run or wait to run, of the last minute." },
	[USAGE_MEMORY_LIMIT] = { "system_memory_limit_bytes", EXPOSITION_GAUGE,
	    "bytes", "Memory of the node." },
	[USAGE_MEMORY_USED] = { "system_memory_usage_bytes", EXPOSITION_GAUGE,
	    "bytes", "Used memory, without buffers and caches." },
	[USAGE_MEMORY_AVAILABLE] = { "system_linux_memory_available_bytes",
	    EXPOSITION_GAUGE, "bytes",
	    "Memory that programs can get without swapping." },
	[USAGE_PAGING_USED] = { "system_paging_usage_bytes", EXPOSITION_GAUGE,
	    "bytes", "Used swap space." },
	[USAGE_CPU_PRESSURE] = { "system_linux_pressure_cpu_ratio",
	    EXPOSITION_GAUGE, "ratio",
	    "Share of the last 5 min in which a process waited for a "
	    "processor." },
	[USAGE_MEMORY_PRESSURE] = { "system_linux_pressure_memory_ratio",
	    EXPOSITION_GAUGE, "ratio",
	    "Share of the last 5 min in which a process waited for memory." },
	[USAGE_IO_PRESSURE] = { "system_linux_pressure_io_ratio",
	    EXPOSITION_GAUGE, "ratio",
	    "Share of the last 5 min in which a process waited for I/O." },
};
enum { USAGE_FAMILIES = sizeof(usage_families) / sizeof(*usage_families) };

enum { FAMILIES = NODE_FAMILIES + USAGE_FAMILIES };

/* NaN: there is none.  Families from node_families on are those of usage. */
static void
find_values(const struct metrics_pool *pool, const struct node_state *node,
    double values[static FAMILIES])
{
	const struct node_usage usage =
	    node_usage_of(now_usages(pool->now), node->name);

	for (size_t i = 0; i < NODE_FAMILIES; i++)
		values[i] = node_families[i].value(node);
	for (size_t i = 0; i < USAGE_FAMILIES; i++)
		values[NODE_FAMILIES + i] = usage.numbers[i];
}

uint32_t
metrics_families_count_node(const struct metrics_pool *pool, uint32_t place)
{
	double values[FAMILIES];
	uint32_t count = 0;

	find_values(pool, pool->nodes[place], values);
	for (size_t i = 0; i < FAMILIES; i++)
		count += !isnan(values[i]);
	return count;
}

static void
put_pool_nodes(struct exposition *exposition, const struct metrics_pool *pool,
    size_t family, const double *values)
{
	struct exposition_label partition =
	    label("partition", now_partition(pool->now)->name);

	for (uint32_t i = 0; i < pool->shown; i++)
		if (!isnan(values[i * FAMILIES + family]))
			put(exposition, "", partition,
			    label("node", pool->nodes[i]->name), none,
			    values[i * FAMILIES + family]);
}

void
metrics_families_nodes(struct exposition *exposition,
    const struct metrics_pool *pools, uint32_t count)
{
	double *values, *at;
	uint32_t nodes = 0;

	for (uint32_t k = 0; k < count; k++)
		nodes += pools[k].shown;
	if (nodes == 0)
		return;
	values = at = memory_alloc(nodes * FAMILIES * sizeof(*values));
	for (uint32_t k = 0; k < count; k++)
		for (uint32_t i = 0; i < pools[k].shown; i++, at += FAMILIES)
			find_values(&pools[k], pools[k].nodes[i], at);
	for (size_t i = 0; i < FAMILIES; i++) {
		exposition_begin(exposition,
		    i < NODE_FAMILIES ? &node_families[i].family
				      : &usage_families[i - NODE_FAMILIES]);
		at = values;
		for (uint32_t k = 0; k < count; k++) {
			put_pool_nodes(exposition, &pools[k], i, at);
			at += pools[k].shown * FAMILIES;
		}
	}
	free(values);
}
