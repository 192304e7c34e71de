/*
 * question_values - the values of the options of all questions.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/question/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/metrics/metrics.h"
#include "exporters/nodes/pools.h"
#include "proto/config/opt.h"

void
question_kept_clear(struct question_kept *kept)
{
	pools_kept_free(&kept->pools);
	metrics_free(&kept->metrics);
	free(kept->pattern);
	kept->pattern = NULL;
}

#define RUNS_OF(property)                                                      \
	OPT_TO(struct question_values, runs.wanted.of[property])

static const struct opt own_options[] = {
	{ "by", 0, OPT_TEXT, OPT_TO(struct question_values, by), "WHAT",
	    "print a row for each of these; compare: what is compared, start "
	    "(default), run, result or job; phases: pool (default), node or "
	    "key; slow: node (default) or phase; spans: name (default), track, "
	    "node or span; samples: metric (default) or node; runs: run "
	    "(default), error, requestor, queue or configuration" },
	{ "name", 0, OPT_TEXT, OPT_TO(struct question_values, name), "PATTERN",
	    "show only phases or spans that match this pattern, such as "
	    "cascade:p*; compare: only jobs whose names do" },
	{ "queue", 0, OPT_TEXT, RUNS_OF(RUNS_QUEUE), "PATTERN",
	    "runs: show only those of queues that match this pattern" },
	{ "configuration", 0, OPT_TEXT, RUNS_OF(RUNS_CONFIGURATION), "PATTERN",
	    "runs: show only those with a configuration that matches this "
	    "pattern" },
	{ "requestor", 0, OPT_TEXT, RUNS_OF(RUNS_REQUESTOR), "PATTERN",
	    "runs: show only those that somebody requested who matches this "
	    "pattern" },
	{ "error", 0, OPT_TEXT, RUNS_OF(RUNS_ERROR), "PATTERN",
	    "runs: show only those that ended with an error whose text matches "
	    "this pattern, such as '*timeout*'" },
	{ "state", 0, OPT_CHOICE,
	    OPT_TO(struct question_values, runs.wanted.state), "STATE",
	    "runs: show only those that are in this state (default: all); "
	    "failed: that ended with an error; the others have none",
	    "all|queued|ongoing|finished|failed" },
	{ "strict", 0, OPT_FLAG, OPT_TO(struct question_values, strict), NULL,
	    "cascade, perf: fail when a node is incomplete, or has no report" },
	{ "rows", 0, OPT_COUNT, OPT_TO(struct question_values, rows), "N",
	    "breakdown, timeline with --pixels: print at most N rows, of which "
	    "each stands for several nodes (default: 800)" },
	{ "pixels", 0, OPT_COUNT, OPT_TO(struct question_values, pixels), "N",
	    "timeline: print what a picture of this width shows" },
	{ "order", 0, OPT_CHOICE, OPT_TO(struct question_values, order),
	    "ORDER",
	    "timeline: nodes in a phase without an end come first, then by "
	    "their first begin (default), their name, or the longest",
	    "begin|name|longest" },
	{ "lanes", 0, OPT_FLAG, OPT_TO(struct question_values, lanes), NULL,
	    "timeline: print each phase whole, with the number of a lane: "
	    "phases that run at once have different ones" },
	{ "as", 0, OPT_CHOICE, OPT_TO(struct question_values, as), "FORM",
	    "series: a line for each node, bands: the distribution of the "
	    "nodes, or used: processors and memory of all together (default: "
	    "auto: lines of up to 12 nodes)",
	    "auto|lines|bands|used" },
	{ "shape", 0, OPT_CHOICE, OPT_TO(struct question_values, answer.shape),
	    "SHAPE",
	    "json: print tables as rows (default), or as an array for each "
	    "column",
	    "rows|columns", .flags = OPT_OUTPUT },
	{ "metrics", 0, OPT_CHOICE, OPT_TO(struct question_values, of_what),
	    "WHAT", "metrics: those of pools (default), or of their nodes too",
	    "pools|nodes" },
	{ "prometheus", 0, OPT_FLAG, OPT_TO(struct question_values, prometheus),
	    NULL, "metrics: print the older text format 0.0.4 of Prometheus",
	    .flags = OPT_OUTPUT },
	{ "places", 0, OPT_LIST, OPT_TO(struct question_values, whatif.places),
	    "KEY=[+]N",
	    "whatif: as if N (or N more) of a phase of this key could run at "
	    "once; KEY is a pattern" },
	{ "length", 0, OPT_LIST, OPT_TO(struct question_values, whatif.lengths),
	    "PHASE[,KEY]=FACTOR",
	    "whatif: as if these phases took as many times as long; both are "
	    "patterns" },
	{ "begin", 0, OPT_LIST, OPT_TO(struct question_values, whatif.begins),
	    "NODES=SECONDS",
	    "whatif: as if these nodes began so long after the start" },
	{ "size", 0, OPT_LIST, OPT_TO(struct question_values, whatif.sizes),
	    "KEY=FACTOR",
	    "whatif: as if this image, or other key, had as many times as many "
	    "bytes; KEY is a pattern" },
	{ "without", 0, OPT_LIST,
	    OPT_TO(struct question_values, whatif.without), "NODES",
	    "whatif: as if these nodes were not there" },
	{ "spreads", 0, OPT_TEXT,
	    OPT_TO(struct question_values, stragglers.spreads), "N",
	    "stragglers: too long is more than N spreads above the median "
	    "(default: 5)" },
	{ "ratio", 0, OPT_TEXT,
	    OPT_TO(struct question_values, stragglers.ratio), "N",
	    "stragglers: and more than N times the median (default: 1.4)" },
	{ "least", 0, OPT_DURATION,
	    OPT_TO(struct question_values, stragglers.least_ns), "TIME",
	    "stragglers: and more than this above it (default: 8s)" },
	{ "work", 0, OPT_TEXT, OPT_TO(struct question_values, stragglers.work),
	    "PATTERN",
	    "stragglers: which rank of a job comes last: the spans of its work "
	    "in each step" },
	{ "wait", 0, OPT_TEXT, OPT_TO(struct question_values, stragglers.wait),
	    "PATTERN",
	    "stragglers: with --work: the spans of waiting that follow" },
	{ "last", 0, OPT_DURATION,
	    OPT_TO(struct question_values, stragglers.last_ns), "TIME",
	    "stragglers: also which nodes were slow in the starts of this time "
	    "before the newest one (default of --drain: 30d)" },
	{ "drain", 0, OPT_FLAG,
	    OPT_TO(struct question_values, stragglers.drain), NULL,
	    "stragglers: print the names of nodes that are slow more often "
	    "than chance has it, and nothing else",
	    .flags = OPT_OUTPUT },
	{ "clock-error", 0, OPT_DURATION,
	    OPT_TO(struct question_values, stragglers.error_ns), "TIME",
	    "stragglers: with --work: clocks that were not measured are off by "
	    "this at most" },
	{ "base", 0, OPT_LIST, OPT_TO(struct question_values, compare.base),
	    "last:N|RUN",
	    "compare: the old runs: the newest N before the new ones (default: "
	    "last:20), or these; may be repeated" },
	{ "with", 0, OPT_LIST, OPT_TO(struct question_values, compare.with),
	    "last:N|RUN",
	    "compare: the new runs: the newest N (default: last:5), or these; "
	    "may be repeated" },
	{ "with-store", 0, OPT_TEXT,
	    OPT_TO(struct question_values, compare.store), "DIR",
	    "compare: the new runs are those of the store in this directory",
	    .flags = OPT_OUTPUT },
	{ "worse", 0, OPT_TEXT, OPT_TO(struct question_values, compare.worse),
	    "PERCENT",
	    "compare: what takes more than this part longer is worse (default: "
	    "1%)" },
	{ "mixed", 0, OPT_FLAG, OPT_TO(struct question_values, compare.mixed),
	    NULL,
	    "compare: compare runs with those that are not like them, too" },
	{ "report", 0, OPT_CHOICE,
	    OPT_TO(struct question_values, compare.report), "FORMAT",
	    "compare: print for continuous integration instead: JUnit XML, or "
	    "annotations of GitHub",
	    "none|junit|github", .flags = OPT_OUTPUT },
	{ "test", 0, OPT_TEXT, OPT_TO(struct question_values, test), "TEST",
	    "compare: of results: the name of the test" },
	{ "entry", 0, OPT_TEXT, OPT_TO(struct question_values, entry), "ENTRY",
	    "compare: of results: only this entry" },
	{ "verbose", 'v', OPT_FLAG, OPT_TO(struct question_values, verbose),
	    NULL, "status: print all counters" },
	{ .name = NULL },
};

struct question_values
question_values_default(void)
{
	return (struct question_values){ .window = TIME_WINDOW_ALL,
		.runs = RUNS_DEFAULT,
		.starts = STARTS_DEFAULT,
		.perf = PERF_OPTIONS_DEFAULT,
		.stragglers = { .least_ns = 8 * NS_PER_SECOND,
		    .last_ns = 30 * 86400 * NS_PER_SECOND },
		.limit = 1000,
		.max_bytes = UINT64_MAX,
		.given = " " };
}

void
question_tables(
    struct opt_table to[static QUESTION_TABLES], struct question_values *values)
{
	const struct opt_table tables[QUESTION_TABLES] = {
		{ own_options, values },
		{ answer_options, &values->answer },
		{ time_window_options, &values->window },
		{ metric_options, &values->metrics },
		{ runs_options, &values->runs },
		{ starts_options, &values->starts },
		{ perf_options, &values->perf },
		{ NULL, NULL },
	};

	memcpy(to, tables, sizeof(tables));
}

const struct opt *
question_find_option(
    struct question_values *values, const char *name, void **to)
{
	struct opt_table tables[QUESTION_TABLES];

	question_tables(tables, values);
	for (const struct opt_table *table = tables; table->options != NULL;
	     table++)
		for (const struct opt *opt = table->options; opt->name != NULL;
		     opt++)
			if (strcmp(opt->name, name) == 0) {
				*to = table->values;
				return opt;
			}
	return NULL;
}

/* Neither one of its words, nor seconds since the epoch, nor a time with a
 * date. */
static bool
is_relative(const struct opt *opt, const char *word)
{
	if (opt->choices != NULL && *word != '\0' && strcmp(word, "now") != 0 &&
	    strstr(opt->choices, word) != NULL)
		return false;
	return word[strspn(word, "0123456789.")] != '\0' &&
	       (strlen(word) < 10 || word[4] != '-');
}

int
question_put(struct question_values *values, const struct opt *opt, void *to,
    const char *word, struct err *err)
{
	if (opt_put(opt, to, word, err) != 0)
		return err_prefix(err, "%s", opt->name);
	if (opt->type == OPT_TIME && is_relative(opt, word))
		values->is_relative = true;
	question_give(values, opt->name);
	return 0;
}

bool
question_is_given(const struct question_values *values, const char *name)
{
	size_t bytes = strlen(name);

	for (const char *at = values->given; (at = strstr(at, name)) != NULL;
	     at += bytes)
		if (at[-1] == ' ' && at[bytes] == ' ')
			return true;
	return false;
}

void
question_give(struct question_values *values, const char *name)
{
	size_t used = strlen(values->given);

	if (!question_is_given(values, name))
		snprintf(values->given + used, sizeof(values->given) - used,
		    "%s ", name);
}

void
question_give_parsed(struct question_values *values)
{
	struct opt_table tables[QUESTION_TABLES];

	question_tables(tables, values);
	for (const struct opt_table *table = tables; table->options != NULL;
	     table++)
		for (const struct opt *opt = table->options; opt->name != NULL;
		     opt++) {
			const char *to =
			    (const char *)table->values + (uintptr_t)opt->to;

			if (opt_origin_of(to) == OPT_COMMAND_LINE)
				question_give(values, opt->name);
		}
}

int
question_complete(struct question_values *values, struct err *err)
{
	const struct time_window_options *window = &values->window;

	if (starts_options_judge(
		&values->starts, window->from_ns, window->to_ns, err) != 0)
		return -1;
	if (window->from_ns >= window->to_ns)
		return err_set(
		    err, "--from: the time is not before that of --to");
	return node_option_make(&values->window.node, err);
}
