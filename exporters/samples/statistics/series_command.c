/*
 * stats_series - metrics over time, in equal steps.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/statistics/series_command.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "exporters/samples/node_table.h"
#include "exporters/samples/plot_command.h"
#include "proto/base/memory.h"
#include "proto/base/quantile.h"
#include "proto/format/csv.h"
#include "proto/format/table.h"
#include "proto/json/json.h"
#include "proto/os/clock.h"

/* How the nodes are distributed in one step; NaN without a node. */
enum band { LOW, P10, P50, P90, HIGH, BANDS };
static const char *const band_names[BANDS] = { "min", "p10", "p50", "p90",
	"max" };

struct printer {
	const struct samples *samples; /* finished, of one metric */
	const struct samples_metric *metric;
	bool lines;
	double *values;  /* of one step */
	double *bands;   /* by step, then by band */
	uint32_t *nodes; /* by step */
};

static int
by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static void
make_bands(struct printer *p)
{
	static const unsigned percents[BANDS] = { 1, 10, 50, 90, 100 };
	const struct samples_metric *metric = p->metric;

	for (uint32_t i = 0; i < p->samples->steps; i++) {
		uint32_t count = 0;

		for (uint32_t r = 0; r < metric->count; r++)
			if (!isnan(metric->rows[r].cells[i].mean))
				p->values[count++] =
				    metric->rows[r].cells[i].mean;
		qsort(p->values, count, sizeof(*p->values), by_value);
		p->nodes[i] = count;
		for (int b = 0; b < BANDS; b++)
			p->bands[i * BANDS + (uint32_t)b] =
			    count == 0 ? (double)NAN
			    : b == LOW
				? p->values[0]
				: p->values[quantile_index(count, percents[b])];
	}
}

static uint32_t
line_count(const struct printer *p)
{
	return p->metric->count < STATS_SERIES_LINES ? p->metric->count
						     : STATS_SERIES_LINES;
}

static int64_t
time_of(const struct printer *p, uint32_t step)
{
	return p->samples->from_ns + (int64_t)step * p->samples->step_ns;
}

/* ---- JSON ---- */

static void
put_head(struct json *json, const struct printer *p)
{
	const struct samples_metric *metric = p->metric;
	char text[CLOCK_TEXT_BYTES];

	json_add_text(json, "metric", metric->name);
	json_add_text(json, "group", metric->group);
	json_add_text(json, "unit", metric->unit);
	json_add_bool(json, "rate", metric->counter);
	json_add_text(json, "rollup", metric->rollup);
	json_add_string(json, "clock", p->samples->clock);
	json_add_string(json, "t0", clock_text(text, p->samples->from_ns, 3));
	json_name(json, "t0_ns");
	snprintf(text, sizeof(text), "%" PRId64, p->samples->from_ns);
	json_string(json, text);
	json_add_int(json, "step_ms", p->samples->step_ns / 1000000);
	json_add_uint(json, "steps", p->samples->steps);
	json_add_uint(json, "nodes", metric->count);
	json_add_uint(
	    json, "left_out", p->lines ? metric->count - line_count(p) : 0);
}

static void
put_lines_json(struct json *json, const struct printer *p)
{
	json_add_array(json, "lines");
	for (uint32_t r = 0; r < line_count(p); r++) {
		const struct samples_row *row = &p->metric->rows[r];

		json_begin_object(json);
		json_add_text(json, "node", row->node);
		json_add_array(json, "mean");
		for (uint32_t i = 0; i < p->samples->steps; i++)
			json_float(json, row->cells[i].mean);
		json_end_array(json);
		json_end_object(json);
	}
	json_end_array(json);
}

static void
put_bands_json(struct json *json, const struct printer *p)
{
	json_add_object(json, "bands");
	for (int b = 0; b < BANDS; b++) {
		json_add_array(json, band_names[b]);
		for (uint32_t i = 0; i < p->samples->steps; i++)
			json_float(json, p->bands[i * BANDS + (uint32_t)b]);
		json_end_array(json);
	}
	json_add_array(json, "count");
	for (uint32_t i = 0; i < p->samples->steps; i++)
		json_uint(json, p->nodes[i]);
	json_end_array(json);
	json_end_object(json);
}

/* ---- CSV, and the table ---- */

static void
put_csv(const struct printer *p, FILE *file)
{
	struct csv csv = { .file = file };
	uint32_t rows = p->lines ? line_count(p) : 1;

	for (uint32_t r = 0; r < rows; r++)
		for (uint32_t i = 0; i < p->samples->steps; i++) {
			csv_text(&csv, p->metric->group);
			csv_text(&csv, p->metric->name);
			csv_time(&csv, time_of(p, i));
			if (p->lines) {
				csv_text(&csv, p->metric->rows[r].node);
				csv_float(
				    &csv, p->metric->rows[r].cells[i].mean);
			}
			for (uint32_t b = 0; !p->lines && b < BANDS; b++)
				csv_float(&csv, p->bands[i * BANDS + b]);
			if (!p->lines)
				csv_uint(&csv, p->nodes[i]);
			csv_end_row(&csv);
		}
}

static void
put_csv_titles(bool lines, FILE *file)
{
	struct csv csv = { .file = file };

	csv_titles(&csv, "group metric time");
	if (lines) {
		csv_titles(&csv, "node mean");
	}
	for (int b = 0; !lines && b < BANDS; b++)
		csv_string(&csv, band_names[b]);
	if (!lines)
		csv_string(&csv, "nodes");
	csv_end_row(&csv);
}

/* The table has the distribution in any case. */
static void
put_table(const struct printer *p, FILE *file)
{
	static const struct table_column columns[] = {
		{ "TIME", 24, false },
		{ "MIN", 8, true },
		{ "P10", 8, true },
		{ "P50", 8, true },
		{ "P90", 8, true },
		{ "MAX", 8, true },
		{ "NODES", 6, true },
		{ .title = NULL },
	};
	char text[CLOCK_TEXT_BYTES];
	struct table table;

	table_put_elided(file, p->metric->name, 50);
	fputs(p->metric->counter ? ", " : " in ", file);
	table_put_elided(file, p->metric->unit, 12);
	fputs(p->metric->counter ? " a second\n" : "\n", file);
	table_begin(&table, file, columns);
	for (uint32_t i = 0; i < p->samples->steps; i++) {
		if (p->nodes[i] == 0)
			continue;
		table_string(&table, clock_text(text, time_of(p, i), 0));
		for (uint32_t b = 0; b < BANDS; b++)
			table_number(&table, p->bands[i * BANDS + b]);
		table_count(&table, p->nodes[i]);
	}
}

/* ---- all metrics ---- */

static bool
is_lines(const struct samples *samples, enum stats_series_as as)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < samples->count; i++)
		if (samples->metrics[i].count > most)
			most = samples->metrics[i].count;
	return as == STATS_SERIES_LINE ||
	       (as == STATS_SERIES_AUTO && most <= SAMPLES_LINES);
}

static void
put_metric(struct printer *p, enum stats_format format, struct json *json,
    bool first, FILE *file)
{
	uint32_t steps = p->samples->steps;

	p->values = memory_zero(p->metric->count, sizeof(*p->values));
	p->bands = memory_zero(steps, BANDS * sizeof(*p->bands));
	p->nodes = memory_zero(steps, sizeof(*p->nodes));
	if (!p->lines || format == STATS_TABLE)
		make_bands(p);
	if (format == STATS_JSON) {
		json_begin_object(json);
		put_head(json, p);
		if (p->lines)
			put_lines_json(json, p);
		else
			put_bands_json(json, p);
		json_end_object(json);
	} else if (format == STATS_CSV) {
		put_csv(p, file);
	} else {
		if (!first)
			putc('\n', file);
		put_table(p, file);
	}
	free(p->values);
	free(p->bands);
	free(p->nodes);
}

static void
put_all(const struct samples *samples, enum stats_series_as as,
    enum stats_format format, FILE *file)
{
	bool lines = is_lines(samples, as);
	struct json json;

	json_init(&json, file, JSON_LINE | JSON_STRICT);
	if (format == STATS_JSON)
		json_begin_array(&json);
	else if (format == STATS_CSV)
		put_csv_titles(lines, file);
	for (uint32_t i = 0; i < samples->count; i++) {
		struct samples one = *samples;
		struct printer p = { .samples = &one, .lines = lines };

		/* Each metric group has its own period. */
		one.metrics = &samples->metrics[i];
		one.count = 1;
		samples_finish(&one);
		p.metric = one.metrics;
		put_metric(&p, format, &json, i == 0, file);
	}
	if (format == STATS_JSON) {
		json_end_array(&json);
		putc('\n', file);
	}
}

int
stats_series(struct source *source, struct text partition,
    const struct metric_options *options,
    const struct time_window_options *window, enum stats_series_as as,
    enum stats_format format, FILE *file, struct err *err)
{
	struct samples samples = { .step_ns = 0 };
	struct time_window time_window;
	int rc;

	if (options->metrics.count == 0)
		return err_set(err, "--metric: name a metric, such as "
				    "system.memory.usage, or a pattern");
	string_table_init(&samples.texts);
	rc = time_window_open(&time_window, window, source, partition, err);
	if (rc == 0)
		rc = time_window_narrow(&time_window, source, partition, err);
	if (rc == 0)
		rc = plot_samples_read(&samples, source, partition, options,
		    window, &time_window, err);
	if (rc == 0 && samples.count > STATS_SERIES_METRICS)
		rc = err_set(err,
		    "these are %" PRIu32 " metrics; at most %d are given at "
		    "once: name fewer with --metric and --metric-group",
		    samples.count, STATS_SERIES_METRICS);
	source_clock_words(samples.clock, source_clock(source));
	if (rc == 0)
		put_all(&samples, as, format, file);
	samples_clear(&samples);
	time_window_close(&time_window);
	return rc;
}
