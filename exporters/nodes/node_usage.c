/*
 * node_usage - what each node of a partition uses now.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/nodes/node_usage.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/phases/read.h"
#include "exporters/samples/series.h"
#include "exporters/samples/unit.h"
#include "exporters/samples/used.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/record/counter_rate.h"

/* A key may have 32 KiB; more of it than this is not shown. */
enum { KEY_SHOWN_MAX = 128, LABELS_MORE = 100 };

static struct text
keep_label(struct open_phases *phases, const struct record *record)
{
	char label[NAME_BYTES_MAX + 1 + KEY_SHOWN_MAX];
	uint32_t bytes = record->name.bytes, more = record->key.bytes;

	if (more > KEY_SHOWN_MAX)
		more = KEY_SHOWN_MAX;
	/* Not within a character. */
	while (more > 0 && more < record->key.bytes &&
	       ((unsigned char)record->key.at[more] & 0xC0) == 0x80)
		more--;
	memcpy(label, record->name.at, bytes);
	if (more > 0) {
		label[bytes++] = ' ';
		memcpy(label + bytes, record->key.at, more);
		bytes += more;
	}
	return string_table_text(
	    &phases->labels, (struct text){ label, bytes });
}

/* Of phases that others of the same node have replaced: a node that died in a
 * phase a hundred times has a hundred that never ended. */
static void
forget_labels(struct open_phases *phases)
{
	struct string_table labels;

	string_table_init(&labels);
	for (uint32_t i = 0; i < phases->nodes.count; i++)
		phases->at[i].label =
		    string_table_text(&labels, phases->at[i].label);
	string_table_clear(&phases->labels);
	phases->labels = labels;
}

static void
take_open(struct open_phases *phases, const struct phases_names *names,
    const struct record *record)
{
	char id[2 * NAME_BYTES_MAX + 1];
	uint32_t before = phases->nodes.count, number;
	struct open_phase *at;

	if (!record->has_time || record->has_end || record->node.bytes == 0 ||
	    record->name.bytes > NAME_BYTES_MAX ||
	    string_table_find(
		&names->ignored, record_whole_name(id, record), &number))
		return;
	number = string_table_add(&phases->nodes, record->node);
	MEMORY_GROW(phases->at, phases->room, number);
	at = &phases->at[number];
	if (number < before && at->begin_ns > record->time_ns)
		return;
	*at =
	    (struct open_phase){ keep_label(phases, record), record->time_ns };
	if (phases->labels.count > 2 * phases->nodes.count + LABELS_MORE)
		forget_labels(phases);
}

static int
read_names_and_phases(struct open_phases *phases, struct phases_names *names,
    struct source *source, struct text partition, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_PHASE);
	struct record record;
	int rc;

	if (phases_names_read(names, source, partition, err) != 0)
		return -1;
	if (source_select(source, SOURCE_OPEN, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		if (record.kind == RECORD_PHASE)
			take_open(phases, names, &record);
	return rc;
}

int
open_phases_read(struct open_phases *phases, struct source *source,
    struct text partition, struct err *err)
{
	enum clock_choice choice = source_clock(source)->choice;
	struct phases_names names;
	int rc;

	open_phases_init(phases);
	source_clock(source)->choice = CLOCK_RAW;
	rc = read_names_and_phases(phases, &names, source, partition, err);
	source_clock(source)->choice = choice;
	phases_names_clear(&names);
	return rc;
}

void
open_phases_init(struct open_phases *phases)
{
	*phases = (struct open_phases){ .room = 0 };
	string_table_init(&phases->nodes);
	string_table_init(&phases->labels);
}

void
open_phases_clear(struct open_phases *phases)
{
	free(phases->at);
	string_table_clear(&phases->nodes);
	string_table_clear(&phases->labels);
	*phases = (struct open_phases){ .room = 0 };
}

const struct open_phase *
open_phases_find(const struct open_phases *phases, struct text node)
{
	uint32_t number;

	return phases->at != NULL &&
		       string_table_find(&phases->nodes, node, &number)
		   ? &phases->at[number]
		   : NULL;
}

/* What the numbers are made of, too. */
enum { CPUS = USAGE_NUMBERS, PHYSICAL };

#define MEAN (1u << USAGE_MEAN)
#define LAST (1u << USAGE_LAST)
/* In this order.  The neighbours of one group are read together, but what is
 * received only when it is known which interfaces are carried. */
static const struct metric {
	const char *group, *name;
	int number;
	unsigned rates; /* that need it */
} metrics[] = {
	{ "cpu", USED_CPUS, CPUS, MEAN | LAST },
	/* First the share that is idle. */
	{ "cpu", USED_IDLE, USAGE_CPU, MEAN | LAST },
	{ "cpu", USED_IOWAIT, USAGE_IOWAIT, MEAN | LAST },
	{ "disk/*", USED_DISK_READ, USAGE_DISK, LAST },
	{ "disk/*", USED_DISK_WRITTEN, USAGE_DISK, LAST },
	{ "gpu/*", USED_GPU, USAGE_GPU, LAST },
	{ "load", "system.cpu.load_average.1m", USAGE_LOAD, MEAN | LAST },
	{ "memory", USED_LIMIT, USAGE_MEMORY_LIMIT, MEAN | LAST },
	{ "memory", USED_MEMORY, USAGE_MEMORY_USED, MEAN | LAST },
	{ "memory", "system.linux.memory.available", USAGE_MEMORY_AVAILABLE,
	    MEAN },
	{ "memory", "system.paging.usage.used", USAGE_PAGING_USED, MEAN },
	{ "network/*", USED_PHYSICAL, PHYSICAL, LAST },
	{ "network/*", USED_RECEIVED, USAGE_RECEIVE, LAST },
	{ "pressure", "system.linux.pressure.cpu.some", USAGE_CPU_PRESSURE,
	    MEAN },
	{ "pressure", "system.linux.pressure.memory.some",
	    USAGE_MEMORY_PRESSURE, MEAN },
	{ "pressure", "system.linux.pressure.io.some", USAGE_IO_PRESSURE,
	    MEAN | LAST },
};
enum { METRICS = sizeof(metrics) / sizeof(*metrics) };

/* What is known of a series. */
struct known {
	uint32_t node; /* its number + 1; 0: none */
	uint8_t metric;
	bool is_left_out;
	double value;   /* of a gauge the last one, of a counter the increase */
	double seconds; /* in which it increased; 0: unknown */
	double high;    /* the greatest rate */
};

struct reading {
	struct node_usages *usages;
	double *cpus; /* by node; NaN: unknown */
	uint32_t cpus_room;
	struct used_carried carried;
	struct known *series;
	uint32_t series_room;
};

static struct node_usage
unknown(void)
{
	struct node_usage usage;

	for (int i = 0; i < USAGE_NUMBERS; i++)
		usage.numbers[i] = NAN;
	return usage;
}

static uint32_t
number_of_node(struct reading *reading, struct text name)
{
	struct node_usages *usages = reading->usages;
	uint32_t before = usages->nodes.count;
	uint32_t number = string_table_add(&usages->nodes, name);

	if (number < before)
		return number;
	MEMORY_GROW(usages->at, usages->room, number);
	usages->at[number] = unknown();
	MEMORY_GROW(reading->cpus, reading->cpus_room, number);
	reading->cpus[number] = NAN;
	return number;
}

/* ---- points ---- */

/* Which of metrics[from] to metrics[to - 1] it is; `to`: none. */
static int
find_metric(int from, int to, struct text name)
{
	while (from < to && !text_equal(text_of(metrics[from].name), name))
		from++;
	return from;
}

static void
begin_series(struct reading *reading, struct known *known, int metric,
    const struct series_point *point)
{
	known->node = number_of_node(reading, point->node) + 1;
	known->metric = (uint8_t)metric;
	known->is_left_out = metrics[metric].number == USAGE_RECEIVE &&
			     used_carried_has(&reading->carried, point);
	known->value = point->counter ? 0 : NAN;
}

/* The points of a series come in the order of time: steps that add up
 * (USAGE_MEAN), or intervals of which the last one counts. */
static void
take(struct reading *reading, int from, int to, enum node_usage_rate rate,
    const struct series_point *point)
{
	double value = counter_rate_number(&point->last);
	int metric;
	struct known *known;

	if (point->number >= reading->series_room)
		MEMORY_GROW_ZERO(
		    reading->series, reading->series_room, point->number);
	known = &reading->series[point->number];
	if (known->node == 0) {
		metric = find_metric(from, to, point->metric);
		if (metric == to)
			return;
		begin_series(reading, known, metric, point);
	}
	if (!point->counter) {
		if (metrics[known->metric].number == PHYSICAL)
			used_carried_take(&reading->carried, point, value);
		if (!isnan(value))
			known->value = value;
	} else if (point->seconds > 0) {
		struct text shown;
		double scale = unit_scale(point->unit, &shown);

		if (rate == USAGE_LAST)
			known->value = known->seconds = known->high = 0;
		known->high = fmax(known->high, point->high * scale);
		known->value += point->increase * scale;
		known->seconds += point->seconds;
	}
}

/* The metric is complete. */
static void
put(struct reading *reading, int number, const struct known *known)
{
	double *numbers = reading->usages->at[known->node - 1].numbers;
	double *cpus = &reading->cpus[known->node - 1];
	double rate = known->value / known->seconds;

	switch (number) {
	case CPUS: *cpus = known->value > 0 ? known->value : NAN; break;
	case USAGE_CPU:
	case USAGE_IOWAIT:
		if (used_is_possible(known->high, *cpus))
			numbers[number] = rate / *cpus;
		break;
	case USAGE_CPU_PRESSURE:
	case USAGE_MEMORY_PRESSURE:
	case USAGE_IO_PRESSURE: numbers[number] = rate; break;
	case USAGE_RECEIVE:
	case USAGE_DISK:
		if (!isnan(rate) && !known->is_left_out)
			numbers[number] = isnan(numbers[number])
					      ? rate
					      : numbers[number] + rate;
		break;
	case USAGE_GPU:
		numbers[number] = fmax(numbers[number], known->value);
		break;
	case PHYSICAL: break;
	default: numbers[number] = known->value;
	}
}

/* Of 1; beyond it are only edges of time.  NaN stays. */
static double
share(double part)
{
	return part < 0 ? 0 : part > 1 ? 1 : part;
}

/* All metrics are complete. */
static void
finish(struct node_usage *usage)
{
	double *numbers = usage->numbers;

	numbers[USAGE_CPU] =
	    used_share(1, numbers[USAGE_CPU], numbers[USAGE_IOWAIT]);
	for (int i = USAGE_IOWAIT; i <= USAGE_IO_PRESSURE; i++)
		numbers[i] = share(numbers[i]);
}

/* ---- reading ---- */

static struct series_query
make_query(struct text group, struct text names, enum node_usage_rate rate,
    int64_t now_ns)
{
	struct series_query query = { .group = group, .metric = names };

	if (rate == USAGE_MEAN) {
		query.from_ns = now_ns - NODE_USAGE_MEAN_NS;
		query.to_ns = now_ns;
		query.step_ns = NODE_USAGE_MEAN_NS;
	} else {
		query.from_ns = now_ns - NODE_USAGE_LAST_NS;
		query.to_ns = TIME_MAX_NS;
		query.step_ns = NS_PER_SECOND;
		query.nothing_before = query.nothing_behind = true;
		query.intervals = true;
	}
	return query;
}

/* Those that are read together with the first one. */
static int
end_of_group(int from)
{
	int to = from + 1;

	while (to < METRICS && metrics[to].number != USAGE_RECEIVE &&
	       strcmp(metrics[to].group, metrics[from].group) == 0)
		to++;
	return to;
}

/* False: none of them is needed. */
static bool
put_names(char *names, size_t room, int from, int to, enum node_usage_rate rate)
{
	size_t used = 0;

	names[0] = '\0';
	for (int i = from; i < to; i++)
		if ((metrics[i].rates >> rate & 1) != 0)
			used += (size_t)snprintf(
			    names + used, room - used, "%s ", metrics[i].name);
	assert(used < room);
	return used > 0;
}

static int
read_group(struct reading *reading, int from, int to, enum node_usage_rate rate,
    struct series *series, int64_t now_ns, struct err *err)
{
	char names[256];
	struct series_query query;
	struct series_point point;
	int rc;

	if (!put_names(names, sizeof(names), from, to, rate))
		return 0;
	query = make_query(
	    text_of(metrics[from].group), text_of(names), rate, now_ns);
	series_forget(series);
	rc = series_select(series, &query, err);
	while (rc == 0 && (rc = series_next(series, &point, err)) > 0) {
		take(reading, from, to, rate, &point);
		rc = 0;
	}
	for (int k = from; rc == 0 && k < to; k++)
		for (uint32_t i = 0; i < reading->series_room; i++)
			if (reading->series[i].node > 0 &&
			    reading->series[i].metric == k)
				put(reading, metrics[k].number,
				    &reading->series[i]);
	free(reading->series);
	reading->series = NULL;
	reading->series_room = 0;
	return rc;
}

int
node_usage_read(struct node_usages *usages, struct source *source,
    struct text partition, enum node_usage_rate rate, int64_t now_ns,
    struct err *err)
{
	enum clock_choice choice = source_clock(source)->choice;
	struct reading reading = { .usages = usages };
	struct series *series = NULL;
	int rc;

	node_usage_init(usages);
	used_carried_init(&reading.carried);
	if (rate == USAGE_LAST)
		source_clock(source)->choice = CLOCK_RAW;
	rc = series_open(&series, source, partition, err);
	for (int from = 0, to; rc == 0 && from < METRICS; from = to) {
		to = end_of_group(from);
		rc = read_group(&reading, from, to, rate, series, now_ns, err);
	}
	series_close(&series);
	source_clock(source)->choice = choice;
	for (uint32_t i = 0; i < usages->nodes.count; i++)
		finish(&usages->at[i]);
	free(reading.cpus);
	used_carried_clear(&reading.carried);
	return rc;
}

void
node_usage_init(struct node_usages *usages)
{
	*usages = (struct node_usages){ .room = 0 };
	string_table_init(&usages->nodes);
}

void
node_usage_clear(struct node_usages *usages)
{
	free(usages->at);
	string_table_clear(&usages->nodes);
	*usages = (struct node_usages){ .room = 0 };
}

struct node_usage
node_usage_of(const struct node_usages *usages, struct text node)
{
	uint32_t number;

	return usages->at != NULL &&
		       string_table_find(&usages->nodes, node, &number)
		   ? usages->at[number]
		   : unknown();
}
