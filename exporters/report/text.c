/*
 * report_text - the findings of a report, for a ticket or a mail.
 *
 * Sentences first, then a few short tables, each of which is the answer of a
 * command.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "exporters/report/report.h"
#include "proto/base/memory.h"

enum { ROWS = 10 /* of a table of nodes or runs */ };

/* A table that is printed before the sentences above it are known. */
struct part {
	const char *title, *url;
	const char *table; /* of an answer with several */
	bool is_whole;     /* print it as it is; else ask again for its rows */
	char *text;
	size_t bytes;
};

enum { STARTS, PHASES, GROUPS, SLOW, NODES, SAMPLES, RESULTS, PARTS };

struct writing {
	FILE *file;
	const struct report_request *request;
	bool markdown;
	struct report_findings findings;
	struct part parts[PARTS];
	struct err *err;
};

static const struct part parts[PARTS] = {
	[STARTS] = { "Starts, in seconds", "starts?newest=4", NULL, true },
	[PHASES] = { "Phases, in seconds", "phases", NULL, true },
	[GROUPS] = { "Groups of runs", "groups", "groups", true },
	[SLOW] = { NULL, "slow", NULL, false },
	[NODES] = { NULL, "nodes", NULL, false },
	[SAMPLES] = { NULL, "samples", NULL, false },
	[RESULTS] = { "Results of benchmarks", "results", NULL, true },
};

/* ---- text ---- */

static void
put(const struct writing *w, const char *text)
{
	if (w->markdown)
		answer_put_markdown(w->file, text_of(text));
	else
		fputs(text, w->file);
}

static void
put_title(const struct writing *w, const char *title)
{
	if (w->markdown) {
		fprintf(w->file, "\n## %s\n\n", title);
		return;
	}
	fprintf(w->file, "\n%s\n", title);
	for (size_t i = 0; i < strlen(title); i++)
		putc('-', w->file);
	putc('\n', w->file);
}

static void
put_name(const struct writing *w)
{
	char shown[300];

	text_quote(shown, sizeof(shown), w->request->partition);
	fputs(w->markdown ? "# " : "", w->file);
	put(w, shown);
	putc('\n', w->file);
	if (w->markdown)
		return;
	for (size_t i = 0; i < strlen(shown); i++)
		putc('=', w->file);
	fputs("\n\n", w->file);
}

/* A paragraph each. */
static void
put_sentences(const struct writing *w)
{
	for (uint32_t i = 0; i < w->findings.sentence_count; i++) {
		fputs(w->markdown ? "\n" : "", w->file);
		put(w, w->findings.sentences[i]);
		putc('\n', w->file);
	}
}

static void
put_end(const struct writing *w)
{
	char *left_out =
	    report_metrics_left_out(&w->findings, w->request->partition);
	char made[REPORT_MADE_BYTES];

	putc('\n', w->file);
	if (left_out != NULL) {
		fputs("Left out: ", w->file);
		put(w, left_out);
		fputs(w->markdown ? ".\n\n" : ".\n", w->file);
	}
	fprintf(w->file, "Made %s.\n", report_made(made));
	free(left_out);
}

/* ---- tables ---- */

/* Ask, and keep what is printed: what the sentences need is taken meanwhile. */
static int
read_part(struct writing *w, int number)
{
	const struct answer_taker taker = { report_findings_take,
		&w->findings };
	struct part *part = &w->parts[number];
	const struct answer_options how = {
		.format = !part->is_whole ? ANSWER_FORMAT_JSONL
			  : w->markdown   ? ANSWER_FORMAT_MD
					  : ANSWER_FORMAT_TABLE,
		.table = part->table,
		.taker = &taker,
	};
	FILE *file = memory_stream(&part->text, &part->bytes);
	int rc = report_ask(w->request, part->url, &how, file, w->err);

	memory_stream_end(&file);
	if (rc != 0)
		part->bytes = 0;
	return rc < 0 ? -1 : 0;
}

static void
put_part(const struct writing *w, int number)
{
	const struct part *part = &w->parts[number];

	if (part->bytes == 0)
		return;
	put_title(w, part->title);
	fwrite(part->text, 1, part->bytes, w->file);
}

/* The first rows, of which the sentences say that there are some. */
static int
put_rows(
    const struct writing *w, const char *title, const char *url, uint64_t count)
{
	const struct answer_options how = {
		.format = w->markdown ? ANSWER_FORMAT_MD : ANSWER_FORMAT_TABLE,
		.top = count < ROWS ? count : ROWS
	};

	if (count == 0)
		return 0;
	put_title(w, title);
	return report_ask(w->request, url, &how, w->file, w->err) < 0 ? -1 : 0;
}

#define NUMBER(member) ANSWER_AT_NUMBER(struct report_metric, member)
#define TEXT(member)   ANSWER_AT_TEXT(struct report_metric, member)

static const struct answer_column metric_columns[] = {
	{ "metric", "METRIC", TEXT(metric), "" },
	{ "group", "GROUP", TEXT(group), "" },
	{ "unit", "UNIT", TEXT(unit), "" },
	{ "min", "MIN", NUMBER(low), "", .traits = ANSWER_IN_UNIT },
	{ "mean", "MEAN", NUMBER(mean), "", .traits = ANSWER_IN_UNIT },
	{ "max", "MAX", NUMBER(high), "", .traits = ANSWER_IN_UNIT },
	{ .key = NULL },
};

static const struct answer_table metric_tables[] = {
	{ "metrics", metric_columns }, { .name = NULL }
};

static int
put_metrics(const struct writing *w)
{
	const struct answer_options how = {
		.format = w->markdown ? ANSWER_FORMAT_MD : ANSWER_FORMAT_TABLE
	};
	const struct report_metric *chosen[REPORT_METRICS];
	uint32_t count = report_metrics_choose(&w->findings, chosen);
	struct answer *answer;
	int rc;

	if (count == 0)
		return 0;
	put_title(w, "Metrics");
	answer = answer_new(w->file, &how, metric_tables);
	for (uint32_t i = 0; i < count; i++)
		answer_row(answer, chosen[i], NULL);
	rc = answer_end(answer, 0, w->err);
	answer_free(&answer);
	return rc;
}

static int
put_all(const struct writing *w)
{
	const struct report_findings *f = &w->findings;

	put_name(w);
	put_sentences(w);
	if (put_rows(w, "Slowest nodes",
		"slow?columns=node,phase,key,time,usual,above,open",
		f->slower) != 0 ||
	    put_rows(w, "Nodes that need attention",
		"nodes?columns=node,state,silence,wrong", f->attention) != 0)
		return -1;
	put_part(w, STARTS);
	put_part(w, PHASES);
	put_part(w, GROUPS);
	if (put_rows(w, "Newest runs with an error",
		"runs?state=failed&newest=10", f->errors) != 0 ||
	    put_metrics(w) != 0)
		return -1;
	put_part(w, RESULTS);
	put_end(w);
	return 0;
}

int
report_text_write(FILE *file, const struct report_request *request,
    bool markdown, struct err *err)
{
	struct writing w = { .file = file,
		.request = request,
		.markdown = markdown,
		.err = err };
	char *url = report_url_of_pool(request);
	int rc = report_find(request, url, &w.findings, err) < 0 ? -1 : 0;

	if (rc == 0 &&
	    report_find(request, REPORT_WHY_URL, &w.findings, err) < 0)
		rc = -1;
	free(url);
	memcpy(w.parts, parts, sizeof(parts));
	for (int i = 0; rc == 0 && i < PARTS; i++)
		rc = read_part(&w, i);
	if (rc == 0)
		rc = put_all(&w);
	for (int i = 0; i < PARTS; i++)
		free(w.parts[i].text);
	report_findings_clear(&w.findings);
	return rc;
}
