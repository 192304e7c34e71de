/*
 * question_series - metrics over time, in equal steps: a line for each node, or
 * how the nodes are distributed.  The numbers are those of the pictures.
 *
 * A row is a step of a line, or of the distribution of a metric; the second
 * table says of each line how many rows it has, so that rows without names are
 * enough for those who draw.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "exporters/question/question.h"
#include "exporters/samples/node_table.h"
#include "exporters/samples/plot_command.h"
#include "exporters/samples/unit.h"
#include "exporters/samples/used.h"
#include "proto/base/memory.h"
#include "proto/base/quantile.h"
#include "proto/metric/dynamic_group.h"

enum { METRICS_MAX = 8, LINES_MAX = 50 /* of each metric */ };
enum as { AS_AUTO, AS_LINES, AS_BANDS, AS_USED };

/* How the nodes are distributed in one step; NaN without a node. */
enum band { LOW, P10, P50, P90, HIGH, BANDS };

struct row {
	struct text group, metric, node, unit, labels;
	int64_t time;
	double mean, bands[BANDS];
	uint64_t nodes;
	enum answer_flag few;
};

#define BAND(band) ANSWER_AT_NUMBER(struct row, bands[band])

static const struct answer_column columns[] = {
	{ "group", "GROUP", ANSWER_AT_TEXT(struct row, group),
	    "the metric group" },
	{ "metric", "METRIC", ANSWER_AT_TEXT(struct row, metric),
	    "the metric" },
	{ "time", "TIME", ANSWER_AT_TIME(struct row, time),
	    "when the step begins" },
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node),
	    "of a line: the node" },
	{ "mean", "MEAN", ANSWER_AT_NUMBER(struct row, mean),
	    "of a line: the mean of the step; as used: of all nodes together",
	    .traits = ANSWER_IN_UNIT },
	{ "min", "MIN", BAND(LOW), "the least mean of a node",
	    .traits = ANSWER_IN_UNIT },
	{ "p10", "P10", BAND(P10), "one of ten means is not greater",
	    .traits = ANSWER_SPARE | ANSWER_IN_UNIT },
	{ "p50", "P50", BAND(P50), "the median of the means",
	    .traits = ANSWER_IN_UNIT },
	{ "p90", "P90", BAND(P90), "nine of ten means are not greater",
	    .traits = ANSWER_SPARE | ANSWER_IN_UNIT },
	{ "max", "MAX", BAND(HIGH), "the greatest mean of a node",
	    .traits = ANSWER_IN_UNIT },
	{ "nodes", "NODES", ANSWER_AT_COUNT(struct row, nodes),
	    "how many nodes have a value in the step", .traits = ANSWER_SPARE },
	{ "few", NULL, ANSWER_AT_FLAG(struct row, few),
	    "are these fewer than half of the nodes of another step? Then the "
	    "step says nothing of all" },
	{ "unit", "UNIT", ANSWER_AT_TEXT(struct row, unit),
	    "the unit of the numbers (UCUM), of a counter that of its rate",
	    .traits = ANSWER_SPARE },
	{ "labels", "LABELS", ANSWER_AT_TEXT(struct row, labels),
	    "the labels of the group, a JSON object", .traits = ANSWER_SPARE },
	{ .key = NULL },
};

struct line {
	struct text group, metric, node, unit, rollup, labels;
	enum answer_flag rate;
	int64_t begin, step;
	uint64_t steps, nodes, left_out;
};

static const struct answer_column line_columns[] = {
	{ "group", "GROUP", ANSWER_AT_TEXT(struct line, group),
	    "the metric group" },
	{ "metric", "METRIC", ANSWER_AT_TEXT(struct line, metric),
	    "the metric" },
	{ "node", "NODE", ANSWER_AT_TEXT(struct line, node),
	    "of which node; unknown: how all are distributed" },
	{ "unit", "UNIT", ANSWER_AT_TEXT(struct line, unit),
	    "the unit of its numbers (UCUM)" },
	{ "rate", "RATE", ANSWER_AT_FLAG(struct line, rate),
	    "is it a counter, whose numbers are its rates?" },
	{ "rollup", "FROM", ANSWER_AT_TEXT(struct line, rollup),
	    "what the numbers were made from: raw, 1min or 1h" },
	{ "begin", "BEGIN", ANSWER_AT_TIME(struct line, begin),
	    "when the first step begins", .traits = ANSWER_SPARE },
	{ "step", "STEP", ANSWER_AT_DURATION(struct line, step),
	    "how long a step is" },
	{ "steps", "STEPS", ANSWER_AT_COUNT(struct line, steps),
	    "how many rows it has, in the order of the lines",
	    .traits = ANSWER_SPARE },
	{ "nodes", "NODES", ANSWER_AT_COUNT(struct line, nodes),
	    "how many nodes have the metric" },
	{ "left_out", NULL, ANSWER_AT_COUNT(struct line, left_out),
	    "how many of them have no line here" },
	{ "labels", "LABELS", ANSWER_AT_TEXT(struct line, labels),
	    "the labels of the group, a JSON object" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "series", columns },
	{ "lines", line_columns }, { "head", question_window_head },
	{ .name = NULL } };

struct asking {
	struct answer *answer;
	struct samples *of; /* finished, of one metric each */
	uint32_t count;
	bool lines, used;
	uint64_t few; /* steps */
};

/* ---- rows ---- */

static struct row
row_of(const struct samples *samples, uint32_t step)
{
	const struct samples_metric *metric = samples->metrics;

	return (struct row){ .group = metric->group,
		.metric = metric->name,
		.unit = metric->unit,
		.labels = metric->labels,
		.time = samples->from_ns + (int64_t)step * samples->step_ns,
		.mean = NAN,
		.bands = { NAN, NAN, NAN, NAN, NAN },
		.nodes = ANSWER_NO_COUNT,
		.few = ANSWER_NO_FLAG };
}

static uint32_t
line_count(const struct asking *asking, const struct samples_metric *metric)
{
	if (!asking->lines)
		return 1;
	return metric->count < LINES_MAX ? metric->count : LINES_MAX;
}

static void
put_lines(const struct asking *asking, const struct samples *samples)
{
	const struct samples_metric *metric = samples->metrics;

	for (uint32_t r = 0; r < line_count(asking, metric); r++)
		for (uint32_t i = 0; i < samples->steps; i++) {
			struct row row = row_of(samples, i);

			row.node = metric->rows[r].node;
			row.mean = metric->rows[r].cells[i].mean;
			answer_row(asking->answer, &row, NULL);
		}
}

static void
put_bands(struct asking *asking, const struct samples *samples)
{
	static const unsigned percents[BANDS] = { 0, 10, 50, 90, 100 };
	const struct samples_metric *metric = samples->metrics;
	double *values = memory_zero(metric->count, sizeof(*values));

	for (uint32_t i = 0; i < samples->steps; i++) {
		struct row row = row_of(samples, i);
		uint32_t count = 0;

		for (uint32_t r = 0; r < metric->count; r++)
			if (!isnan(metric->rows[r].cells[i].mean))
				values[count++] = metric->rows[r].cells[i].mean;
		row.nodes = count;
		row.few =
		    samples_step_is_few(metric, i) ? ANSWER_YES : ANSWER_NO;
		asking->few += row.few == ANSWER_YES;
		for (int b = P10; count > 0 && b < BANDS; b++)
			row.bands[b] =
			    quantile_select(values, count, percents[b]);
		for (uint32_t k = 0; k < count; k++)
			row.bands[LOW] = fmin(row.bands[LOW], values[k]);
		if (count > 0 || !answer_is_for_people(asking->answer))
			answer_row(asking->answer, &row, NULL);
	}
	free(values);
}

/* ---- used and all ---- */

/* What is used in turn, and what shows how much there is. */
static const struct used_of {
	const char *group, *used, *beside;
	bool cpus;
} used_of[] = {
	{ "cpu", USED_IDLE, USED_IOWAIT, true },
	{ "memory", USED_MEMORY, USED_LIMIT, false },
};
enum { USED_OF = sizeof(used_of) / sizeof(*used_of) };

struct used_sum {
	double used, all;
	uint64_t nodes;
};

/* Of a node; `all` NaN: it is not known how much it has. */
static void
add_used(struct used_sum *sum, bool cpus, double value, double beside,
    double of_node)
{
	double all = cpus ? of_node : beside;

	if (isnan(value) || isnan(all))
		return;
	sum->used += cpus ? all * used_share(100, value, beside) : value;
	sum->all += all;
	sum->nodes++;
}

/* Both metrics have the same steps, and their rows one order. */
static struct used_sum *
sum_used(const struct samples *samples, const struct samples_metric *beside,
    bool cpus)
{
	const struct samples_metric *metric = samples->metrics;
	struct used_sum *sums = memory_zero(samples->steps + 1, sizeof(*sums));

	for (uint32_t r = 0, k = 0; r < metric->count; r++) {
		struct text node = metric->rows[r].node;
		const struct cpus_of_node *of =
		    cpus ? cpus_find(samples->cpus, node) : NULL;
		const struct samples_cell *cells = NULL;

		while (beside != NULL && k < beside->count &&
		       text_compare_natural(beside->rows[k].node, node) < 0)
			k++;
		if (beside != NULL && k < beside->count &&
		    text_equal(beside->rows[k].node, node))
			cells = beside->rows[k].cells;
		for (uint32_t i = 0; i < samples->steps; i++)
			add_used(&sums[i], cpus, metric->rows[r].cells[i].mean,
			    cells != NULL ? cells[i].mean : NAN,
			    cpus_at(of, samples->from_ns +
					    (int64_t)i * samples->step_ns));
	}
	return sums;
}

static void
put_used_line(struct asking *asking, const struct samples *samples,
    const struct used_sum *sums, bool all)
{
	uint64_t most = 0;

	answer_next_group(asking->answer);
	for (uint32_t i = 0; i < samples->steps; i++)
		most = sums[i].nodes > most ? sums[i].nodes : most;
	for (uint32_t i = 0; i < samples->steps; i++) {
		struct row row = row_of(samples, i);
		bool few = sums[i].nodes < most - sums[i].nodes;

		row.nodes = sums[i].nodes;
		row.few = few ? ANSWER_YES : ANSWER_NO;
		asking->few += few;
		if (sums[i].nodes > 0)
			row.mean = all ? sums[i].all : sums[i].used;
		if (sums[i].nodes > 0 || !answer_is_for_people(asking->answer))
			answer_row(asking->answer, &row, NULL);
	}
}

/* The metric, moved to where it is wanted; NULL: it has no samples. */
static struct samples_metric *
move_metric(
    struct samples *samples, uint32_t to, const char *group, const char *name)
{
	for (uint32_t i = to; i < samples->count; i++) {
		struct samples_metric metric = samples->metrics[i];

		if (!text_equal(metric.group, text_of(group)) ||
		    !text_equal(metric.name, text_of(name)))
			continue;
		samples->metrics[i] = samples->metrics[to];
		samples->metrics[to] = metric;
		return &samples->metrics[to];
	}
	return NULL;
}

/* Unless there are groups whose names do not say whose numbers they have. */
static void
hide_labels(const struct asking *asking)
{
	for (uint32_t i = 0; i < asking->count; i++)
		if (asking->of[i].metrics->labels.bytes > 0 &&
		    dynamic_group_is(asking->of[i].metrics->group))
			return;
	answer_hide_column(asking->answer, "labels");
}

static void
put_line_table(const struct asking *asking)
{
	uint64_t left_out = 0;

	answer_begin_table(asking->answer, "lines");
	hide_labels(asking);
	for (uint32_t m = 0; m < asking->count; m++) {
		const struct samples *samples = &asking->of[m];
		const struct samples_metric *metric = samples->metrics;
		uint32_t lines = line_count(asking, metric);
		struct line line = { .group = metric->group,
			.metric = metric->name,
			.unit = metric->unit,
			.labels = metric->labels,
			.rollup = metric->rollup,
			.rate = metric->counter ? ANSWER_YES : ANSWER_NO,
			.begin = samples->from_ns,
			.step = samples->step_ns,
			.steps = samples->steps,
			.nodes = metric->count,
			.left_out = asking->lines ? metric->count - lines : 0 };

		left_out += line.left_out;
		for (uint32_t r = 0; r < lines; r++) {
			if (asking->lines)
				line.node = metric->rows[r].node;
			answer_row(asking->answer, &line, NULL);
		}
	}
	if (left_out > 0)
		answer_note(asking->answer, "left_out", left_out,
		    "left out: %" PRIu64 " line%s, of nodes beyond %d of a "
		    "metric; select with --node, or --as bands",
		    left_out, left_out == 1 ? "" : "s", LINES_MAX);
	if (asking->few > 0)
		answer_note(asking->answer, "few", asking->few,
		    "few nodes in %" PRIu64 " step%s: fewer than half of those "
		    "of another step; of the others nothing is known there",
		    asking->few, asking->few == 1 ? "" : "s");
}

/* ---- asking ---- */

static bool
is_lines(const struct samples *samples, enum as as, bool for_people)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < samples->count; i++)
		if (samples->metrics[i].count > most)
			most = samples->metrics[i].count;
	return as == AS_LINES ||
	       (as == AS_AUTO && !for_people && most <= SAMPLES_LINES);
}

static void
hide_columns(const struct asking *asking)
{
	static const char *const of_lines[] = { "node", "mean", NULL };
	static const char *const of_used[] = { "node", "min", "p10", "p50",
		"p90", "max", NULL };
	static const char *const of_bands[] = { "min", "p10", "p50", "p90",
		"max", "nodes", "few", NULL };
	const char *const *hidden = asking->used    ? of_used
				    : asking->lines ? of_bands
						    : of_lines;

	for (; *hidden != NULL; hidden++)
		answer_hide_column(asking->answer, *hidden);
	hide_labels(asking);
}

static void
put_all(const struct samples *samples, struct asking *asking)
{
	struct samples of[METRICS_MAX];

	asking->of = of;
	asking->count = samples->count;
	for (uint32_t i = 0; i < samples->count; i++) {
		/* Each metric group has its own period. */
		of[i] = *samples;
		of[i].metrics = &samples->metrics[i];
		of[i].count = 1;
	}
	hide_columns(asking);
	for (uint32_t i = 0; i < samples->count; i++) {
		samples_finish(&of[i]);
		answer_next_group(asking->answer);
		if (asking->lines)
			put_lines(asking, &of[i]);
		else
			put_bands(asking, &of[i]);
	}
	put_line_table(asking);
}

/* As lines of two metrics, "used" and "all", of which the first is never
 * more. */
static void
put_used(struct samples *samples, struct asking *asking)
{
	struct samples of[2 * USED_OF];
	struct samples_metric lines[2 * USED_OF];
	uint32_t at = 0;

	asking->of = of;
	hide_columns(asking);
	for (uint32_t i = 0; i < USED_OF; i++) {
		const struct used_of *what = &used_of[i];
		struct samples two = *samples;
		struct samples_metric *beside;
		struct used_sum *sums;

		if (move_metric(samples, at, what->group, what->used) == NULL)
			continue;
		beside =
		    move_metric(samples, at + 1, what->group, what->beside);
		two.metrics = &samples->metrics[at];
		two.count = beside != NULL ? 2 : 1;
		at += two.count;
		samples_finish(&two);
		sums = sum_used(&two, beside, what->cpus);
		for (int all = 0; all < 2; all++) {
			struct samples_metric *line = &lines[asking->count];

			*line = *two.metrics;
			line->name = text_of(all ? "all" : "used");
			line->unit = text_of(what->cpus ? "{cpu}" : "By");
			of[asking->count] = two;
			of[asking->count].metrics = line;
			put_used_line(asking, &of[asking->count++], sums, all);
		}
		free(sums);
	}
	put_line_table(asking);
}

static struct text
coarsest(const struct samples *samples)
{
	struct text rollup = { NULL, 0 };

	for (uint32_t i = 0; i < samples->count; i++)
		if (series_rollup_rank(samples->metrics[i].rollup) >
		    series_rollup_rank(rollup))
			rollup = samples->metrics[i].rollup;
	return rollup;
}

static int
check(const struct question_values *values, struct err *err)
{
	if (values->as == AS_USED &&
	    (values->metrics.metrics.count > 0 || values->metrics.group))
		return err_set_option(err, "as",
		    "used has its own metrics: leave out --metric and "
		    "--metric-group");
	if (values->metrics.metrics.count > 0 || values->as == AS_USED)
		return 0;
	return err_set_option(err, "metric",
	    "is needed: name a metric, such as system.memory.usage, or a "
	    "pattern");
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	const struct question_values *values = asked->values;
	struct samples samples = { .step_ns = 0 };
	struct asking asking = { .answer = answer };
	struct metric_options metrics = values->metrics;
	struct time_window window;
	int rc;

	asking.used = values->as == AS_USED;
	if (asking.used)
		metrics.metrics = (struct opt_list){
			{ USED_IDLE " " USED_IOWAIT " " USED_MEMORY
				    " " USED_LIMIT },
			1
		};
	string_table_init(&samples.texts);
	rc = time_window_open(
	    &window, &values->window, asked->source, asked->partition, err);
	window.is_of_two = asking.used;
	if (rc == 0)
		rc = time_window_narrow(
		    &window, asked->source, asked->partition, err);
	if (rc == 0)
		rc = plot_samples_read(&samples, asked->source,
		    asked->partition, &metrics, &values->window, &window, err);
	if (rc == 0 && !asking.used && samples.count > METRICS_MAX)
		rc = err_set(err,
		    "these are %" PRIu32 " metrics; at most %d are given at "
		    "once: name fewer with --metric and --metric-group",
		    samples.count, METRICS_MAX);
	if (rc == 0) {
		asking.lines =
		    !asking.used && is_lines(&samples, (enum as)values->as,
					answer_is_for_people(answer));
		question_put_window(&question_series, asked,
		    &(struct question_window){
			window.from_ns, window.to_ns, 0, coarsest(&samples) },
		    answer);
		if (asking.used)
			put_used(&samples, &asking);
		else
			put_all(&samples, &asking);
	}
	samples_clear(&samples);
	time_window_close(&window);
	return rc;
}

const struct question question_series = { .word = "series",
	.summary = "metrics over time, in equal steps",
	.options =
	    "metric metric-group node job user start gap from to step as "
	    "shape sort top columns",
	.examples = "poolscope stats series -m 'system.memory.*' --from -1h\n"
		    "poolscope stats series -m system.cpu.time.idle --as "
		    "bands\n"
		    "poolscope stats series --as used --from -1h\n",
	.tables = tables,
	.kinds = 1u << RECORD_SAMPLE,
	.check = check,
	.ask = ask };
