/*
 * unit - readable units.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/record/counter_rate.h"

void
cpus_init(struct cpus *cpus)
{
	*cpus = (struct cpus){ .of = NULL };
	string_table_init(&cpus->nodes);
}

void
cpus_clear(struct cpus *cpus)
{
	for (uint32_t i = 0; i < cpus->nodes.count; i++)
		free(cpus->of[i].at);
	free(cpus->of);
	string_table_clear(&cpus->nodes);
}

uint32_t
cpus_number(struct cpus *cpus, struct text node)
{
	uint32_t number = string_table_add(&cpus->nodes, node);

	MEMORY_GROW_ZERO(cpus->of, cpus->room, number);
	return number;
}

void
cpus_add(struct cpus *cpus, uint32_t number, int64_t time_ns, double count)
{
	struct cpus_of_node *of = &cpus->of[number];

	if (of->count > 0 && of->at[of->count - 1].count == count)
		return;
	*MEMORY_ADD(of->at, of->room, of->count) =
	    (struct cpus_since){ time_ns, count };
}

const struct cpus_of_node *
cpus_find(const struct cpus *cpus, struct text node)
{
	uint32_t number;

	return string_table_find(&cpus->nodes, node, &number) &&
		       cpus->of[number].count > 0
		   ? &cpus->of[number]
		   : NULL;
}

double
cpus_at(const struct cpus_of_node *of, int64_t time_ns)
{
	uint32_t low = 0, high;

	if (of == NULL)
		return NAN;
	for (high = of->count; low < high;) {
		uint32_t middle = low + (high - low) / 2;

		if (of->at[middle].time_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return of->at[low > 0 ? low - 1 : 0].count;
}

bool
cpus_change(const struct cpus *cpus, struct text node)
{
	const struct cpus_of_node *of =
	    cpus != NULL ? cpus_find(cpus, node) : NULL;

	return of != NULL && of->count > 1;
}

#define HOUR_NS (INT64_C(3600) * NS_PER_SECOND)

static const struct scale {
	const char *unit, *shown;
	double factor;
} scales[] = {
	{ "cs", "s", 1e-2 },
	{ "ms", "s", 1e-3 },
	{ "us", "s", 1e-6 },
	{ "ns", "s", 1e-9 },
	{ "kBy", "By", 1e3 },
	{ "KiBy", "By", 1024 },
	{ "MiBy", "By", 1048576 },
	{ "mJ", "J", 1e-3 },
};

double
unit_scale(struct text unit, struct text *shown)
{
	for (size_t i = 0; i < sizeof(scales) / sizeof(*scales); i++)
		if (text_equal(unit, text_of(scales[i].unit))) {
			*shown = text_of(scales[i].shown);
			return scales[i].factor;
		}
	*shown = unit;
	return 1;
}

/* ---- times of processors ---- */

#define CPU_TIME "system.cpu.time."

/* One of each that the agent has. */
static const char *const cpu_times[] = { CPU_TIME "user", CPU_TIME "nice",
	CPU_TIME "system", CPU_TIME "idle", CPU_TIME "iowait",
	CPU_TIME "interrupt", CPU_TIME "softirq", CPU_TIME "steal" };

static bool
asks_for_cpu_times(const struct series_query *query)
{
	if (query->group.bytes > 0 && !text_match(query->group, text_of("cpu")))
		return false;
	/* A list of patterns. */
	if (query->metric.bytes == 0 ||
	    memchr(query->metric.at, ' ', query->metric.bytes) != NULL)
		return true;
	for (size_t i = 0; i < sizeof(cpu_times) / sizeof(*cpu_times); i++)
		if (text_match(query->metric, text_of(cpu_times[i])))
			return true;
	return false;
}

/* `changes`: on some node the number does. */
static int
read_cpus(struct cpus *cpus, struct series *series,
    const struct series_query *query, bool *changes, struct err *err)
{
	uint32_t number = 0, of = UINT32_MAX;
	struct series_point point;
	int rc;

	*changes = false;
	if (series_select(series, query, err) != 0)
		return -1;
	while ((rc = series_next(series, &point, err)) > 0) {
		double count = counter_rate_number(&point.last);

		if (point.count == 0 || !(count > 0))
			continue;
		if (point.number != of)
			number = cpus_number(cpus, point.node);
		of = point.number;
		cpus_add(cpus, number, point.begin_ns, count);
		*changes = *changes || point.low != point.high ||
			   cpus->of[number].count > 1;
	}
	return rc;
}

int
unit_read_cpus(struct cpus *cpus, struct series *series,
    const struct series_query *query, struct err *err)
{
	struct series_query own = *query;
	bool changes;

	if (cpus->nodes.count > 0 || !asks_for_cpu_times(query))
		return 0;
	own.group = text_of("cpu");
	own.metric = text_of("system.cpu.logical.count");
	own.intervals = own.single = false;
	/* Nearly always it does not change, and hours say so. */
	own.step_ns = HOUR_NS;
	if (read_cpus(cpus, series, &own, &changes, err) != 0)
		return -1;
	if (!changes || query->step_ns >= HOUR_NS)
		return 0;
	cpus_clear(cpus);
	cpus_init(cpus);
	own.step_ns = query->step_ns;
	return read_cpus(cpus, series, &own, &changes, err);
}

/* ---- rates ---- */

static bool
begins(struct text text, const char *with)
{
	size_t bytes = strlen(with);

	return text.bytes >= bytes && memcmp(text.at, with, bytes) == 0;
}

static const char *
show_cpu_time(
    const struct series_point *point, const struct cpus *cpus, double *factor)
{
	if (begins(point->group, "cpu/")) { /* of one processor */
		*factor *= 100;
		return "%";
	}
	if (!text_equal(point->group, text_of("cpu")) || cpus == NULL ||
	    cpus->nodes.count == 0)
		return "{cpu}";
	*factor *= 100 / cpus_at(cpus_find(cpus, point->node), point->begin_ns);
	return "%";
}

/* What seconds per second are. */
static const char *
show_time(
    const struct series_point *point, const struct cpus *cpus, double *factor)
{
	static const char *const of_cpus[] = { "container.cpu.time",
		"process.cpu.time", "system.linux.scheduler.run_time" };
	static const char *const of_time[] = { "system.linux.pressure.",
		"container.pressure.", "system.disk.io_time" };

	if (begins(point->metric, CPU_TIME))
		return show_cpu_time(point, cpus, factor);
	for (size_t i = 0; i < sizeof(of_cpus) / sizeof(*of_cpus); i++)
		if (begins(point->metric, of_cpus[i]))
			return "{cpu}";
	for (size_t i = 0; i < sizeof(of_time) / sizeof(*of_time); i++)
		if (begins(point->metric, of_time[i])) {
			*factor *= 100;
			return "%";
		}
	return "1";
}

double
unit_of_point(
    const struct series_point *point, const struct cpus *cpus, char *shown)
{
	struct text unit;
	double factor = unit_scale(point->unit, &unit);
	/* The rate of an unknown unit is one, too. */
	bool per_second = point->counter && unit.bytes > 0;

	if (per_second && text_equal(unit, text_of("s"))) {
		unit = text_of(show_time(point, cpus, &factor));
		per_second = false;
	} else if (per_second && text_equal(unit, text_of("J"))) {
		unit = text_of("W");
		per_second = false;
	}
	if (shown != NULL)
		snprintf(shown, UNIT_SHOWN_BYTES, "%.*s%s",
		    (int)(unit.bytes < NAME_BYTES_MAX ? unit.bytes
						      : NAME_BYTES_MAX),
		    unit.at, per_second ? "/s" : "");
	return factor;
}
