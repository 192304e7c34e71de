/*
 * stats_spans - how long the spans of commands, programs and imports took.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stats/spans.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/select/known.h"
#include "proto/base/memory.h"
#include "proto/base/quantile.h"
#include "proto/format/csv.h"
#include "proto/format/table.h"
#include "proto/hash/string_table.h"
#include "proto/json/json.h"
#include "proto/os/clock.h"

enum {
	SPANS_MAX = 16 << 20, /* 16 bytes each */
};

struct duration {
	uint32_t row;
	int64_t ns;
};

struct row {
	struct text name;
	const struct duration *first; /* its durations, sorted */
	uint64_t count;
	double sum; /* seconds */
};

struct spans {
	struct string_table names; /* of rows */
	struct duration *durations;
	uint32_t count, room;
	struct row *rows;         /* the longest sum first */
	uint32_t shown;           /* rows to print */
	int64_t begin_ns, end_ns; /* the first begin, the last end */
};

/* ---- reading ---- */

static bool
is_selected(
    const struct stats_spans_options *options, const struct record *record)
{
	return record->kind == RECORD_SPAN && record->has_time &&
	       record->has_end && record->end_ns >= record->time_ns &&
	       record->time_ns >= options->from_ns &&
	       record->time_ns < options->to_ns &&
	       (options->name.bytes == 0 ||
		   text_match(options->name, record->name));
}

static void
take(struct spans *spans, enum stats_spans_by by, const struct record *record)
{
	struct text name = by == STATS_SPANS_NAME    ? record->name
			   : by == STATS_SPANS_TRACK ? record->source
						     : record->node;

	if (spans->count == 0 || record->time_ns < spans->begin_ns)
		spans->begin_ns = record->time_ns;
	if (spans->count == 0 || record->end_ns > spans->end_ns)
		spans->end_ns = record->end_ns;
	spans->durations = memory_grow(spans->durations, &spans->room,
	    spans->count, sizeof(*spans->durations));
	spans->durations[spans->count++] =
	    (struct duration){ string_table_add(&spans->names, name),
		    record->end_ns - record->time_ns };
}

static int
by_row(const void *left, const void *right)
{
	const struct duration *a = left, *b = right;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

static int
by_sum(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->sum < b->sum || a->sum > b->sum)
		return a->sum > b->sum ? -1 : 1;
	return text_compare(a->name, b->name);
}

static void
make_rows(struct spans *spans)
{
	uint32_t n = spans->names.count;

	spans->rows = memory_zero(n, sizeof(*spans->rows));
	for (uint32_t i = 0; i < n; i++)
		spans->rows[i].name = spans->names.names[i];
	qsort(
	    spans->durations, spans->count, sizeof(*spans->durations), by_row);
	for (uint32_t i = 0; i < spans->count; i++) {
		struct row *row = &spans->rows[spans->durations[i].row];

		if (row->count++ == 0)
			row->first = &spans->durations[i];
		row->sum += (double)spans->durations[i].ns / 1e9;
	}
	qsort(spans->rows, n, sizeof(*spans->rows), by_sum);
}

static int
read_spans(struct spans *spans, struct source *source, struct text partition,
    const struct stats_spans_options *options, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_SPAN);
	struct record record;
	char shown[300];
	int rc;

	query.node = options->node;
	query.from_ns = options->from_ns;
	query.to_ns = options->to_ns;
	if (source_select(source, SOURCE_RECORDS, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0) {
		if (!is_selected(options, &record))
			continue;
		if (spans->count == SPANS_MAX)
			return err_set(err,
			    "there are more than %d spans; select fewer with "
			    "--from, --to, --name or --node",
			    SPANS_MAX);
		take(spans, options->by, &record);
	}
	if (rc == 0 && spans->count == 0) {
		rc = err_set(err, "no such spans in partition %s of %s",
		    text_quote(shown, sizeof(shown), partition),
		    source_name(source));
		snprintf(shown, sizeof(shown), "%.*s", (int)options->name.bytes,
		    options->name.at);
		known_suggest(
		    source, SOURCE_RECORDS, partition, &query, shown, err);
	}
	if (rc == 0)
		make_rows(spans);
	return rc;
}

/* ---- values ---- */

static double
quantile(const struct row *row, unsigned percent)
{
	return (double)row->first[quantile_index(row->count, percent)].ns / 1e9;
}

/* The sum as a share of the time from the first begin to the last end. */
static double
share_of(const struct spans *spans, const struct row *row)
{
	double wall = (double)(spans->end_ns - spans->begin_ns) / 1e9;

	return wall > 0 ? row->sum / wall : NAN;
}

const char *const stats_spans_columns[] = { "name", "track", "node", "count",
	"p50", "p90", "p99", "max", "sum", "wall_share", NULL };

static struct order_key
key_of(const void *arg, const void *at, int column)
{
	static const unsigned percents[] = { 50, 90, 99, 100 };
	const struct spans *spans = arg;
	const struct row *row = at;
	struct order_key key = { .is_text = column < 3, .text = row->name };

	if (column == 3)
		key.number = (double)row->count;
	else if (column < 8)
		key.number =
		    quantile(row, percents[column < 4 ? 0 : column - 4]);
	else
		key.number = column == 8 ? row->sum : share_of(spans, row);
	return key;
}

static const unsigned quantiles[] = { 50, 90, 99, 100 };
enum { QUANTILES = sizeof(quantiles) / sizeof(*quantiles) };
static const char *const words[] = { "name", "track", "node" };
static const char *const numbers[] = { "p50", "p90", "p99", "max" };

static void
put_table(const struct spans *spans, struct text partition,
    enum stats_spans_by by, FILE *file)
{
	static const char *const titles[] = { "NAME", "TRACK", "NODE" };
	const struct table_column columns[] = {
		{ titles[by], 26, false },
		{ "COUNT", 7, true },
		{ "P50", 7, true },
		{ "P90", 7, true },
		{ "P99", 7, true },
		{ "MAX", 7, true },
		{ "SUM", 7, true },
		{ "WALL%", 5, true },
		{ .title = NULL },
	};
	struct table table;

	fputs("spans of ", file);
	table_put_elided(file, partition, 40);
	fprintf(file, ", seconds; %.6g s from first to last\n\n",
	    (double)(spans->end_ns - spans->begin_ns) / 1e9);
	table_begin(&table, file, columns);
	for (uint32_t i = 0; i < spans->shown; i++) {
		const struct row *row = &spans->rows[i];
		double share = share_of(spans, row);

		table_text(&table, row->name);
		table_count(&table, row->count);
		for (size_t q = 0; q < QUANTILES; q++)
			table_number(&table, quantile(row, quantiles[q]));
		table_number(&table, row->sum);
		if (isnan(share))
			table_none(&table);
		else
			table_number(&table, 100 * share);
	}
}

static void
put_csv(const struct spans *spans, enum stats_spans_by by, FILE *file)
{
	struct csv csv = { .file = file };

	csv_string(&csv, words[by]);
	csv_string(&csv, "count");
	for (size_t q = 0; q < QUANTILES; q++)
		csv_string(&csv, numbers[q]);
	csv_titles(&csv, "sum wall_share");
	csv_end_row(&csv);
	for (uint32_t i = 0; i < spans->shown; i++) {
		const struct row *row = &spans->rows[i];
		double share = share_of(spans, row);

		csv_text(&csv, row->name);
		csv_uint(&csv, row->count);
		for (size_t q = 0; q < QUANTILES; q++)
			csv_float(&csv, quantile(row, quantiles[q]));
		csv_float(&csv, row->sum);
		csv_float(&csv, share);
		csv_end_row(&csv);
	}
}

static void
put_object(struct json *json, const struct spans *spans, const struct row *row,
    enum stats_spans_by by)
{
	json_begin_object(json);
	json_add_text(json, words[by], row->name);
	json_add_uint(json, "count", row->count);
	for (size_t q = 0; q < QUANTILES; q++) {
		json_add_float(json, numbers[q], quantile(row, quantiles[q]));
	}
	json_add_float(json, "sum", row->sum);
	json_add_float(json, "wall_share", share_of(spans, row));
	json_end_object(json);
}

static void
put_json(const struct spans *spans, struct text partition,
    enum stats_spans_by by, bool lines, FILE *file)
{
	struct json json;

	json_init(&json, file, JSON_STRICT | (lines ? 0 : JSON_INDENTED));
	if (!lines) {
		json_begin_object(&json);
		json_add_text(&json, "partition", partition);
		json_name(&json, "wall");
		json_float(
		    &json, (double)(spans->end_ns - spans->begin_ns) / 1e9);
		json_add_array(&json, "spans");
	}
	for (uint32_t i = 0; i < spans->shown; i++) {
		put_object(&json, spans, &spans->rows[i], by);
		if (lines)
			putc('\n', file);
	}
	if (!lines) {
		json_end_array(&json);
		json_end_object(&json);
		putc('\n', file);
	}
}

int
stats_spans(struct source *source, struct text partition,
    const struct stats_spans_options *options, enum stats_format format,
    FILE *file, struct err *err)
{
	struct spans spans = { .count = 0 };
	int rc;

	string_table_init(&spans.names);
	rc = read_spans(&spans, source, partition, options, err);
	if (rc == 0)
		spans.shown = order_rows(options->order, spans.rows,
		    spans.names.count, sizeof(*spans.rows), key_of, &spans);
	if (rc == 0 && format == STATS_TABLE)
		put_table(&spans, partition, options->by, file);
	else if (rc == 0 && format == STATS_CSV)
		put_csv(&spans, options->by, file);
	else if (rc == 0)
		put_json(&spans, partition, options->by, format == STATS_JSONL,
		    file);
	free(spans.rows);
	free(spans.durations);
	string_table_clear(&spans.names);
	return rc;
}
