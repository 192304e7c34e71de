/*
 * pools_print - print the pools of a source, a row each.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>

#include "exporters/nodes/pools.h"
#include "proto/base/nearest.h"
#include "proto/format/csv.h"
#include "proto/format/quantity.h"
#include "proto/format/table.h"
#include "proto/json/json.h"
#include "proto/os/clock.h"

struct rows {
	const struct pools *pools;
	uint32_t shown; /* of pools->at, from the first one on */
	const struct source *source;
	uint32_t places;
};

const char *const pools_columns[] = { "partition", "nodes", "live", "late",
	"silent", "gone", "records", "newest", "place", NULL };

static struct order_key
key_of(const void *arg, const void *at, int column)
{
	const struct rows *rows = arg;
	const struct pool *pool = at;
	const struct partition_row *row = &pool->partition;
	const double numbers[] = { 0, (double)row->nodes,
		pool->conditions[NODE_LIVE], pool->conditions[NODE_LATE],
		pool->conditions[NODE_SILENT], pool->conditions[NODE_GONE],
		(double)row->records,
		pool->age_ns < 0 ? NAN : (double)pool->age_ns, 0 };
	bool is_place = column == 8;

	return (struct order_key){ .is_text = column == 0 || is_place,
		.text = is_place ? text_of(source_place_name(
				       rows->source, row->place))
				 : row->name,
		.number = numbers[column] };
}

/* ---- table ---- */

/* A column has no room for the names of places. */
static void
put_places(const struct rows *rows, FILE *file)
{
	putc('\n', file);
	for (uint32_t i = 0; i < rows->places; i++) {
		fprintf(file, "%2" PRIu32 " is ", i + 1);
		table_put_elided(
		    file, text_of(source_place_name(rows->source, i)), 72);
		putc('\n', file);
	}
}

static void
put_row(struct table *table, const struct rows *rows, const struct pool *pool)
{
	char text[QUANTITY_TEXT_BYTES];

	table_text(table, pool->partition.name);
	table_count(table, pool->partition.nodes);
	for (int i = 0; i < NODE_CONDITIONS; i++)
		table_count(table, pool->conditions[i]);
	table_count(table, pool->partition.records);
	if (pool->age_ns < 0)
		table_none(table);
	else
		table_string(table, quantity_time(text, (double)pool->age_ns));
	if (rows->places > 1)
		table_count(table, pool->partition.place + 1);
}

static void
put_table(const struct rows *rows, FILE *file)
{
	struct table_column columns[] = {
		{ "PARTITION", 27, false },
		{ "NODES", 6, true },
		{ "LIVE", 6, true },
		{ "LATE", 5, true },
		{ "SILENT", 6, true },
		{ "GONE", 5, true },
		{ "RECORDS", 7, true },
		{ "NEWEST", 7, true },
		{ rows->places > 1 ? "AT" : NULL, 2, true },
		{ .title = NULL },
	};
	struct table table;

	if (rows->pools->count == 0) {
		fputs("no pool has records yet\n", file);
		return;
	}
	table_begin(&table, file, columns);
	for (uint32_t i = 0; i < rows->shown; i++)
		put_row(&table, rows, &rows->pools->at[i]);
	if (rows->places > 1)
		put_places(rows, file);
}

/* ---- CSV, JSON ---- */

static const enum record_kind kinds[] = { RECORD_EVENT, RECORD_SAMPLE,
	RECORD_SPAN, RECORD_ENTITY, RECORD_GAP };
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static void
put_csv(const struct rows *rows, FILE *file)
{
	struct csv csv = { .file = file };

	csv_titles(&csv,
	    "partition place nodes live late silent gone records events "
	    "samples spans entities gaps oldest newest age");
	csv_end_row(&csv);
	for (uint32_t i = 0; i < rows->shown; i++) {
		const struct pool *pool = &rows->pools->at[i];
		const struct partition_row *row = &pool->partition;

		csv_text(&csv, row->name);
		csv_string(&csv, source_place_name(rows->source, row->place));
		csv_uint(&csv, row->nodes);
		for (int k = 0; k < NODE_CONDITIONS; k++)
			csv_uint(&csv, pool->conditions[k]);
		csv_uint(&csv, row->records);
		for (int k = 0; k < KINDS; k++)
			csv_uint(&csv, row->records_of[kinds[k]]);
		csv_time(&csv, row->first_ns);
		csv_time(&csv, row->last_ns);
		csv_float(
		    &csv, pool->age_ns < 0 ? NAN : (double)pool->age_ns / 1e9);
		csv_end_row(&csv);
	}
}

static void
put_object(struct json *json, const struct rows *rows, const struct pool *pool)
{
	static const char *const names[KINDS] = { "events", "samples", "spans",
		"entities", "gaps" };
	const struct partition_row *row = &pool->partition;

	json_begin_object(json);
	json_add_text(json, "partition", row->name);
	json_add_string(
	    json, "place", source_place_name(rows->source, row->place));
	json_add_uint(json, "nodes", row->nodes);
	for (int i = 0; i < NODE_CONDITIONS; i++)
		json_add_uint(
		    json, node_condition_words[i], pool->conditions[i]);
	json_add_uint(json, "records", row->records);
	for (int i = 0; i < KINDS; i++)
		json_add_uint(json, names[i], row->records_of[kinds[i]]);
	json_add_time(json, "oldest", row->first_ns, 3);
	json_add_time(json, "newest", row->last_ns, 3);
	json_add_float(
	    json, "age", pool->age_ns < 0 ? NAN : (double)pool->age_ns / 1e9);
	json_end_object(json);
}

static void
put_json(const struct rows *rows, bool lines, FILE *file)
{
	struct json json;

	json_init(&json, file, JSON_STRICT | (lines ? 0 : JSON_INDENTED));
	if (!lines)
		json_begin_array(&json);
	for (uint32_t i = 0; i < rows->shown; i++) {
		put_object(&json, rows, &rows->pools->at[i]);
		if (lines)
			putc('\n', file);
	}
	if (!lines) {
		json_end_array(&json);
		putc('\n', file);
	}
}

/* ---- all ---- */

static int
refuse(struct source *source, struct text pattern, struct err *err)
{
	char question[3 * NEAREST_WORD_BYTES + 32], shown[300];
	char typed[NAME_BYTES_MAX + 1], name[NAME_BYTES_MAX + 1];
	struct partition_rows all;
	struct nearest nearest;
	int rc =
	    partition_rows_read(&all, source, (struct text){ NULL, 0 }, err);

	snprintf(typed, sizeof(typed), "%.*s", (int)pattern.bytes, pattern.at);
	nearest_begin(&nearest, typed);
	for (uint32_t i = 0; i < all.count; i++) {
		snprintf(name, sizeof(name), "%.*s", (int)all.at[i].name.bytes,
		    all.at[i].name.at);
		nearest_offer(&nearest, name);
	}
	partition_rows_clear(&all);
	return rc != 0 ? rc
		       : err_set(err, "%s: no partition matches %s%s",
			     source_name(source),
			     text_quote(shown, sizeof(shown), pattern),
			     nearest_question(
				 &nearest, "", question, sizeof(question)));
}

int
pools_print(struct source *source, struct pools_kept *kept, struct text pattern,
    uint32_t places, const struct order *order, enum stats_format format,
    FILE *file, struct err *err)
{
	struct pools pools;
	struct rows rows = {
		.pools = &pools, .source = source, .places = places
	};
	int rc =
	    pools_read(&pools, source, kept, pattern, clock_wall_ns(), err);

	if (rc == 0 && pools.count == 0 && pattern.bytes > 0)
		rc = refuse(source, pattern, err);
	if (rc == 0)
		rows.shown = order_rows(order, pools.at, pools.count,
		    sizeof(*pools.at), key_of, &rows);
	if (rc == 0 && format == STATS_TABLE)
		put_table(&rows, file);
	else if (rc == 0 && format == STATS_CSV)
		put_csv(&rows, file);
	else if (rc == 0)
		put_json(&rows, format == STATS_JSONL, file);
	pools_clear(&pools);
	return rc;
}
