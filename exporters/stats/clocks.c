/*
 * stats_clocks - the last reported clock offset of each node.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stats/clocks.h"

#include <math.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/hash/string_table.h"
#include "proto/format/csv.h"
#include "proto/json/json.h"
#include "proto/format/quantity.h"
#include "proto/format/table.h"
#include "proto/os/clock.h"

enum { RUN_BITS = 16 };

struct row {
	struct text node;
	struct clock_map_point last;
};

struct clocks {
	struct string_table names;
	struct row *rows; /* indexed by the number of the name; sorted by name
			     before printing */
	uint32_t room;
	uint32_t shown; /* rows to print */
	int64_t now_ns;
};

/* ---- reading ---- */

/* The records of one batch are ordered by the node's clock, which may have
 * been set back between them. */
static bool
is_later(
    const struct clock_map_point *point, const struct clock_map_point *than)
{
	if (point->receive_ns != than->receive_ns)
		return point->receive_ns > than->receive_ns;
	return point->generation >= than->generation;
}

static void
take(struct clocks *clocks, struct text node,
    const struct clock_map_point *point)
{
	uint32_t before = clocks->names.count;
	uint32_t number = string_table_add(&clocks->names, node);
	struct row *row;

	clocks->rows = memory_grow(
	    clocks->rows, &clocks->room, number, sizeof(*clocks->rows));
	row = &clocks->rows[number];
	if (number == before || is_later(point, &row->last))
		*row = (struct row){ clocks->names.names[number], *point };
}

static int
by_name(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	return text_compare(a->node, b->node);
}

static int
read_clocks(struct clocks *clocks, struct source *source, struct text partition,
    const struct wire_query *query, struct err *err)
{
	struct clock_map_point point;
	struct record record;
	int rc;

	if (source_select(source, SOURCE_RECORDS, partition, query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		if (clock_map_get_point(&record, &point))
			take(clocks, record.node, &point);
	if (rc == 0 && clocks->names.count == 0)
		return err_set(err,
		    "no node of partition %.*s has reported its clock offset "
		    "in %s",
		    (int)partition.bytes, partition.at, source_name(source));
	if (rc == 0)
		qsort(clocks->rows, clocks->names.count, sizeof(*clocks->rows),
		    by_name);
	return rc;
}

/* ---- values derived from an estimate ---- */

/* Steps of the clock since the agent started. */
static uint64_t
steps_of(const struct clock_map_point *p)
{
	return p->generation & ((1u << RUN_BITS) - 1);
}

static uint64_t
run_of(const struct clock_map_point *p)
{
	return p->generation >> RUN_BITS;
}

/* Age of the estimate: time since the aggregator received it. */
static int64_t
age_of(const struct clocks *clocks, const struct clock_map_point *p)
{
	int64_t age_ns = clocks->now_ns - p->receive_ns;

	return age_ns > 0 ? age_ns : 0;
}

/* Is the offset larger than the error? */
static bool
is_off(const struct clock_map_point *p)
{
	return llabs(p->offset_ns) > p->error_ns;
}

/* ---- order ---- */

const char *const stats_clocks_columns[] = { "node", "offset_ns", "error_ns",
	"drift", "round_trip_ns", "run", "steps", "age_ns", NULL };

/* The sign of an offset does not matter. */
static struct order_key
key_of(const void *arg, const void *at, int column)
{
	const struct clocks *clocks = arg;
	const struct row *row = at;
	const struct clock_map_point *p = &row->last;
	const double numbers[] = { 0, fabs((double)p->offset_ns),
		(double)p->error_ns, fabs(p->drift), (double)p->round_trip_ns,
		(double)run_of(p), (double)steps_of(p),
		(double)age_of(clocks, p) };

	return (struct order_key){ .is_text = column == 0,
		.text = row->node,
		.number = numbers[column] };
}

/* ---- table ---- */

static void
put_table(const struct clocks *clocks, FILE *file)
{
	static const struct table_column columns[] = { { "node", 20, false },
		{ "offset", 9, true }, { "error", 9, true },
		{ "drift/ppm", 9, true }, { "round trip", 10, true },
		{ "run", 5, true }, { "steps", 5, true }, { "age", 8, true },
		{ NULL, 0, false } };
	struct table table;
	char text[QUANTITY_TEXT_BYTES];

	table_begin(&table, file, columns);
	for (uint32_t i = 0; i < clocks->shown; i++) {
		const struct clock_map_point *p = &clocks->rows[i].last;

		table_text(&table, clocks->rows[i].node);
		table_string(&table, quantity_time(text, (double)p->offset_ns));
		table_string(&table, quantity_time(text, (double)p->error_ns));
		table_number(&table, p->drift * 1e6);
		table_string(
		    &table, quantity_time(text, (double)p->round_trip_ns));
		table_count(&table, run_of(p));
		table_count(&table, steps_of(p));
		table_string(
		    &table, quantity_time(text, (double)age_of(clocks, p)));
	}
	fputs("\noffset: how far the aggregator's clock is ahead of the "
	      "node's, within the error\n",
	    file);
}

/* ---- JSON, CSV ---- */

static const char *const titles[] = { "node", "time_ns", "receive_ns", "age_ns",
	"offset_ns", "error_ns", "drift", "drift_error", "round_trip_ns",
	"generation", "generation_begin_ns", "run", "steps", "off" };

static void
put_json_row(
    const struct clocks *clocks, const struct row *row, struct json *json)
{
	const struct clock_map_point *p = &row->last;
	const int64_t times[] = { p->time_ns, p->receive_ns, age_of(clocks, p),
		p->offset_ns, p->error_ns };
	const uint64_t counts[] = { run_of(p), steps_of(p) };
	size_t at = 0;

	json_begin_object(json);
	json_add_text(json, titles[at++], row->node);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		json_add_int(json, titles[at++], times[i]);
	json_add_float(json, titles[at++], p->drift);
	json_add_float(json, titles[at++], p->drift_error);
	json_add_int(json, titles[at++], p->round_trip_ns);
	json_add_uint(json, titles[at++], p->generation);
	json_add_int(json, titles[at++], p->begin_ns);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		json_add_uint(json, titles[at++], counts[i]);
	json_add_bool(json, titles[at++], is_off(p));
	json_end_object(json);
}

static void
put_json(const struct clocks *clocks, FILE *file, bool lines)
{
	struct json json;

	json_init(
	    &json, file, (lines ? JSON_LINE : JSON_INDENTED) | JSON_STRICT);
	if (!lines)
		json_begin_array(&json);
	for (uint32_t i = 0; i < clocks->shown; i++) {
		put_json_row(clocks, &clocks->rows[i], &json);
		if (lines) {
			putc('\n', file);
			json_init(&json, file, JSON_LINE | JSON_STRICT);
		}
	}
	if (lines)
		return;
	json_end_array(&json);
	putc('\n', file);
}

static void
put_csv(const struct clocks *clocks, FILE *file)
{
	struct csv csv = { file, false };

	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		csv_string(&csv, titles[i]);
	csv_end_row(&csv);
	for (uint32_t i = 0; i < clocks->shown; i++) {
		const struct clock_map_point *p = &clocks->rows[i].last;

		csv_text(&csv, clocks->rows[i].node);
		csv_int(&csv, p->time_ns);
		csv_int(&csv, p->receive_ns);
		csv_int(&csv, age_of(clocks, p));
		csv_int(&csv, p->offset_ns);
		csv_int(&csv, p->error_ns);
		csv_float(&csv, p->drift);
		csv_float(&csv, p->drift_error);
		csv_int(&csv, p->round_trip_ns);
		csv_uint(&csv, p->generation);
		csv_int(&csv, p->begin_ns);
		csv_uint(&csv, run_of(p));
		csv_uint(&csv, steps_of(p));
		csv_string(&csv, is_off(p) ? "true" : "false");
		csv_end_row(&csv);
	}
}

int
stats_clocks(struct source *source, struct text partition,
    const struct wire_query *query, const struct order *order,
    enum stats_format format, FILE *file, struct err *err)
{
	struct clocks clocks = { .now_ns = clock_wall_ns() };
	struct wire_query clock = *query;
	int rc;

	string_table_init(&clocks.names);
	clock.kinds = 1u << RECORD_SAMPLE;
	clock.name = text_of("clock");
	source_clock(source)->choice = CLOCK_RAW;
	rc = read_clocks(&clocks, source, partition, &clock, err);
	if (rc == 0)
		clocks.shown = order_rows(order, clocks.rows,
		    clocks.names.count, sizeof(*clocks.rows), key_of, &clocks);
	if (rc == 0 && format == STATS_TABLE)
		put_table(&clocks, file);
	else if (rc == 0 && format == STATS_CSV)
		put_csv(&clocks, file);
	else if (rc == 0)
		put_json(&clocks, file, format == STATS_JSONL);
	free(clocks.rows);
	string_table_clear(&clocks.names);
	return rc;
}
