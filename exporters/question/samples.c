/*
 * question_samples - minimum, mean, quantiles and maximum of metrics: a row for
 * each metric of each metric group, or of each node.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "exporters/question/question.h"
#include "exporters/samples/sample_rows.h"
#include "proto/metric/dynamic_group.h"

/* Of a table that is neither sorted nor cut by the one who asks. */
enum { TABLE_NODES = 20 /* of a metric */, TABLE_ROWS = 200 };

struct row {
	struct text group, metric, node, unit, quantiles, labels;
	uint64_t count, left_out;
	enum answer_flag changed;
	double low, mean, p50, p99, high, last;
};

#define NUMBER(member) ANSWER_AT_NUMBER(struct row, member)

static const struct answer_column columns[] = {
	{ "group", "GROUP", ANSWER_AT_TEXT(struct row, group),
	    "the metric group" },
	{ "metric", "METRIC", ANSWER_AT_TEXT(struct row, metric),
	    "the metric" },
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node),
	    "with --by node: of which node" },
	{ "unit", "UNIT", ANSWER_AT_TEXT(struct row, unit),
	    "the unit of the numbers (UCUM), of a counter that of its rate",
	    .traits = ANSWER_SPARE },
	{ "count", "COUNT", ANSWER_AT_COUNT(struct row, count),
	    "how many values there are" },
	{ "min", "MIN", NUMBER(low), "the least value",
	    .traits = ANSWER_SPARE | ANSWER_IN_UNIT },
	{ "mean", "MEAN", NUMBER(mean), "the mean by time",
	    .traits = ANSWER_IN_UNIT },
	{ "p50", "P50", NUMBER(p50), "the median",
	    .traits = ANSWER_SPARE | ANSWER_IN_UNIT },
	{ "p99", "P99", NUMBER(p99), "99 of 100 are not greater",
	    .traits = ANSWER_SPARE | ANSWER_IN_UNIT },
	{ "max", "MAX", NUMBER(high), "the greatest value",
	    .traits = ANSWER_IN_UNIT },
	{ "last", "LAST", NUMBER(last), "of one node: the newest value",
	    .traits = ANSWER_SPARE | ANSWER_IN_UNIT },
	{ "changed", NULL, ANSWER_AT_FLAG(struct row, changed),
	    "do its values differ? unknown: it has none" },
	{ "left_out", NULL, ANSWER_AT_COUNT(struct row, left_out),
	    "values that do not count: rates of counters that started again, "
	    "or infinite" },
	{ "quantiles", NULL, ANSWER_AT_TEXT(struct row, quantiles),
	    "exact, or why they are not known" },
	{ "labels", "LABELS", ANSWER_AT_TEXT(struct row, labels),
	    "the labels of the group, a JSON object", .traits = ANSWER_SPARE },
	{ .key = NULL },
};

static const struct answer_column head[] = {
	{ "step", ANSWER_HEAD(ANSWER_DURATION), "unknown: there are no steps",
	    "s" },
	{ "rollup", ANSWER_HEAD(ANSWER_TEXT),
	    "the coarsest that was read: raw, 1min or 1h" },
	QUESTION_CLOCK_MEMBER,
	{ "nodes", ANSWER_HEAD(ANSWER_COUNT), "of how many nodes" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "samples", columns },
	{ "head", head }, { .name = NULL } };

/* ---- what is not there ---- */

static const char *const lack_words[SAMPLE_ROW_LACKS] = {
	[SAMPLE_ROW_EXACT] = "exact",
	[SAMPLE_ROW_ROLLED_UP] = "rolled up",
	[SAMPLE_ROW_DENSE] = "too dense",
	[SAMPLE_ROW_TOO_MANY] = "too many",
};

static void
note_lacks(struct answer *answer, const struct sample_rows *rows)
{
	static const char *const why[SAMPLE_ROW_LACKS] = {
		[SAMPLE_ROW_ROLLED_UP] =
		    "only rollups of their samples are left, minimum and "
		    "maximum of their rates are within 0.1 %",
		[SAMPLE_ROW_DENSE] = "samples are less than 0.1 s apart",
		[SAMPLE_ROW_TOO_MANY] =
		    "they have too many values, select fewer with --metric, "
		    "--node, --from or --to",
	};
	uint64_t lacks[SAMPLE_ROW_LACKS] = { 0 }, unknown = 0;

	for (uint32_t i = 0; i < rows->count; i++) {
		lacks[rows->at[i].lack]++;
		unknown += rows->at[i].unknown;
	}
	for (int i = SAMPLE_ROW_EXACT + 1; i < SAMPLE_ROW_LACKS; i++)
		if (lacks[i] > 0)
			answer_note(answer, "quantiles", lacks[i],
			    "rows without p50 and p99: %" PRIu64 "; %s",
			    lacks[i], why[i]);
	if (unknown > 0)
		answer_note(answer, "unknown", unknown,
		    "%" PRIu64 " value%s not count: rates of counters that "
		    "started again, or infinite",
		    unknown, unknown == 1 ? " does" : "s do");
}

/* Other formats have all rows, and of each row what it lacks. */
static void
note_for_people(
    struct answer *answer, const struct sample_rows *rows, uint32_t left_out)
{
	note_lacks(answer, rows);
	if (left_out > 0)
		answer_note(answer, "left_out", left_out,
		    "left out: %" PRIu32 " row%s%s; select with --metric, "
		    "--metric-group or -n, or --format csv",
		    left_out, left_out == 1 ? "" : "s",
		    rows->by_node ? ", of nodes with smaller means" : "");
	if (!rows->by_node)
		answer_note(answer, "nodes", rows->nodes.count,
		    "each row is of all nodes (%" PRIu32 "); --by node shows "
		    "each, and the last value",
		    rows->nodes.count);
}

/* ---- rows ---- */

/* Numbers of two metrics are not compared: a section is a group, or with nodes
 * a metric of a group.  The end of the one that begins with `first`. */
static uint32_t
section_end(const struct sample_rows *rows, uint32_t first)
{
	const struct sample_row *row = &rows->at[first];
	uint32_t end = first + 1;

	while (
	    end < rows->count && text_equal(rows->at[end].group, row->group) &&
	    (!rows->by_node || (text_equal(rows->at[end].metric, row->metric) &&
				   rows->at[end].counter == row->counter)))
		end++;
	return end;
}

static int
by_mean(const void *left, const void *right)
{
	const struct sample_row *a = left, *b = right;

	if (isnan(a->mean) || isnan(b->mean))
		return isnan(a->mean) - isnan(b->mean);
	if (a->mean < b->mean || a->mean > b->mean)
		return a->mean < b->mean ? 1 : -1;
	return text_compare_natural(a->node, b->node);
}

static void
put(struct answer *answer, const struct sample_row *of, bool by_node)
{
	const struct row row = { .group = of->group,
		.metric = of->metric,
		.node = by_node ? of->node : (struct text){ NULL, 0 },
		.unit = of->unit,
		.labels = of->labels,
		.quantiles = text_of(lack_words[of->lack]),
		.count = of->count,
		.left_out = of->unknown,
		.changed = isnan(of->low) || isnan(of->high) ? ANSWER_NO_FLAG
			   : of->low < of->high              ? ANSWER_YES
							     : ANSWER_NO,
		.low = of->low,
		.mean = of->mean,
		.p50 = of->p50,
		.p99 = of->p99,
		.high = of->high,
		.last = of->last };

	answer_row(answer, &row, NULL);
}

/* Of a long table only some rows are put; returns how many are not. */
static uint32_t
put_all(struct answer *answer, const struct sample_rows *rows, bool is_cut)
{
	uint32_t left_out = 0, shown = 0, end;

	for (uint32_t first = 0; first < rows->count; first = end) {
		uint32_t count;

		end = section_end(rows, first);
		count = end - first;
		if (is_cut && rows->by_node && count > TABLE_NODES) {
			qsort(&rows->at[first], count, sizeof(*rows->at),
			    by_mean);
			count = TABLE_NODES;
		}
		if (is_cut && shown >= TABLE_ROWS)
			count = 0;
		answer_next_group(answer);
		for (uint32_t i = 0; i < count; i++)
			put(answer, &rows->at[first + i], rows->by_node);
		shown += count;
		left_out += end - first - count;
	}
	return left_out;
}

/* Of groups whose names do not say whose numbers they have. */
static bool
has_labels(const struct sample_rows *rows)
{
	for (uint32_t i = 0; i < rows->count; i++)
		if (rows->at[i].labels.bytes > 0 &&
		    dynamic_group_is(rows->at[i].group))
			return true;
	return false;
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	const struct question_values *values = asked->values;
	bool by_node = question_by(&question_samples, values) == 1;
	bool for_people = answer_is_for_people(answer);
	struct sample_rows rows;
	uint32_t left_out;
	int rc = sample_rows_read(&rows, by_node, asked->source,
	    asked->partition, &values->metrics, &values->window, err);

	if (rc == 0) {
		question_put_window(&question_samples, asked,
		    &(struct question_window){
			rows.from_ns, rows.to_ns, 0, rows.rollup_name },
		    answer);
		answer_head(answer, "nodes", answer_count(rows.nodes.count));
		if (!by_node) {
			answer_hide_column(answer, "node");
			answer_hide_column(answer, "last");
		}
		if (!has_labels(&rows))
			answer_hide_column(answer, "labels");
		left_out = put_all(answer, &rows,
		    for_people && values->answer.sort == NULL &&
			values->answer.top == 0);
		if (for_people)
			note_for_people(answer, &rows, left_out);
	}
	sample_rows_clear(&rows);
	return rc;
}

const struct question question_samples = { .word = "samples",
	.summary = "minimum, mean, quantiles and maximum of metrics",
	.options =
	    "by metric metric-group node job user start gap from to sort top "
	    "columns",
	.examples = "poolscope stats samples -m 'system.cpu.*' --from -1h\n"
		    "poolscope stats samples --by node -m 'system.memory.*'\n",
	.tables = tables,
	.by = "metric|node",
	.kinds = 1u << RECORD_SAMPLE,
	.ask = ask };
