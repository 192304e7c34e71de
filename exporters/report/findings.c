/*
 * report_findings - what a report says first: some sentences, and the metrics
 * that matter.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/report/findings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/why/facts.h"
#include "proto/base/memory.h"

/* ---- cells ---- */

/* ---- taking ---- */

static void
take_pool(struct report_findings *f, const struct answer_taken *row)
{
	f->nodes = answer_taken_count(row, "nodes");
}

static void
take_group(struct report_findings *f, const struct answer_taken *row)
{
	f->errors += answer_taken_count(row, "errors");
}

static void
take_slow(struct report_findings *f, const struct answer_taken *row)
{
	f->slower += why_is_slow(answer_taken_ns(row, "above"),
			 answer_taken_ns(row, "usual"))
			 ? 1
			 : 0;
}

static void
take_node(struct report_findings *f, const struct answer_taken *row)
{
	f->attention += answer_taken_is_set(row, "attention");
}

/* What was lost is reported in one line with how the nodes are. */
static void
take_sentence(struct report_findings *f, const struct answer_taken *row)
{
	bool is_lost = text_equal(answer_taken_text(row, "about"),
	    text_of(why_about_words[WHY_LOST]));

	/* There is room for what was lost behind all others. */
	if (f->sentence_count + !is_lost >= REPORT_SENTENCES)
		return;
	f->sentences[f->sentence_count] =
	    memory_text(answer_taken_text(row, "text"));
	f->addresses[f->sentence_count++] =
	    memory_text(answer_taken_text(row, "address"));
}

/* ---- metrics ---- */

/* The kinds in their order: metrics that are compared, as they have one unit.
 * Of what is idle or free the other side is shown. */
static const char *const kinds[REPORT_KINDS] = { "system.cpu.time.*",
	"system.memory.usage.*", "system.disk.io.*", "system.network.io.*",
	"system.cpu.load_average.1m", "hw.gpu*utilization",
	"hw.gpu.memory.usage", NULL };
enum { KIND_OTHERS = REPORT_KINDS - 1 };

static bool
begins(struct text name, const char *with)
{
	size_t bytes = strlen(with);

	return name.bytes >= bytes && memcmp(name.at, with, bytes) == 0;
}

/* REPORT_KINDS: of none.  What programs measure themselves is of the last one;
 * of the machine it has nothing, nor of the agent. */
static int
kind_of(struct text metric)
{
	static const char *const not_shown[] = { "system.cpu.time.idle",
		"system.memory.usage.free" };
	static const char *const known[] = { "system.", "hw.", "poolscope.",
		"process.", "container." };

	for (size_t i = 0; i < sizeof(not_shown) / sizeof(*not_shown); i++)
		if (text_equal(metric, text_of(not_shown[i])))
			return REPORT_KINDS;
	for (int i = 0; i < KIND_OTHERS; i++)
		if (text_match(text_of(kinds[i]), metric))
			return i;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (begins(metric, known[i]))
			return REPORT_KINDS;
	return KIND_OTHERS;
}

/* How much it changed.  Those of programs have any unit. */
static double
change_of(const struct report_metric *m, int kind)
{
	double range = m->high - m->low;

	return kind == KIND_OTHERS ? range / fmax(fabs(m->high), fabs(m->low))
				   : range;
}

static void
clear_metric(struct report_metric *metric)
{
	free((void *)(uintptr_t)metric->metric.at);
	free((void *)(uintptr_t)metric->group.at);
	free((void *)(uintptr_t)metric->unit.at);
}

static struct text
copy_of(struct text text)
{
	return text.at == NULL ? text
			       : (struct text){ memory_text(text), text.bytes };
}

static void
take_metric(struct report_findings *f, const struct answer_taken *row)
{
	struct report_metric metric = { .metric =
					    answer_taken_text(row, "metric"),
		.group = answer_taken_text(row, "group"),
		.unit = answer_taken_text(row, "unit"),
		.low = answer_taken_number(row, "min"),
		.mean = answer_taken_number(row, "mean"),
		.high = answer_taken_number(row, "max") };
	int kind = kind_of(metric.metric);
	struct report_metric *at;
	uint32_t place = 0;

	f->metrics++;
	if (kind == REPORT_KINDS || !(metric.high > metric.low))
		return;
	at = f->kinds[kind].at;
	while (place < f->kinds[kind].count &&
	       change_of(&at[place], kind) >= change_of(&metric, kind))
		place++;
	if (place == REPORT_METRICS)
		return;
	if (f->kinds[kind].count == REPORT_METRICS)
		clear_metric(&at[REPORT_METRICS - 1]);
	else
		f->kinds[kind].count++;
	memmove(&at[place + 1], &at[place],
	    (f->kinds[kind].count - 1 - place) * sizeof(*at));
	metric.metric = copy_of(metric.metric);
	metric.group = copy_of(metric.group);
	metric.unit = copy_of(metric.unit);
	at[place] = metric;
}

uint32_t
report_metrics_choose(const struct report_findings *f,
    const struct report_metric *to[static REPORT_METRICS])
{
	uint32_t count = 0;

	for (uint32_t round = 0; round < REPORT_METRICS; round++)
		for (int i = 0; i < REPORT_KINDS && count < REPORT_METRICS; i++)
			if (round < f->kinds[i].count)
				to[count++] = &f->kinds[i].at[round];
	return count;
}

char *
report_metrics_left_out(
    const struct report_findings *findings, struct text partition)
{
	const struct report_metric *chosen[REPORT_METRICS];
	uint32_t count = report_metrics_choose(findings, chosen);
	uint64_t others = findings->metrics - count;
	char shown[300];

	return others == 0
		   ? NULL
		   : memory_format("%" PRIu64 " %smetric%s (poolscope stats "
				   "samples -p '%s')",
			 others, count > 0 ? "other " : "",
			 others == 1 ? "" : "s",
			 text_quote(shown, sizeof(shown), partition));
}

/* ---- all ---- */

void
report_findings_take(void *findings, const struct answer_taken *row)
{
	static const struct {
		const char *table;
		void (*take)(
		    struct report_findings *f, const struct answer_taken *row);
	} tables[] = { { "pools", take_pool }, { "groups", take_group },
		{ "slow", take_slow }, { "nodes", take_node },
		{ "samples", take_metric }, { "why", take_sentence } };

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (strcmp(row->table, tables[i].table) == 0)
			tables[i].take(findings, row);
}

void
report_findings_clear(struct report_findings *f)
{
	for (int i = 0; i < REPORT_KINDS; i++)
		for (uint32_t k = 0; k < f->kinds[i].count; k++)
			clear_metric(&f->kinds[i].at[k]);
	for (uint32_t i = 0; i < f->sentence_count; i++) {
		free(f->sentences[i]);
		free(f->addresses[i]);
	}
	*f = (struct report_findings){ .nodes = 0 };
}
