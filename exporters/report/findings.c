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

#include "proto/base/memory.h"
#include "proto/os/clock.h"

/* Slower than usual by both of these is worth a line. */
#define MUCH_NS (INT64_C(1000000000))
#define MUCH    0.25

/* ---- cells ---- */

static uint64_t
count_of(const struct answer_taken *row, const char *key)
{
	const struct answer_cell *cell = answer_taken_cell(row, key);

	return cell != NULL && answer_is_known(cell) ? cell->is.count : 0;
}

static int64_t
ns_of(const struct answer_taken *row, const char *key)
{
	const struct answer_cell *cell = answer_taken_cell(row, key);

	return cell != NULL ? cell->is.ns : ANSWER_NO_NS;
}

static double
number_of(const struct answer_taken *row, const char *key)
{
	const struct answer_cell *cell = answer_taken_cell(row, key);

	return cell != NULL ? cell->is.number : NAN;
}

static struct text
text_in(const struct answer_taken *row, const char *key)
{
	const struct answer_cell *cell = answer_taken_cell(row, key);

	return cell != NULL ? cell->is.text : (struct text){ NULL, 0 };
}

static bool
is_set(const struct answer_taken *row, const char *key)
{
	const struct answer_cell *cell = answer_taken_cell(row, key);

	return cell != NULL && cell->is.flag == ANSWER_YES;
}

static void
put_seconds(FILE *file, double seconds)
{
	char shown[QUANTITY_TEXT_BYTES];

	fputs(quantity_time(shown, seconds * 1e9), file);
}

static void
put_ns(FILE *file, int64_t ns)
{
	put_seconds(file, (double)ns / 1e9);
}

static void
put_time(FILE *file, int64_t ns)
{
	char text[CLOCK_TEXT_BYTES];

	fputs(clock_text(text, ns, 0), file);
}

static void
put_name(FILE *file, struct text name)
{
	char shown[200];

	fputs(text_quote(shown, sizeof(shown), name), file);
}

/* ---- taking ---- */

static void
take_pool(struct report_findings *f, const struct answer_taken *row)
{
	f->nodes = count_of(row, "nodes");
	f->heard = count_of(row, "live") + count_of(row, "late");
	f->expected =
	    f->nodes - count_of(row, "stopped") - count_of(row, "imported");
	f->records = count_of(row, "records");
	f->oldest_ns = ns_of(row, "oldest");
	f->newest_ns = ns_of(row, "newest");
	f->age_ns = ns_of(row, "age");
}

static void
take_start(struct report_findings *f, const struct answer_taken *row)
{
	struct report_start *start;
	struct text state = text_in(row, "state");

	if (f->start_count == REPORT_STARTS)
		return;
	start = &f->starts[f->start_count++];
	start->begin_ns = ns_of(row, "start");
	start->nodes = count_of(row, "nodes");
	start->ready = count_of(row, "ready");
	start->last_ready = number_of(row, "last_ready");
	start->duration = number_of(row, "duration");
	snprintf(start->state, sizeof(start->state), "%.*s", (int)state.bytes,
	    state.at);
}

static void
take_group(struct report_findings *f, const struct answer_taken *row)
{
	f->groups++;
	f->runs += count_of(row, "runs");
	f->queued += count_of(row, "queued");
	f->ongoing += count_of(row, "ongoing");
	f->finished += count_of(row, "finished");
	f->errors += count_of(row, "errors");
}

/* "cn031: pull of gcr.io/ml/train:2.1 took 80.7 s, usually 20.4 s" */
static char *
slow_words(const struct answer_taken *row)
{
	char *words;
	size_t bytes;
	FILE *file = memory_stream(&words, &bytes);
	struct text key = text_in(row, "key");

	put_name(file, text_in(row, "node"));
	fputs(" lost most: ", file);
	put_name(file, text_after(text_in(row, "phase"), ':'));
	if (key.bytes > 0)
		fputs(" of ", file);
	put_name(file, key);
	fputs(is_set(row, "open") ? " takes " : " took ", file);
	put_ns(file, ns_of(row, "time"));
	fputs(
	    is_set(row, "open") ? " and has not ended, usually " : ", usually ",
	    file);
	put_ns(file, ns_of(row, "usual"));
	memory_stream_end(&file);
	return words;
}

static void
take_slow(struct report_findings *f, const struct answer_taken *row)
{
	int64_t above = ns_of(row, "above");

	f->judged++;
	if (above < MUCH_NS ||
	    (double)above < MUCH * (double)ns_of(row, "usual"))
		return;
	if (f->slower++ == 0)
		f->slowest = slow_words(row);
}

static void
take_node(struct report_findings *f, const struct answer_taken *row)
{
	char node[200], wrong[300];

	if (!is_set(row, "attention"))
		return;
	if (f->attention < REPORT_NAMED)
		f->attended[f->attention] = memory_format("%s (%s)",
		    text_quote(node, sizeof(node), text_in(row, "node")),
		    text_quote(wrong, sizeof(wrong), text_in(row, "wrong")));
	f->attention++;
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
	struct report_metric metric = { .metric = text_in(row, "metric"),
		.group = text_in(row, "group"),
		.unit = text_in(row, "unit"),
		.low = number_of(row, "min"),
		.mean = number_of(row, "mean"),
		.high = number_of(row, "max") };
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

static void
take_note(struct report_findings *f, const struct answer_taken *row)
{
	if (f->lost == NULL && text_equal(text_in(row, "key"), text_of("lost")))
		f->lost = memory_text(text_in(row, "text"));
}

void
report_findings_take(void *findings, const struct answer_taken *row)
{
	static const struct {
		const char *table;
		void (*take)(
		    struct report_findings *f, const struct answer_taken *row);
	} tables[] = { { "pools", take_pool }, { "starts", take_start },
		{ "groups", take_group }, { "slow", take_slow },
		{ "nodes", take_node }, { "samples", take_metric },
		{ "notes", take_note } };

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
	for (int i = 0; i < REPORT_NAMED; i++)
		free(f->attended[i]);
	free(f->slowest);
	free(f->lost);
	*f = (struct report_findings){ .nodes = 0 };
}

/* ---- sentences ---- */

/* How long those before the newest one took. */
static void
put_before(FILE *file, const struct report_findings *f)
{
	double low = INFINITY, high = -INFINITY;
	int count = 0;

	for (uint32_t i = 1; i < f->start_count; i++) {
		double took = f->starts[i].duration;

		if (isnan(took))
			continue;
		count++;
		low = fmin(low, took);
		high = fmax(high, took);
	}
	if (count == 0)
		return;
	if (count == 1)
		fputs(" The start before took ", file);
	else
		fprintf(file, " The %d starts before took ", count);
	put_seconds(file, low);
	if (high > low) {
		fputs(" to ", file);
		put_seconds(file, high);
	}
	putc('.', file);
}

static void
put_start(FILE *file, const struct report_findings *f)
{
	const struct report_start *s = &f->starts[0];
	bool starts = strcmp(s->state, "starting") == 0;
	bool one = s->nodes == 1;

	if (strcmp(s->state, "ready") == 0) {
		if (one)
			fputs("The node is", file);
		else if (s->ready < s->nodes || s->duration < s->last_ready)
			fputs("The pool is", file);
		else
			fprintf(file, "All %" PRIu64 " nodes are", s->nodes);
		fputs(" ready since ", file);
		put_time(file, s->begin_ns + (int64_t)(s->duration * 1e9));
		fputs(", ", file);
		put_seconds(file, s->duration);
		fprintf(file, " after %s began.", one ? "it" : "the first");
	} else {
		fputs(starts ? "Starting since " : "The start of ", file);
		put_time(file, s->begin_ns);
		fprintf(file, "%s%" PRIu64 " of %" PRIu64 " node%s %s ready",
		    starts ? ": " : " is incomplete: ", s->ready, s->nodes,
		    one ? "" : "s",
		    !starts         ? "became"
		    : s->ready == 1 ? "is"
				    : "are");
		if (s->ready > 0) {
			fputs(", the last of them after ", file);
			put_seconds(file, s->last_ready);
		}
		putc('.', file);
	}
	put_before(file, f);
}

/* What the pool is, if it is not known to start. */
static void
put_records(FILE *file, const struct report_findings *f)
{
	if (f->records == 0) {
		fputs("The pool has no records.", file);
		return;
	}
	fprintf(file, "%" PRIu64 " record%s of %" PRIu64 " node%s from ",
	    f->records, f->records == 1 ? "" : "s", f->nodes,
	    f->nodes == 1 ? "" : "s");
	put_time(file, f->oldest_ns);
	fputs(" to ", file);
	put_time(file, f->newest_ns);
	fputs("; no start of the pool is known.", file);
}

static void
put_runs(FILE *file, const struct report_findings *f)
{
	uint64_t ended = f->finished + f->errors;

	if (f->runs == 0)
		return;
	fprintf(file,
	    "%" PRIu64 " run%s in %" PRIu64 " group%s: %" PRIu64
	    " finished, %" PRIu64 " with an error",
	    f->runs, f->runs == 1 ? "" : "s", f->groups,
	    f->groups == 1 ? "" : "s", f->finished, f->errors);
	if (f->errors > 0 && ended > 0)
		fprintf(file, " (%.1f %% of those that ended)",
		    100.0 * (double)f->errors / (double)ended);
	fprintf(file, ", %" PRIu64 " ongoing, %" PRIu64 " queued.", f->ongoing,
	    f->queued);
}

static void
put_slow(FILE *file, const struct report_findings *f)
{
	if (f->judged == 0)
		return;
	if (f->slower == 0) {
		fputs("No node was much slower than usual.", file);
		return;
	}
	fputs(f->slowest, file);
	if (f->slower > 1)
		fprintf(file, "; %" PRIu64 " other node%s slower, too",
		    f->slower - 1, f->slower == 2 ? " was" : "s were");
	putc('.', file);
}

static void
put_attended(FILE *file, const struct report_findings *f)
{
	uint64_t named =
	    f->attention < REPORT_NAMED ? f->attention : REPORT_NAMED;

	if (f->attention == 0) {
		/* Nobody is asked to look after nodes that are no more. */
		if (f->expected > 0)
			fputs(f->nodes == 1 ? "The node needs no attention. "
					    : "No node needs attention. ",
			    file);
		return;
	}
	fprintf(file, "%" PRIu64 " of %" PRIu64 " node%s need%s attention: ",
	    f->attention, f->nodes, f->nodes == 1 ? "" : "s",
	    f->attention == 1 ? "s" : "");
	for (uint64_t i = 0; i < named; i++)
		fprintf(file, "%s%s", i > 0 ? ", " : "", f->attended[i]);
	if (f->attention > named)
		fprintf(file, " and %" PRIu64 " more", f->attention - named);
	fputs(". ", file);
}

static void
put_attention(FILE *file, const struct report_findings *f)
{
	if (f->nodes == 0)
		return;
	if (f->heard == 0 && f->records > 0) {
		fputs("Nothing was heard since ", file);
		put_time(file, f->newest_ns);
		fputs(", ", file);
		put_ns(file, f->age_ns);
		fputs(" before this report. ", file);
	}
	put_attended(file, f);
	if (f->lost != NULL)
		fprintf(file, "%s.", f->lost);
	else
		fputs("No records were lost.", file);
}

char *
report_sentence(const struct report_findings *f, enum report_subject of)
{
	char *words;
	size_t bytes;
	FILE *file = memory_stream(&words, &bytes);

	switch (of) {
	case REPORT_START:
		if (f->start_count > 0 && f->starts[0].begin_ns >= f->from_ns)
			put_start(file, f);
		else if (f->runs == 0)
			put_records(file, f);
		break;
	case REPORT_RUNS: put_runs(file, f); break;
	case REPORT_SLOW: put_slow(file, f); break;
	default: put_attention(file, f); break;
	}
	memory_stream_end(&file);
	if (bytes > 0)
		return words;
	free(words);
	return NULL;
}
