/*
 * stragglers_measured - what was measured on nodes in windows of time.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/samples/series.h"
#include "exporters/samples/unit.h"
#include "exporters/samples/used.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/record/node_list.h"

#define HOUR_NS (3600 * NS_PER_SECOND)
/* The samples next to a window are in it, too; not the hours next to that. */
#define AROUND_NS (120 * NS_PER_SECOND)
#define STEP_NS   (NS_PER_SECOND / 10) /* the finest */
/* A window is measured by steps of a twentieth of it. */
enum { STEPS_OF_A_WINDOW = 20 };

static const struct source_metric {
	const char *group, *name;
	enum measure measure;
} metrics[] = {
	{ "pressure", "system.linux.pressure.cpu.some", MEASURE_CPU_WAIT },
	{ "pressure", "system.linux.pressure.memory.some",
	    MEASURE_MEMORY_WAIT },
	{ "pressure", "system.linux.pressure.io.some", MEASURE_IO_WAIT },
	{ "cpu", "system.cpu.time.steal", MEASURE_STEAL },
	{ "cpu", "system.cpu.time.user", MEASURE_BUSY },
	{ "cpu", "system.cpu.time.nice", MEASURE_BUSY },
	{ "cpu", "system.cpu.time.system", MEASURE_BUSY },
	{ "cpu", "system.cpu.time.interrupt", MEASURE_BUSY },
	{ "cpu", "system.cpu.time.softirq", MEASURE_BUSY },
	{ "cpu", USED_IOWAIT, MEASURE_IOWAIT },
	{ "cpu", USED_IDLE, MEASURE_IDLE },
	{ "cgroup/*", "container.cpu.time.throttled", MEASURE_THROTTLED },
	{ "disk/*", "system.disk.io_time", MEASURE_DISK_BUSY },
	{ "disk/*", "system.disk.operation_time.read", MEASURE_DISK_TIME },
	{ "disk/*", "system.disk.operation_time.write", MEASURE_DISK_TIME },
	{ "disk/*", "system.disk.operations.read", MEASURE_DISK_OPERATIONS },
	{ "disk/*", "system.disk.operations.write", MEASURE_DISK_OPERATIONS },
	{ "disk/*", USED_DISK_READ, MEASURE_DISK_READ },
	{ "network/*", USED_RECEIVED, MEASURE_RECEIVED },
	{ "network/*", "system.network.errors.receive", MEASURE_ERRORS },
	{ "network/*", "system.network.errors.transmit", MEASURE_ERRORS },
	{ "network/*", "system.network.packet.dropped.receive",
	    MEASURE_ERRORS },
	{ "network/*", "system.network.packet.dropped.transmit",
	    MEASURE_ERRORS },
	{ "vmstat", "system.paging.faults.major", MEASURE_MAJOR_FAULTS },
};
enum { METRICS = sizeof(metrics) / sizeof(*metrics) };

struct text
measure_metric(enum measure measure)
{
	for (int i = 0; i < METRICS; i++)
		if (metrics[i].measure == measure)
			return text_of(metrics[i].name);
	return (struct text){ NULL, 0 };
}

/* ---- windows ---- */

void
measured_init(struct measured *measured)
{
	*measured = (struct measured){ .at = NULL };
	string_table_init(&measured->nodes);
}

void
measured_clear(struct measured *measured)
{
	free(measured->at);
	string_table_clear(&measured->nodes);
	*measured = (struct measured){ .at = NULL };
}

uint32_t
measured_add(struct measured *measured, struct text node, int64_t begin_ns,
    int64_t end_ns)
{
	struct measured_window window = { .node = string_table_add(
					      &measured->nodes, node),
		.begin_ns = begin_ns,
		.end_ns = end_ns };

	for (int i = 0; i < MEASURES; i++)
		window.sum[i] = NAN;
	MEMORY_GROW(measured->at, measured->room, measured->count);
	measured->at[measured->count] = window;
	return measured->count++;
}

/* Of what a node has once; agents can leave groups out. */
static const enum measure of_nodes[] = { MEASURE_IDLE, MEASURE_CPU_WAIT,
	MEASURE_IO_WAIT };

double
measured_seconds(const struct measured_window *window)
{
	double seconds = 0;

	for (size_t i = 0; i < sizeof(of_nodes) / sizeof(*of_nodes); i++)
		seconds = fmax(seconds, window->seconds[of_nodes[i]]);
	return seconds;
}

uint32_t
measured_samples(const struct measured_window *window)
{
	uint32_t samples = 0;

	for (size_t i = 0; i < sizeof(of_nodes) / sizeof(*of_nodes); i++)
		if (window->samples[of_nodes[i]] > samples)
			samples = window->samples[of_nodes[i]];
	return samples;
}

/* ---- points ---- */

/* What is the same for all points of a series in one query. */
struct line {
	bool is_known;
	uint32_t first, end; /* of the order: the windows of its node */
	int metric;          /* -1: none */
	double factor;
	bool is_carried;
};

struct reading {
	struct measured *measured;
	uint32_t *order;    /* windows by node and begin */
	uint32_t *first;    /* by node: in the order; one more at the end */
	uint32_t *part_of;  /* by window: the part that reads it; 0: none yet */
	uint32_t part;      /* that is being read; its times may be another's,
			       too */
	struct line *lines; /* by number of the series */
	uint32_t lines_room;
	struct used_carried carried;
};

/* How much of the point lies in the window. */
static double
share_in(const struct series_point *point, const struct measured_window *window)
{
	int64_t from = point->begin_ns > window->begin_ns ? point->begin_ns
							  : window->begin_ns;
	int64_t to =
	    point->end_ns < window->end_ns ? point->end_ns : window->end_ns;

	return from >= to ? 0
			  : (double)(to - from) /
				(double)(point->end_ns - point->begin_ns);
}

static int
metric_of(const struct series_point *point)
{
	for (int i = 0; i < METRICS; i++)
		if (text_equal(point->metric, text_of(metrics[i].name)) &&
		    text_match(text_of(metrics[i].group), point->group))
			return i;
	return -1;
}

static struct line *
line_of(struct reading *reading, const struct series_point *point)
{
	struct line *line;
	struct text shown;
	uint32_t node;

	MEMORY_GROW_ZERO(reading->lines, reading->lines_room, point->number);
	line = &reading->lines[point->number];
	if (line->is_known)
		return line;
	*line = (struct line){ .is_known = true,
		.metric = metric_of(point),
		.factor = unit_scale(point->unit, &shown),
		.is_carried = used_carried_has(&reading->carried, point) };
	if (string_table_find(&reading->measured->nodes, point->node, &node)) {
		line->first = reading->first[node];
		line->end = reading->first[node + 1];
	}
	return line;
}

static void
take(struct reading *reading, const struct line *line,
    const struct series_point *point)
{
	enum measure measure = metrics[line->metric].measure;

	for (uint32_t i = line->first; i < line->end; i++) {
		struct measured_window *window =
		    &reading->measured->at[reading->order[i]];
		double part = share_in(point, window);
		double *sum = &window->sum[measure];

		if (!(part > 0) ||
		    reading->part_of[reading->order[i]] != reading->part)
			continue;
		*sum = (isnan(*sum) ? 0 : *sum) +
		       point->increase * line->factor * part;
		window->seconds[measure] += point->seconds * part;
		window->samples[measure] +=
		    point->last_ns >= window->begin_ns &&
		    point->last_ns < window->end_ns;
	}
}

/* ---- reading ---- */

static int
read_query(struct reading *reading, struct series *series,
    struct series_query *query, bool is_physical, struct err *err)
{
	struct series_point point;
	int rc;

	if (series_select(series, query, err) != 0)
		return -1;
	while ((rc = series_next(series, &point, err)) > 0) {
		struct line *line;

		if (is_physical) {
			used_carried_take(
			    &reading->carried, &point, point.high);
			continue;
		}
		line = line_of(reading, &point);
		if (line->metric >= 0 && point.counter && !line->is_carried)
			take(reading, line, &point);
	}
	return rc;
}

/* The names of the metrics of a group, with a blank between them. */
static int
names_of(int first, char *to, size_t room)
{
	int end = first;

	*to = '\0';
	while (end < METRICS &&
	       strcmp(metrics[end].group, metrics[first].group) == 0) {
		size_t used = strlen(to);

		snprintf(to + used, room - used, "%s%s", used > 0 ? " " : "",
		    metrics[end++].name);
	}
	return end;
}

static int
read_counters(struct reading *reading, struct series *series,
    struct series_query query, struct err *err)
{
	char names[1024];
	int rc = 0, end;

	query.intervals = true;
	for (int first = 0; rc == 0 && first < METRICS; first = end) {
		end = names_of(first, names, sizeof(names));
		query.group = text_of(metrics[first].group);
		if (strcmp(metrics[first].group, "network/*") == 0) {
			struct series_query physical = query;

			physical.metric = text_of(USED_PHYSICAL);
			physical.step_ns = HOUR_NS;
			rc = read_query(reading, series, &physical, true, err);
		}
		query.metric = text_of(names);
		if (rc == 0)
			rc = read_query(reading, series, &query, false, err);
	}
	return rc;
}

/* ---- clocks ---- */

struct estimates {
	struct estimate {
		uint32_t node;
		struct clock_map_point point;
	} * at;
	uint32_t count, room;
};

static int
by_receipt(const void *left, const void *right)
{
	const struct estimate *a = left, *b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return (a->point.receive_ns > b->point.receive_ns) -
	       (a->point.receive_ns < b->point.receive_ns);
}

/* The clock was set between two estimates of different generations. */
static void
take_step(struct reading *reading, const struct estimate *before,
    const struct estimate *after)
{
	const struct clock_map_point *a = &before->point, *b = &after->point;

	for (uint32_t i = reading->first[after->node];
	     i < reading->first[after->node + 1]; i++) {
		struct measured_window *window =
		    &reading->measured->at[reading->order[i]];

		if (reading->part_of[reading->order[i]] == reading->part &&
		    a->time_ns < window->end_ns &&
		    b->time_ns > window->begin_ns)
			window->stepped_ns +=
			    llabs(b->offset_ns - a->offset_ns);
	}
}

static int
read_clocks(struct reading *reading, struct source *source,
    struct text partition, const struct series_query *of, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_SAMPLE);
	struct estimates estimates = { .at = NULL };
	struct record record;
	struct estimate next;
	int rc;

	query.node = of->node;
	query.name = text_of("clock");
	query.from_ns = of->from_ns - HOUR_NS / 6;
	query.to_ns = of->to_ns + HOUR_NS / 6;
	rc = source_select(source, SOURCE_RECORDS, partition, &query, err);
	while (rc == 0 && (rc = source_next(source, &record, err)) > 0) {
		rc = 0;
		if (!clock_map_get_point(&record, &next.point) ||
		    !string_table_find(
			&reading->measured->nodes, record.node, &next.node))
			continue;
		*MEMORY_ADD(estimates.at, estimates.room, estimates.count) =
		    next;
	}
	if (estimates.count > 0)
		qsort(estimates.at, estimates.count, sizeof(next), by_receipt);
	for (uint32_t i = 1; rc == 0 && i < estimates.count; i++)
		if (estimates.at[i].node == estimates.at[i - 1].node &&
		    estimates.at[i].point.generation !=
			estimates.at[i - 1].point.generation)
			take_step(
			    reading, &estimates.at[i - 1], &estimates.at[i]);
	free(estimates.at);
	return rc;
}

/* ---- which nodes and times ---- */

static int
by_node(const void *left, const void *right, void *arg)
{
	const struct measured_window *at = arg;
	const struct measured_window *a = &at[*(const uint32_t *)left],
				     *b = &at[*(const uint32_t *)right];

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

static int
by_begin(const void *left, const void *right, void *arg)
{
	const struct measured_window *at = arg;
	const struct measured_window *a = &at[*(const uint32_t *)left],
				     *b = &at[*(const uint32_t *)right];

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return by_node(left, right, arg);
}

static uint32_t *
sort(const struct measured *measured,
    int (*order)(const void *, const void *, void *))
{
	uint32_t *numbers =
	    memory_zero((size_t)measured->count + 1, sizeof(*numbers));

	for (uint32_t i = 0; i < measured->count; i++)
		numbers[i] = i;
	qsort_r(
	    numbers, measured->count, sizeof(*numbers), order, measured->at);
	return numbers;
}

static void
order_windows(struct reading *reading)
{
	const struct measured *measured = reading->measured;
	uint32_t node = 0;

	reading->order = sort(measured, by_node);
	reading->first = memory_zero(
	    (size_t)measured->nodes.count + 1, sizeof(*reading->first));
	for (uint32_t i = 0; i < measured->count; i++)
		while (node < measured->at[reading->order[i]].node)
			reading->first[++node] = i;
	while (node < measured->nodes.count)
		reading->first[++node] = measured->count;
	reading->part_of =
	    memory_zero((size_t)measured->count + 1, sizeof(*reading->part_of));
}

/* Windows that are read at once: of the nodes that one query can name. */
struct part {
	char nodes[NODE_LIST_BYTES_MAX];
	uint32_t bytes;
	bool is_of_all; /* most nodes of the pool: none is named */
	bool is_begun;
	int64_t from_ns, to_ns, shortest_ns;
};

/* False: the list is full. */
static bool
add_to_part(struct part *part, const struct measured *measured,
    const struct measured_window *window, bool *is_named)
{
	char quoted[2 * NAME_BYTES_MAX];
	struct text name =
	    node_list_quote(quoted, measured->nodes.names[window->node], false);
	int64_t length_ns = window->end_ns - window->begin_ns;

	if (!part->is_of_all && !is_named[window->node]) {
		if (part->bytes + name.bytes + 1 > sizeof(part->nodes))
			return false;
		if (part->bytes > 0)
			part->nodes[part->bytes++] = ',';
		memcpy(part->nodes + part->bytes, name.at, name.bytes);
		part->bytes += name.bytes;
		is_named[window->node] = true;
	}
	part->is_begun = true;
	if (window->begin_ns < part->from_ns)
		part->from_ns = window->begin_ns;
	if (window->end_ns > part->to_ns)
		part->to_ns = window->end_ns;
	if (length_ns < part->shortest_ns)
		part->shortest_ns = length_ns;
	return true;
}

static int
read_part(struct reading *reading, struct series *series, struct source *source,
    struct text partition, const struct part *part, struct err *err)
{
	struct series_query query = { .node = { part->nodes, part->bytes },
		.from_ns = part->from_ns - AROUND_NS,
		.to_ns = part->to_ns + AROUND_NS,
		.nothing_before = true,
		.nothing_behind = true,
		.step_ns = part->shortest_ns / STEPS_OF_A_WINDOW };

	query.step_ns =
	    query.step_ns < STEP_NS ? STEP_NS : series_fit_step(query.step_ns);
	if (read_counters(reading, series, query, err) != 0)
		return -1;
	return read_clocks(reading, source, partition, &query, err);
}

/* Windows that are hours apart, as those of different starts, are parts of
 * their own. */
static int
read_parts(struct reading *reading, struct series *series,
    struct source *source, struct text partition, struct err *err)
{
	const struct measured *measured = reading->measured;
	uint32_t *order = sort(measured, by_begin);
	bool *is_named = memory_zero((size_t)measured->nodes.count + 1, 1);
	struct part *part = memory_alloc(sizeof(*part));
	uint32_t first = 0;
	int rc = 0;

	while (rc == 0 && first < measured->count) {
		reading->part++;
		part->bytes = 0;
		part->is_begun = false;
		part->is_of_all =
		    2 * measured->nodes.count >= measured->nodes_of_pool;
		part->from_ns = part->shortest_ns = INT64_MAX;
		part->to_ns = INT64_MIN;
		memset(is_named, 0, measured->nodes.count);
		for (uint32_t i = first; i < measured->count; i++) {
			const struct measured_window *window =
			    &measured->at[order[i]];

			if (reading->part_of[order[i]] != 0)
				continue;
			if (part->is_begun &&
			    window->begin_ns > part->to_ns + HOUR_NS)
				break;
			if (add_to_part(part, measured, window, is_named))
				reading->part_of[order[i]] = reading->part;
		}
		rc = read_part(reading, series, source, partition, part, err);
		while (first < measured->count &&
		       reading->part_of[order[first]] != 0)
			first++;
	}
	free(part);
	free(is_named);
	free(order);
	return rc;
}

/* A tenth of each of eight processors is not most of the time: where more than
 * one was wanted, each of them lost its part. */
static void
share_steal(struct measured_window *window)
{
	double *steal = &window->sum[MEASURE_STEAL];
	double wanted = *steal + window->sum[MEASURE_BUSY];

	if (wanted > window->seconds[MEASURE_STEAL])
		*steal *= window->seconds[MEASURE_STEAL] / wanted;
}

int
measured_read(struct measured *measured, struct source *source,
    struct text partition, struct err *err)
{
	struct reading reading = { .measured = measured };
	struct series *series;
	int rc;

	if (measured->count == 0)
		return 0;
	used_carried_init(&reading.carried);
	order_windows(&reading);
	rc = series_open(&series, source, partition, err);
	if (rc == 0)
		rc = read_parts(&reading, series, source, partition, err);
	for (uint32_t i = 0; i < measured->count; i++)
		share_steal(&measured->at[i]);
	series_close(&series);
	used_carried_clear(&reading.carried);
	free(reading.lines);
	free(reading.order);
	free(reading.first);
	free(reading.part_of);
	return rc;
}
