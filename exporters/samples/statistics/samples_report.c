/*
 * samples_report - statistics of metrics as a table, JSON or CSV.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/statistics/samples_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/samples/statistics/samples_order.h"
#include "proto/base/memory.h"
#include "proto/format/csv.h"
#include "proto/format/table.h"
#include "proto/json/json.h"
#include "proto/os/clock.h"

enum { NUMBER_BYTES = 32, NUMBER_WIDTH = 7 };

/* ---- table ---- */

/* Numbers of one column differ by many orders: four digits and a decimal unit
 * prefix, or an exponent. */
static void
put_number(struct table *table, double value)
{
	const char *prefix = " kMGTPE";
	double size = fabs(value);
	char text[NUMBER_BYTES];

	if (!isfinite(value) || size == 0 || (size >= 0.001 && size < 99999)) {
		table_number(table, value);
		return;
	}
	for (; size >= 999.95 && prefix[1] != '\0'; size /= 1000)
		prefix++;
	if (size >= 999.95 || size < 0.001)
		snprintf(text, sizeof(text), "%.*e", value < 0 ? 0 : 1, value);
	else
		snprintf(text, sizeof(text), "%.4g%c", copysign(size, value),
		    *prefix);
	table_string(table, text);
}

/* "{operation}/s" is a number per second: what it counts is in the metric's
 * name. */
static void
put_unit(struct table *table, struct text unit)
{
	const char *end = memchr(unit.at, '}', unit.bytes);
	char text[NUMBER_BYTES];

	if (unit.bytes == 0 || unit.at[0] != '{' || end == NULL) {
		table_text(table, unit);
		return;
	}
	end++;
	snprintf(text, sizeof(text), "1%.*s", (int)(unit.at + unit.bytes - end),
	    end);
	table_string(table, text);
}

static void
put_row(struct table *table, const struct sample_row *row, bool by_node)
{
	table_text(table, by_node ? row->node : row->metric);
	if (!by_node)
		put_unit(table, row->unit);
	table_count(table, row->count);
	put_number(table, row->low);
	put_number(table, row->mean);
	put_number(table, row->p50);
	put_number(table, row->p99);
	put_number(table, row->high);
	if (by_node)
		put_number(table, row->last);
}

static void
put_heading(const struct sample_rows *rows, uint32_t first, FILE *file)
{
	const struct sample_row *row = &rows->at[first];

	putc('\n', file);
	if (rows->by_node) {
		table_put_elided(file, row->metric, 36);
		fputs(" of ", file);
		table_put_elided(file, row->group, 24);
		fputs(", ", file);
		table_put_elided(file, row->unit, 12);
	} else {
		table_put_elided(file, row->group, 78);
	}
	putc('\n', file);
}

static int
by_mean(const void *left, const void *right)
{
	const struct sample_row *a = *(const struct sample_row *const *)left;
	const struct sample_row *b = *(const struct sample_row *const *)right;

	if (isnan(a->mean) || isnan(b->mean))
		return isnan(a->mean) - isnan(b->mean);
	if (a->mean < b->mean || a->mean > b->mean)
		return a->mean < b->mean ? 1 : -1;
	return text_compare_natural(a->node, b->node);
}

/* What the table leaves out. */
struct left_out {
	uint64_t nodes, rows;
};

static void
put_section(const struct samples_report *report, uint32_t first, uint32_t end,
    struct table *table, struct left_out *left_out)
{
	const struct sample_rows *rows = report->rows;
	const struct sample_row **order =
	    memory_alloc((end - first) * sizeof(const struct sample_row *));
	uint32_t count = end - first;

	for (uint32_t i = 0; i < count; i++)
		order[i] = &rows->at[first + i];
	if (rows->by_node && !report->ordered && count > SAMPLES_REPORT_NODES) {
		qsort((void *)order, count, sizeof(const struct sample_row *),
		    by_mean);
		left_out->nodes += count - SAMPLES_REPORT_NODES;
		count = SAMPLES_REPORT_NODES;
	}
	for (uint32_t i = 0; i < count; i++)
		put_row(table, order[i], rows->by_node);
	free((void *)order);
}

static void
put_lacks(const struct sample_rows *rows, FILE *file)
{
	uint64_t lacks[SAMPLE_ROW_LACKS] = { 0 }, unknown = 0;

	for (uint32_t i = 0; i < rows->count; i++) {
		lacks[rows->at[i].lack]++;
		unknown += rows->at[i].unknown;
	}
	if (lacks[SAMPLE_ROW_ROLLED_UP] > 0)
		fprintf(file,
		    "rows without p50 and p99: %" PRIu64 "; only rollups of "
		    "their samples are left,\nminimum and maximum of their "
		    "rates are within 0.1 %%\n",
		    lacks[SAMPLE_ROW_ROLLED_UP]);
	if (lacks[SAMPLE_ROW_DENSE] > 0)
		fprintf(file,
		    "rows without p50 and p99: %" PRIu64 "; samples are less "
		    "than 0.1 s apart\n",
		    lacks[SAMPLE_ROW_DENSE]);
	if (lacks[SAMPLE_ROW_TOO_MANY] > 0)
		fprintf(file,
		    "rows without p50 and p99: %" PRIu64 "; there are more "
		    "than %d values,\nselect fewer with --metric, --node, "
		    "--from or --to\n",
		    lacks[SAMPLE_ROW_TOO_MANY], SAMPLE_ROWS_VALUES_MAX);
	if (unknown > 0)
		fprintf(file,
		    "%" PRIu64 " values do not count: rates of counters that "
		    "started again, or infinite\n",
		    unknown);
}

/* The last lines: what is not there, and how to see it. */
static void
put_notes(const struct samples_report *report, const struct left_out *left_out,
    FILE *file)
{
	const struct sample_rows *rows = report->rows;

	putc('\n', file);
	put_lacks(rows, file);
	if (left_out->rows > 0)
		fprintf(file,
		    "left out: %" PRIu64 " more rows; select with --metric or "
		    "--metric-group, or --format csv\n",
		    left_out->rows);
	if (left_out->nodes > 0)
		fprintf(file,
		    "left out: %" PRIu64 " rows of nodes with smaller means; "
		    "select with -n, or --format csv\n",
		    left_out->nodes);
	if (report->removed > 0)
		fprintf(file,
		    "left out: %" PRIu32 " rows beyond those of --top\n",
		    report->removed);
	if (!rows->by_node)
		fprintf(file,
		    "each row is of all nodes (%" PRIu32 "); --by node shows "
		    "each, and the last value\n",
		    rows->nodes.count);
	else if (left_out->rows + left_out->nodes + report->removed == 0)
		fputs("all nodes are shown\n", file);
}

static void
put_table(const struct samples_report *report, FILE *file)
{
	static const struct table_column of_metrics[] = { { "METRIC", 24,
							      false },
		{ "UNIT", 8, false }, { "COUNT", 6, true },
		{ "MIN", NUMBER_WIDTH, true }, { "MEAN", NUMBER_WIDTH, true },
		{ "P50", NUMBER_WIDTH, true }, { "P99", NUMBER_WIDTH, true },
		{ "MAX", NUMBER_WIDTH, true }, { .title = NULL } };
	static const struct table_column of_nodes[] = { { "NODE", 24, false },
		{ "COUNT", 6, true }, { "MIN", NUMBER_WIDTH, true },
		{ "MEAN", NUMBER_WIDTH, true }, { "P50", NUMBER_WIDTH, true },
		{ "P99", NUMBER_WIDTH, true }, { "MAX", NUMBER_WIDTH, true },
		{ "LAST", NUMBER_WIDTH, true }, { .title = NULL } };
	const struct sample_rows *rows = report->rows;
	char from[CLOCK_TEXT_BYTES], to[CLOCK_TEXT_BYTES];
	struct left_out left_out = { 0, 0 };
	struct table table;
	uint32_t end;

	fputs("samples of ", file);
	table_put_elided(file, report->partition, 68);
	fprintf(file, "\n%s to %s, from %.*s\n",
	    clock_text(from, rows->from_ns, 0), clock_text(to, rows->to_ns, 0),
	    (int)rows->rollup_name.bytes, rows->rollup_name.at);
	if (report->clock[0] != '\0')
		fprintf(file, "%s\n", report->clock);
	putc('\n', file);
	table_begin(&table, file, rows->by_node ? of_nodes : of_metrics);
	for (uint32_t first = 0; first < rows->count; first = end) {
		end = samples_order_section(rows, first);
		if (first - left_out.nodes >= SAMPLES_REPORT_ROWS) {
			left_out.rows += rows->count - first;
			break;
		}
		put_heading(rows, first, file);
		put_section(report, first, end, &table, &left_out);
	}
	put_notes(report, &left_out, file);
}

/* ---- JSON, CSV ---- */

static const char *const lack_words[SAMPLE_ROW_LACKS] = {
	[SAMPLE_ROW_EXACT] = "exact",
	[SAMPLE_ROW_ROLLED_UP] = "rolled up",
	[SAMPLE_ROW_DENSE] = "too dense",
	[SAMPLE_ROW_TOO_MANY] = "too many",
};

enum { NUMBERS = 6 };
static const char *const number_names[NUMBERS] = { "min", "mean", "p50", "p99",
	"max", "last" };

static void
get_numbers(const struct sample_row *row, double numbers[static NUMBERS])
{
	numbers[0] = row->low;
	numbers[1] = row->mean;
	numbers[2] = row->p50;
	numbers[3] = row->p99;
	numbers[4] = row->high;
	numbers[5] = row->last;
}

static void
put_csv(const struct sample_rows *rows, FILE *file)
{
	struct csv csv = { .file = file };
	double numbers[NUMBERS];

	csv_titles(&csv, "group metric");
	if (rows->by_node)
		csv_string(&csv, "node");
	csv_titles(&csv, "unit count");
	for (int i = 0; i < NUMBERS; i++)
		csv_string(&csv, number_names[i]);
	csv_titles(&csv, "left_out quantiles");
	csv_end_row(&csv);
	for (uint32_t at = 0; at < rows->count; at++) {
		const struct sample_row *row = &rows->at[at];

		csv_text(&csv, row->group);
		csv_text(&csv, row->metric);
		if (rows->by_node)
			csv_text(&csv, row->node);
		csv_text(&csv, row->unit);
		csv_uint(&csv, row->count);
		get_numbers(row, numbers);
		for (int i = 0; i < NUMBERS; i++)
			csv_float(&csv, numbers[i]);
		csv_uint(&csv, row->unknown);
		csv_string(&csv, lack_words[row->lack]);
		csv_end_row(&csv);
	}
}

static void
put_object(struct json *json, const struct sample_rows *rows, uint32_t number)
{
	const struct sample_row *row = &rows->at[number];
	double numbers[NUMBERS];

	json_begin_object(json);
	json_add_text(json, "group", row->group);
	json_add_text(json, "metric", row->metric);
	if (rows->by_node) {
		json_add_text(json, "node", row->node);
	}
	json_add_text(json, "unit", row->unit);
	json_add_uint(json, "count", row->count);
	get_numbers(row, numbers);
	for (int i = 0; i < NUMBERS; i++) {
		json_add_float(json, number_names[i], numbers[i]);
	}
	json_add_uint(json, "left_out", row->unknown);
	json_add_string(json, "quantiles", lack_words[row->lack]);
	json_end_object(json);
}

static void
put_lines(const struct sample_rows *rows, FILE *file)
{
	struct json json;

	json_init(&json, file, JSON_STRICT);
	for (uint32_t i = 0; i < rows->count; i++) {
		put_object(&json, rows, i);
		putc('\n', file);
	}
}

static void
put_json(const struct samples_report *report, FILE *file)
{
	const struct sample_rows *rows = report->rows;
	struct json json;

	json_init(&json, file, JSON_STRICT | JSON_INDENTED);
	json_begin_object(&json);
	json_add_text(&json, "partition", report->partition);
	json_add_int(&json, "from_ns", rows->from_ns);
	json_add_int(&json, "to_ns", rows->to_ns);
	json_add_text(&json, "rollup", rows->rollup_name);
	if (report->clock[0] != '\0') {
		json_add_string(&json, "clock", report->clock);
	}
	json_add_uint(&json, "nodes", rows->nodes.count);
	json_add_array(&json, "samples");
	for (uint32_t i = 0; i < rows->count; i++)
		put_object(&json, rows, i);
	json_end_array(&json);
	json_end_object(&json);
	putc('\n', file);
}

void
samples_report_print(
    const struct samples_report *report, enum stats_format format, FILE *file)
{
	switch (format) {
	case STATS_TABLE: put_table(report, file); break;
	case STATS_CSV: put_csv(report->rows, file); break;
	case STATS_JSON: put_json(report, file); break;
	case STATS_JSONL: put_lines(report->rows, file); break;
	}
}
