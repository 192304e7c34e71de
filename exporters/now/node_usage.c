/*
 * node_usage - what the nodes of a partition used in the last minutes.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/now/node_usage.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/samples/series.h"
#include "proto/base/memory.h"

/* What they are made of; the shares of processors are of `COUNT` of them. */
enum { COUNT = USAGE_NUMBERS, MADE_OF };

static const struct {
	const char *group, *metric;
	int of;
	double second; /* units of a counter in a second of one processor */
} sampled[] = {
	{ "cpu", "system.cpu.time.idle", USAGE_CPU, 100 },
	{ "cpu", "system.cpu.time.iowait", USAGE_IOWAIT, 100 },
	{ "cpu", "system.cpu.logical.count", COUNT, 0 },
	{ "load", "system.cpu.load_average.1m", USAGE_LOAD, 0 },
	{ "memory", "system.memory.limit", USAGE_MEMORY_LIMIT, 0 },
	{ "memory", "system.memory.usage.used", USAGE_MEMORY_USED, 0 },
	{ "memory", "system.linux.memory.available", USAGE_MEMORY_AVAILABLE,
	    0 },
	{ "memory", "system.paging.usage.used", USAGE_PAGING_USED, 0 },
	{ "pressure", "system.linux.pressure.cpu.some", USAGE_CPU_PRESSURE,
	    1e6 },
	{ "pressure", "system.linux.pressure.memory.some",
	    USAGE_MEMORY_PRESSURE, 1e6 },
	{ "pressure", "system.linux.pressure.io.some", USAGE_IO_PRESSURE, 1e6 },
};

/* Of a node, while it is read. */
struct made_of {
	double last[MADE_OF]; /* gauges */
	double increase[MADE_OF], seconds[MADE_OF];
};

struct reading {
	struct node_usages *usages;
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
		.from_ns = now_ns - NODE_USAGE_NS,
		.to_ns = now_ns,
		.step_ns = NODE_USAGE_NS };
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

static struct node_usage
make_usage(const struct made_of *node)
{
	struct node_usage usage;

	for (int i = 0; i < USAGE_NUMBERS; i++)
		usage.numbers[i] = node->last[i];
	for (size_t i = 0; i < sizeof(sampled) / sizeof(*sampled); i++) {
		int of = sampled[i].of;
		bool is_cpu = of == USAGE_CPU || of == USAGE_IOWAIT;
		double rate = node->increase[of] / node->seconds[of];

		if (sampled[i].second <= 0)
			continue;
		usage.numbers[of] =
		    share(is_cpu ? rate / node->last[COUNT] : rate);
		if (of == USAGE_CPU)
			usage.numbers[of] = 1 - usage.numbers[of];
	}
	return usage;
}

int
node_usage_read(struct node_usages *usages, struct source *source,
    struct text partition, int64_t now_ns, struct err *err)
{
	struct reading reading = { .usages = usages };
	struct series *series = NULL;
	int rc;

	*usages = (struct node_usages){ .room = 0 };
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
node_usage_clear(struct node_usages *usages)
{
	free(usages->at);
	string_table_clear(&usages->nodes);
	*usages = (struct node_usages){ .room = 0 };
}

const struct node_usage *
node_usage_of(const struct node_usages *usages, struct text node)
{
	uint32_t number;

	if (usages->at == NULL ||
	    !string_table_find(&usages->nodes, node, &number))
		return NULL;
	return &usages->at[number];
}
