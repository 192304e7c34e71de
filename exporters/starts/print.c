/*
 * starts_print - print the newest starts of a pool, a row each.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/starts/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/format/csv.h"
#include "proto/format/table.h"
#include "proto/json/json.h"
#include "proto/os/clock.h"

const char *const starts_columns[] = { "start", "nodes", "ready", "again",
	"duration", NULL };

struct rows {
	struct starts starts;
	const struct start **at; /* those that are shown */
	uint32_t count;
	uint32_t left_out;
	int64_t gap_ns, now_ns;
	char clock[SOURCE_CLOCK_WORDS];
};

/* Seconds after the begin; NaN: unknown. */
static double
after(const struct start *start, int64_t at_ns)
{
	return at_ns == START_UNKNOWN
		   ? NAN
		   : (double)(at_ns - start->begin_ns) / (double)NS_PER_SECOND;
}

/* Until all were ready. */
static double
duration_of(const struct start *start)
{
	return start->ready == start->nodes ? after(start, start->last_ready_ns)
					    : NAN;
}

static const char *
state_of(const struct rows *rows, const struct start *start)
{
	return start_state_words[start_state_at(
	    start, rows->gap_ns, rows->now_ns)];
}

/* The start after it; NULL: it is the newest one. */
static const struct start *
next_of(const struct rows *rows, const struct start *start)
{
	const struct start *end = rows->starts.at + rows->starts.count;

	return start + 1 < end ? start + 1 : NULL;
}

static struct order_key
key_of(const void *arg, const void *at, int column)
{
	const struct start *start = *(const struct start *const *)at;
	const double numbers[] = { (double)start->begin_ns, start->nodes,
		start->ready, start->again, duration_of(start) };

	(void)arg;
	return (struct order_key){ .number = numbers[column] };
}

static void
make_rows(struct rows *rows, uint64_t newest, const struct order *order)
{
	uint32_t count = rows->starts.count;
	uint64_t most = newest > 0 ? newest : STARTS_NEWEST;

	if (count > most)
		count = (uint32_t)most;
	rows->at = memory_alloc(count * sizeof(*rows->at));
	for (uint32_t i = 0; i < count; i++)
		rows->at[i] = &rows->starts.at[rows->starts.count - 1 - i];
	rows->count =
	    order_rows(order, rows->at, count, sizeof(*rows->at), key_of, NULL);
	rows->left_out = rows->starts.count - rows->count;
}

/* ---- table ---- */

static void
put_table(const struct rows *rows, struct text partition, FILE *file)
{
	static const struct table_column columns[] = {
		{ "START", 25, false },
		{ "NODES", 6, true },
		{ "BEGUN", 7, true },
		{ "AGAIN", 5, true },
		{ "READY", 6, true },
		{ "FIRST", 7, true },
		{ "LAST", 7, true },
		{ "STATE", 10, false },
		{ .title = NULL },
	};
	char text[CLOCK_TEXT_BYTES];
	struct table table;

	fputs("starts of ", file);
	table_put_elided(file, partition, 32);
	fprintf(file, ", in seconds\n%s%s\n", rows->clock,
	    rows->clock[0] == '\0' ? "" : "\n");
	table_begin(&table, file, columns);
	for (uint32_t i = 0; i < rows->count; i++) {
		const struct start *start = rows->at[i];

		table_string(&table, clock_text(text, start->begin_ns, 0));
		table_count(&table, start->nodes);
		table_number(&table, after(start, start->last_begin_ns));
		table_count(&table, start->again);
		table_count(&table, start->ready);
		table_number(&table, after(start, start->first_ready_ns));
		table_number(&table, after(start, start->last_ready_ns));
		table_string(&table, state_of(rows, start));
	}
	if (rows->left_out > 0)
		fprintf(file, "\n%" PRIu32 " starts are left out\n",
		    rows->left_out);
}

/* ---- CSV, JSON ---- */

static void
put_csv(const struct rows *rows, FILE *file)
{
	struct csv csv = { .file = file };

	csv_titles(&csv, "start next state nodes ready again last_begin "
			 "first_ready last_ready duration");
	csv_end_row(&csv);
	for (uint32_t i = 0; i < rows->count; i++) {
		const struct start *start = rows->at[i];
		const struct start *next = next_of(rows, start);

		csv_time(&csv, start->begin_ns);
		csv_time(&csv, next == NULL ? INT64_MIN : next->begin_ns);
		csv_string(&csv, state_of(rows, start));
		csv_uint(&csv, start->nodes);
		csv_uint(&csv, start->ready);
		csv_uint(&csv, start->again);
		csv_float(&csv, after(start, start->last_begin_ns));
		csv_float(&csv, after(start, start->first_ready_ns));
		csv_float(&csv, after(start, start->last_ready_ns));
		csv_float(&csv, duration_of(start));
		csv_end_row(&csv);
	}
}

static void
put_object(
    struct json *json, const struct rows *rows, const struct start *start)
{
	const struct start *next = next_of(rows, start);

	json_begin_object(json);
	json_add_time(json, "start", start->begin_ns, 3);
	json_add_time(
	    json, "next", next == NULL ? INT64_MIN : next->begin_ns, 3);
	json_add_string(json, "state", state_of(rows, start));
	json_add_uint(json, "nodes", start->nodes);
	json_add_uint(json, "ready", start->ready);
	json_add_uint(json, "again", start->again);
	json_add_float(json, "last_begin", after(start, start->last_begin_ns));
	json_add_float(
	    json, "first_ready", after(start, start->first_ready_ns));
	json_add_float(json, "last_ready", after(start, start->last_ready_ns));
	json_add_float(json, "duration", duration_of(start));
	json_end_object(json);
}

static void
put_json(const struct rows *rows, FILE *file)
{
	struct json json;

	json_init(&json, file, JSON_STRICT | JSON_INDENTED);
	json_begin_object(&json);
	json_add_string(&json, "model", rows->starts.model);
	json_add_string(&json, "clock", rows->clock);
	json_add_float(
	    &json, "gap", (double)rows->gap_ns / (double)NS_PER_SECOND);
	json_add_array(&json, "starts");
	for (uint32_t i = 0; i < rows->count; i++)
		put_object(&json, rows, rows->at[i]);
	json_end_array(&json);
	json_add_uint(&json, "left_out", rows->left_out);
	json_end_object(&json);
	putc('\n', file);
}

int
starts_print(struct source *source, struct text partition,
    const struct starts_query *query, uint64_t newest,
    const struct order *order, enum stats_format format, FILE *file,
    struct err *err)
{
	struct rows rows = { .gap_ns = query->gap_ns,
		.now_ns = clock_wall_ns() };
	int rc = starts_read(&rows.starts, source, partition, query, err);

	if (rc == 0) {
		source_clock_words(rows.clock, source_clock(source));
		make_rows(&rows, newest, order);
	}
	if (rc == 0 && format == STATS_JSON)
		put_json(&rows, file);
	else if (rc == 0 && format == STATS_CSV)
		put_csv(&rows, file);
	else if (rc == 0)
		put_table(&rows, partition, file);
	free(rows.at);
	starts_clear(&rows.starts);
	return rc;
}
