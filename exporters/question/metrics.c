/*
 * question_metrics - the numbers of pools for Prometheus, or a row each.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/metrics/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "exporters/question/question.h"
#include "exporters/nodes/partition_rows.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { METRIC_BYTES = 128, LABELS_BYTES = 3 * (NAME_BYTES_MAX + 16) };

struct row {
	struct text metric, partition, node, place, labels;
	struct text phase, model, group, state, record, le, unmatched, reason;
	struct text version, unit, kind;
	double value;
};

/* Those of a label have its name. */
static const struct answer_column columns[] = {
	{ "metric", "METRIC", ANSWER_AT_TEXT(struct row, metric),
	    "its name in OpenMetrics" },
	{ "partition", "PARTITION", ANSWER_AT_TEXT(struct row, partition),
	    "account$pool" },
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node),
	    "of a metric of nodes" },
	{ "place", NULL, ANSWER_AT_TEXT(struct row, place),
	    "of a metric of a store: the store, aggregator or archive" },
	{ "labels", "OF", ANSWER_AT_TEXT(struct row, labels),
	    "all labels but the partition and the node, as NAME=VALUE" },
	{ "phase", NULL, ANSWER_AT_TEXT(struct row, phase), "the phase" },
	{ "model", NULL, ANSWER_AT_TEXT(struct row, model),
	    "the model of test runs" },
	{ "group", NULL, ANSWER_AT_TEXT(struct row, group),
	    "the group of test runs" },
	{ "state", NULL, ANSWER_AT_TEXT(struct row, state),
	    "the state of nodes, or of test runs" },
	{ "record", NULL, ANSWER_AT_TEXT(struct row, record),
	    "the kind of records: label kind" },
	{ "le", NULL, ANSWER_AT_TEXT(struct row, le),
	    "of a histogram: at most so long" },
	{ "unmatched", NULL, ANSWER_AT_TEXT(struct row, unmatched),
	    "start or end of a phase" },
	{ "reason", NULL, ANSWER_AT_TEXT(struct row, reason),
	    "why frames were refused" },
	{ "version", NULL, ANSWER_AT_TEXT(struct row, version),
	    "of the program" },
	{ "value", "VALUE", ANSWER_AT_NUMBER(struct row, value), "the number" },
	{ "unit", "UNIT", ANSWER_AT_TEXT(struct row, unit),
	    "of the value, as OpenMetrics has it: seconds, bytes, ratio" },
	{ "kind", NULL, ANSWER_AT_TEXT(struct row, kind),
	    "gauge, counter, histogram or info" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "metrics", columns },
	{ .name = NULL } };

/* ---- rows ---- */

static void
set_label(struct row *row, const struct exposition_label *label)
{
	/* A column says which kind of number it is. */
	const char *key =
	    strcmp(label->name, "kind") == 0 ? "record" : label->name;
	const struct answer_column *column = columns;

	while (column->key != NULL && strcmp(column->key, key) != 0)
		column++;
	if (column->key != NULL)
		memcpy((char *)row + column->offset, &label->value,
		    sizeof(label->value));
}

static bool
has_own_column(const struct exposition_label *label)
{
	return strcmp(label->name, "partition") == 0 ||
	       strcmp(label->name, "node") == 0;
}

static void
take(void *arg, const struct exposition_family *family, const char *suffix,
    const struct exposition_label *labels, double value)
{
	char metric[METRIC_BYTES], text[LABELS_BYTES];
	struct row row = { .value = value,
		.kind = text_of(exposition_type_words[family->type]) };
	size_t used = 0;

	snprintf(metric, sizeof(metric), "%s%s", family->name, suffix);
	row.metric = text_of(metric);
	if (family->unit[0] != '\0')
		row.unit = text_of(family->unit);
	for (int i = 0; i < EXPOSITION_LABELS && labels[i].name != NULL; i++) {
		set_label(&row, &labels[i]);
		if (!has_own_column(&labels[i]) && used < sizeof(text))
			used += (size_t)snprintf(text + used,
			    sizeof(text) - used, "%s%s=%.*s",
			    used > 0 ? " " : "", labels[i].name,
			    (int)labels[i].value.bytes, labels[i].value.at);
	}
	if (used > 0)
		row.labels = text_of(text);
	answer_row(arg, &row, NULL);
}

static int
read_metrics(struct metrics **metrics, const struct question_asked *asked,
    struct err *err)
{
	if (asked->source == NULL)
		return err_set(err, "%s", asked->silent);
	*metrics = metrics_new(
	    asked->source, asked->pattern, asked->values->of_what == 1);
	return metrics_read(*metrics, clock_wall_ns(), err);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct exposition exposition = { .take = take, .arg = answer };
	struct metrics *metrics = NULL;
	int rc = read_metrics(&metrics, asked, err);

	if (rc == 0 && asked->pattern.bytes > 0 && metrics_is_empty(metrics))
		rc = partition_rows_refuse(asked->source, asked->pattern, err);
	if (rc == 0)
		metrics_give(metrics, &exposition);
	metrics_free(&metrics);
	return rc;
}

/* ---- the formats of Prometheus ---- */

static bool
wants_rows(const struct question_values *values)
{
	return question_is_given(values, "format") ||
	       question_is_given(values, "table") ||
	       question_is_given(values, "sort") ||
	       question_is_given(values, "top") ||
	       question_is_given(values, "columns");
}

static int
check(const struct question_values *values, struct err *err)
{
	if (values->prometheus && wants_rows(values))
		return err_set_option(err, "prometheus",
		    "is a format of its own: leave out --format, --table, "
		    "--sort, --top and --columns");
	return 0;
}

/* A source that does not answer is an answer, too: it is down. */
static int
write_text(const struct question_asked *asked, FILE *file, struct err *err)
{
	enum exposition_format format = asked->values->prometheus
					    ? EXPOSITION_PROMETHEUS
					    : EXPOSITION_OPENMETRICS;
	struct metrics *metrics = NULL;

	if (wants_rows(asked->values))
		return 1;
	if (read_metrics(&metrics, asked, err) == 0) {
		metrics_write(metrics, format, file);
	} else {
		metrics_write_down(format, file);
		log_fail(err);
		*asked->status = EXIT_FAILURE;
	}
	metrics_free(&metrics);
	return 0;
}

const struct question question_metrics = { .word = "metrics",
	.summary = "numbers of pools for Prometheus (OpenMetrics)",
	.options = "metrics prometheus sort top columns",
	.examples = "poolscope stats metrics --prometheus -o poolscope.prom\n"
		    "poolscope stats metrics -p 'acct$*' --metrics nodes\n"
		    "poolscope stats metrics --format csv\n",
	.tables = tables,
	.is_of_all = true,
	.ages = true,
	.takes_silence = true,
	.check = check,
	.ask = ask,
	.write = write_text };
