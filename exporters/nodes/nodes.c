/*
 * nodes - which nodes of a pool are heard, and what is wrong with the others.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/nodes/nodes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "exporters/samples/series.h"
#include "proto/format/quantity.h"
#include "proto/base/memory.h"
#include "proto/format/csv.h"
#include "proto/format/table.h"
#include "proto/hash/string_table.h"
#include "proto/json/json.h"
#include "proto/os/clock.h"

enum state { LIVE, LATE, SILENT, GONE };

static const char *const state_words[] = { "live", "late", "silent", "gone" };

#define MINUTE_NS (60 * NS_PER_SECOND)
/* Silence from which a node has the state of the number. */
static const int64_t silences[] = { 0, MINUTE_NS, 10 * MINUTE_NS,
	60 * MINUTE_NS };

/* What needs attention. */
#define SPOOL_MANY (16.0 * (1 << 20))     /* bytes that are not sent */
#define CLOCK_OFF  (NS_PER_SECOND / 10.0) /* ns */

enum { TEXT_BYTES = 48 };

struct node {
	struct text name;
	int64_t heard_ns, age_ns;
	/* The last record that was received: when, and its time; INT64_MIN:
	 * unknown. */
	int64_t received_ns, last_ns;
	double spool, clock_ns; /* NaN: unknown */
	enum state state;
};

struct nodes {
	struct string_table names;
	struct node *at;
	uint32_t room;
	uint32_t shown;            /* rows to print */
	uint32_t states[GONE + 1]; /* how many nodes are in each */
};

/* ---- reading ---- */

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

static struct node *
node_of(struct nodes *nodes, struct text name)
{
	uint32_t before = nodes->names.count;
	uint32_t number = string_table_add(&nodes->names, name);
	struct node *node;

	nodes->at =
	    memory_grow(nodes->at, &nodes->room, number, sizeof(*nodes->at));
	node = &nodes->at[number];
	if (number == before)
		*node = (struct node){ .name = nodes->names.names[number],
			.heard_ns = INT64_MIN,
			.received_ns = INT64_MIN,
			.last_ns = INT64_MIN,
			.spool = NAN,
			.clock_ns = NAN };
	return node;
}

static void
take(struct nodes *nodes, const struct series_point *point)
{
	struct node *node = node_of(nodes, point->node);
	double value = number_of(&point->last);

	/* Points of a series come in the order of time. */
	if (text_equal(point->metric, text_of("poolscope.clock.offset")))
		node->clock_ns = value;
	if (text_equal(point->metric, text_of("poolscope.agent.spool.unacked")))
		node->spool = value;
	if (point->last_ns > node->heard_ns)
		node->heard_ns = point->last_ns;
}

static int
read_metric(struct nodes *nodes, struct series *series,
    const struct nodes_options *options, const char *group, const char *metric,
    struct err *err)
{
	struct series_query query = { .node = options->node,
		.group = text_of(group),
		.metric = text_of(metric),
		.from_ns = options->from_ns,
		.to_ns = TIME_MAX_NS,
		.step_ns = 60 * MINUTE_NS };
	struct series_point point;
	int rc = series_select(series, &query, err);

	if (rc != 0)
		return -1;
	while ((rc = series_next(series, &point, err)) > 0)
		take(nodes, &point);
	return rc;
}

static int64_t
time_of(const struct record *record, const char *key)
{
	struct value value;

	return record_find_attribute(record, text_of(key), &value) &&
		       value.type == VALUE_INT
		   ? value.is.i
		   : INT64_MIN;
}

/* The last record of each node that was heard, whatever it was. */
static int
read_last_records(struct nodes *nodes, struct source *source,
    struct text partition, const struct nodes_options *options, struct err *err)
{
	struct wire_query query = source_query(0);
	struct record record;
	struct node *node;
	uint32_t number;
	int rc;

	query.node = options->node;
	if (source_select(source, SOURCE_NODES, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0) {
		int64_t last_ns = time_of(&record, "time_ns");

		if (last_ns < options->from_ns &&
		    !string_table_find(&nodes->names, record.name, &number))
			continue;
		node = node_of(nodes, record.name);
		node->received_ns = time_of(&record, "received_ns");
		node->last_ns = last_ns;
		if (last_ns > node->heard_ns)
			node->heard_ns = last_ns;
	}
	return rc;
}

static void
judge(struct nodes *nodes)
{
	int64_t now_ns = clock_wall_ns();

	for (uint32_t i = 0; i < nodes->names.count; i++) {
		struct node *node = &nodes->at[i];

		/* On our clock. */
		if (!isnan(node->clock_ns))
			node->heard_ns += (int64_t)node->clock_ns;
		node->age_ns =
		    now_ns > node->heard_ns ? now_ns - node->heard_ns : 0;
		while (node->state < GONE &&
		       node->age_ns >= silences[node->state + 1])
			node->state++;
		nodes->states[node->state]++;
	}
}

static int
read_nodes(struct nodes *nodes, struct source *source, struct text partition,
    const struct nodes_options *options, struct err *err)
{
	/* A group that most agents sample, what the agent says of itself, and
	 * of its clock. */
	static const char *const metrics[][2] = {
		{ "cpu", "system.cpu.time.idle" },
		{ "self", "poolscope.agent.spool.unacked" },
		{ "clock", "poolscope.clock.offset" },
	};
	struct series *series = NULL;
	char shown[300];
	int rc = series_open(&series, source, partition, err);

	for (size_t i = 0; rc == 0 && i < sizeof(metrics) / sizeof(*metrics);
	     i++)
		rc = read_metric(
		    nodes, series, options, metrics[i][0], metrics[i][1], err);
	series_close(&series);
	if (rc == 0)
		rc = read_last_records(nodes, source, partition, options, err);
	if (rc == 0 && nodes->names.count == 0)
		return err_set(err,
		    "no node of partition %s was heard since then (--from asks "
		    "for a longer time)",
		    text_quote(shown, sizeof(shown), partition));
	if (rc == 0)
		judge(nodes);
	return rc;
}

/* ---- order ---- */

static int
by_name(const void *left, const void *right)
{
	const struct node *a = left, *b = right;

	return text_compare(a->name, b->name);
}

static int
by_state(const void *left, const void *right)
{
	const struct node *a = left, *b = right;
	int order = (int)b->state - (int)a->state;

	return order != 0 ? order : by_name(left, right);
}

const char *const nodes_columns[] = { "state", "node", "heard", "received",
	"spool", "clock", NULL };

/* NaN: unknown. */
static double
received_age(const struct node *node)
{
	int64_t now_ns = clock_wall_ns();

	return node->received_ns == INT64_MIN ? NAN
	       : node->received_ns >= now_ns
		   ? 0
		   : (double)(now_ns - node->received_ns);
}

static struct order_key
key_of(const void *arg, const void *at, int column)
{
	const struct node *node = at;
	const double numbers[] = { (double)node->state, 0, (double)node->age_ns,
		received_age(node), node->spool, fabs(node->clock_ns) };

	(void)arg;
	return (struct order_key){ .is_text = column == 1,
		.text = node->name,
		.number = numbers[column] };
}

/* ---- texts ---- */

static bool
has_much(const struct node *node)
{
	return !isnan(node->spool) && node->spool > SPOOL_MANY;
}

static bool
is_off(const struct node *node)
{
	return !isnan(node->clock_ns) && fabs(node->clock_ns) > CLOCK_OFF;
}

/* "not heard; clock off", or "". */
static const char *
wrong_text(char to[static TEXT_BYTES], const struct node *node)
{
	snprintf(to, TEXT_BYTES, "%s%s%s%s%s",
	    node->state == LIVE ? "" : "not heard",
	    node->state != LIVE && has_much(node) ? "; " : "",
	    has_much(node) ? "spool fills" : "",
	    (node->state != LIVE || has_much(node)) && is_off(node) ? "; " : "",
	    is_off(node) ? "clock off" : "");
	return to;
}

/* ---- output ---- */

static void
put_table(const struct nodes *nodes, FILE *file)
{
	static const struct table_column columns[] = {
		{ "NODE", 17, false },
		{ "STATE", 6, false },
		{ "HEARD", 8, true },
		{ "RECEIVED", 8, true },
		{ "SPOOL", 9, true },
		{ "CLOCK", 9, true },
		{ "WRONG", 17, false },
		{ .title = NULL },
	};
	char text[QUANTITY_TEXT_BYTES];
	struct table table;

	for (int state = LIVE; state <= GONE; state++)
		fprintf(file, "%s%" PRIu32 " %s", state > LIVE ? ", " : "",
		    nodes->states[state], state_words[state]);
	fputs("\n\n", file);
	table_begin(&table, file, columns);
	for (uint32_t i = 0; i < nodes->shown; i++) {
		const struct node *node = &nodes->at[i];

		table_text(&table, node->name);
		table_string(&table, state_words[node->state]);
		table_string(&table, quantity_time(text, (double)node->age_ns));
		if (node->received_ns == INT64_MIN)
			table_none(&table);
		else
			table_string(
			    &table, quantity_time(text, received_age(node)));
		if (isnan(node->spool))
			table_none(&table);
		else
			table_string(&table, quantity_bytes(text, node->spool));
		if (isnan(node->clock_ns))
			table_none(&table);
		else
			table_string(
			    &table, quantity_time(text, node->clock_ns));
		table_string(&table, wrong_text(text, node));
	}
}

static void
put_csv_time(struct csv *csv, int64_t ns)
{
	char text[CLOCK_TEXT_BYTES];

	if (ns == INT64_MIN)
		csv_none(csv);
	else
		csv_string(csv, clock_text(text, ns, 3));
}

static void
put_csv(const struct nodes *nodes, FILE *file)
{
	static const char *const titles[] = { "node", "state", "heard",
		"silence", "received", "last_record", "spool_bytes",
		"clock_offset", "wrong" };
	struct csv csv = { .file = file };
	char text[CLOCK_TEXT_BYTES], wrong[TEXT_BYTES];

	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		csv_string(&csv, titles[i]);
	csv_end_row(&csv);
	for (uint32_t i = 0; i < nodes->shown; i++) {
		const struct node *node = &nodes->at[i];

		csv_text(&csv, node->name);
		csv_string(&csv, state_words[node->state]);
		csv_string(&csv, clock_text(text, node->heard_ns, 3));
		csv_float(&csv, (double)node->age_ns / 1e9);
		put_csv_time(&csv, node->received_ns);
		put_csv_time(&csv, node->last_ns);
		if (isnan(node->spool))
			csv_none(&csv);
		else
			csv_float(&csv, node->spool);
		if (isnan(node->clock_ns))
			csv_none(&csv);
		else
			csv_float(&csv, node->clock_ns / 1e9);
		csv_string(&csv, wrong_text(wrong, node));
		csv_end_row(&csv);
	}
}

static void
put_json_time(struct json *json, const char *name, int64_t ns)
{
	char text[CLOCK_TEXT_BYTES];

	json_name(json, name);
	if (ns == INT64_MIN)
		json_null(json);
	else
		json_string(json, clock_text(text, ns, 3));
}

static void
put_json(const struct nodes *nodes, bool lines, FILE *file)
{
	char text[CLOCK_TEXT_BYTES], wrong[TEXT_BYTES];
	struct json json;

	json_init(&json, file, JSON_STRICT | (lines ? 0 : JSON_INDENTED));
	if (!lines)
		json_begin_array(&json);
	for (uint32_t i = 0; i < nodes->shown; i++) {
		const struct node *node = &nodes->at[i];

		json_begin_object(&json);
		json_name(&json, "node");
		json_text(&json, node->name);
		json_name(&json, "state");
		json_string(&json, state_words[node->state]);
		json_name(&json, "heard");
		json_string(&json, clock_text(text, node->heard_ns, 3));
		json_name(&json, "silence");
		json_float(&json, (double)node->age_ns / 1e9);
		put_json_time(&json, "received", node->received_ns);
		put_json_time(&json, "last_record", node->last_ns);
		json_name(&json, "spool_bytes");
		json_float(&json, node->spool);
		json_name(&json, "clock_offset");
		json_float(&json, node->clock_ns / 1e9);
		json_name(&json, "wrong");
		json_string(&json, wrong_text(wrong, node));
		json_end_object(&json);
		if (lines)
			putc('\n', file);
	}
	if (!lines) {
		json_end_array(&json);
		putc('\n', file);
	}
}

static int
status_of(const struct nodes *nodes)
{
	int status = nodes->states[LATE] > 0;

	for (uint32_t i = 0; i < nodes->names.count; i++)
		if (has_much(&nodes->at[i]) || is_off(&nodes->at[i]))
			status = 1;
	return nodes->states[SILENT] + nodes->states[GONE] > 0 ? 2 : status;
}

int
nodes_print(struct source *source, struct text partition,
    const struct nodes_options *options, enum stats_format format, FILE *file,
    int *status, struct err *err)
{
	struct nodes nodes = { .room = 0 };
	int rc;

	string_table_init(&nodes.names);
	source_clock(source)->choice = CLOCK_RAW;
	rc = read_nodes(&nodes, source, partition, options, err);
	if (rc == 0) {
		qsort(nodes.at, nodes.names.count, sizeof(*nodes.at), by_state);
		nodes.shown = order_rows(options->order, nodes.at,
		    nodes.names.count, sizeof(*nodes.at), key_of, NULL);
		*status = status_of(&nodes);
	}
	if (rc == 0 && format == STATS_TABLE)
		put_table(&nodes, file);
	else if (rc == 0 && format == STATS_CSV)
		put_csv(&nodes, file);
	else if (rc == 0)
		put_json(&nodes, format == STATS_JSONL, file);
	free(nodes.at);
	string_table_clear(&nodes.names);
	return rc;
}
