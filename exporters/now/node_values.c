/*
 * node_values - the last values of a few metrics of each node.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/now/node_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/samples/series.h"
#include "exporters/samples/unit.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/record/value.h"

/* Each is read by itself: one metric is in memory at a time. */
enum number { CPUS, IDLE, IOWAIT, PHYSICAL, RECEIVE, PRESSURE, NUMBERS };
static const struct metric {
	const char *group, *name;
} metrics[NUMBERS] = {
	[CPUS] = { "cpu", "system.cpu.logical.count" },
	[IDLE] = { "cpu", "system.cpu.time.idle" },
	[IOWAIT] = { "cpu", "system.cpu.time.iowait" },
	[PHYSICAL] = { "network/*", "system.network.physical" },
	[RECEIVE] = { "network/*", "system.network.io.receive" },
	[PRESSURE] = { "pressure", "system.linux.pressure.io.some" },
};

/* The last value of a series. */
struct last {
	uint32_t node; /* its number + 1; 0: none */
	bool is_left_out;
	float value;
};

struct reading {
	struct node_values *values;
	float *cpus; /* by node; NaN: unknown */
	uint32_t cpus_room;
	/* Interfaces that others carry, whose bytes are counted there: node,
	 * NUL, group. */
	struct string_table carried;
	struct last *lasts; /* by series */
	uint32_t last_room;
};

static const struct node_values_of unknown = { NAN, NAN, NAN, NAN };

static uint32_t
number_of(struct reading *reading, struct text name)
{
	struct node_values *values = reading->values;
	uint32_t before = values->nodes.count;
	uint32_t number = string_table_add(&values->nodes, name);

	if (number < before)
		return number;
	values->at =
	    memory_grow(values->at, &values->room, number, sizeof(*values->at));
	values->at[number] = unknown;
	reading->cpus = memory_grow(
	    reading->cpus, &reading->cpus_room, number, sizeof(*reading->cpus));
	reading->cpus[number] = NAN;
	return number;
}

static struct text
interface_key(
    char to[static 2 * NAME_BYTES_MAX + 1], const struct series_point *point)
{
	memcpy(to, point->node.at, point->node.bytes);
	to[point->node.bytes] = '\0';
	memcpy(to + point->node.bytes + 1, point->group.at, point->group.bytes);
	return (struct text){ to, point->node.bytes + 1 + point->group.bytes };
}

static bool
is_carried(const struct reading *reading, const struct series_point *point)
{
	char key[2 * NAME_BYTES_MAX + 1];
	uint32_t number;

	return string_table_find(
	    &reading->carried, interface_key(key, point), &number);
}

/* Points of a series come in the order of time. */
static void
take(
    struct reading *reading, enum number what, const struct series_point *point)
{
	double value = point->counter
			   ? point->mean * unit_scale(point->unit,
					       &(struct text){ NULL, 0 })
			   : point->high;
	struct last *last;

	if (point->number >= reading->last_room)
		reading->lasts = memory_grow_zero(reading->lasts,
		    &reading->last_room, point->number, sizeof(*last));
	last = &reading->lasts[point->number];
	if (last->node == 0) {
		last->node = number_of(reading, point->node) + 1;
		last->is_left_out =
		    what == RECEIVE && is_carried(reading, point);
	}
	if (what == PHYSICAL && !(value > 0)) {
		char key[2 * NAME_BYTES_MAX + 1];

		string_table_add(&reading->carried, interface_key(key, point));
	}
	if (!isnan(value))
		last->value = (float)value;
}

static void
add(float *to, float value)
{
	*to = isnan(*to) ? value : *to + value;
}

/* Idle processors include those that wait for a disk, as in usage. */
static void
put(struct reading *reading, enum number what, const struct last *last)
{
	struct node_values_of *to = &reading->values->at[last->node - 1];
	float *cpus = &reading->cpus[last->node - 1];

	switch (what) {
	case CPUS: *cpus = last->value > 0 ? last->value : NAN; break;
	case IDLE: to->cpu = fmaxf(0, 1 - last->value / *cpus); break;
	case IOWAIT:
		to->iowait = last->value / *cpus;
		to->cpu = fmaxf(0, to->cpu - to->iowait);
		break;
	case RECEIVE: add(&to->receive, last->value); break;
	case PRESSURE: to->pressure = last->value; break;
	default: break;
	}
}

static int
read_metric(struct reading *reading, enum number what, struct series *series,
    int64_t now_ns, struct err *err)
{
	const struct series_query query = {
		.group = text_of(metrics[what].group),
		.metric = text_of(metrics[what].name),
		.from_ns = now_ns - NODE_VALUES_NS,
		.to_ns = TIME_MAX_NS,
		.step_ns = NS_PER_SECOND,
		.nothing_before = true,
		.nothing_behind = true,
		.intervals = true,
	};
	struct series_point point;
	int rc;

	series_forget(series);
	rc = series_select(series, &query, err);
	while (rc == 0 && (rc = series_next(series, &point, err)) > 0) {
		take(reading, what, &point);
		rc = 0;
	}
	for (uint32_t i = 0; rc == 0 && i < reading->last_room; i++)
		if (reading->lasts[i].node > 0 &&
		    !reading->lasts[i].is_left_out)
			put(reading, what, &reading->lasts[i]);
	free(reading->lasts);
	reading->lasts = NULL;
	reading->last_room = 0;
	return rc;
}

void
node_values_init(struct node_values *values)
{
	*values = (struct node_values){ .room = 0 };
	string_table_init(&values->nodes);
}

void
node_values_clear(struct node_values *values)
{
	free(values->at);
	string_table_clear(&values->nodes);
	*values = (struct node_values){ .room = 0 };
}

int
node_values_read(struct node_values *values, struct source *source,
    struct text partition, int64_t now_ns, struct err *err)
{
	enum clock_choice choice = source_clock(source)->choice;
	struct reading reading = { .values = values };
	struct series *series = NULL;
	int rc;

	node_values_init(values);
	string_table_init(&reading.carried);
	source_clock(source)->choice = CLOCK_RAW;
	rc = series_open(&series, source, partition, err);
	for (int i = 0; rc == 0 && i < NUMBERS; i++)
		rc = read_metric(&reading, (enum number)i, series, now_ns, err);
	series_close(&series);
	source_clock(source)->choice = choice;
	free(reading.cpus);
	string_table_clear(&reading.carried);
	return rc;
}

struct node_values_of
node_values_find(const struct node_values *values, struct text node)
{
	uint32_t number;

	return values->at != NULL &&
		       string_table_find(&values->nodes, node, &number)
		   ? values->at[number]
		   : unknown;
}
