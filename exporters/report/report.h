/*
 * report - what poolscope-report writes, part by part.
 *
 * A report holds answers of exporters/web/answers.h: those that the page asks
 * a server for, and so what the commands print.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_REPORT_REPORT_H
#define EXPORTERS_REPORT_REPORT_H

#include <stdio.h>

#include "exporters/report/findings.h"
#include "exporters/source/source.h"
#include "exporters/source/starts.h"

struct report_request {
	struct source *source;
	const struct source_options *options;
	struct text partition;
	struct starts_options starts;
	int64_t from_ns, to_ns; /* of a start that is given, that of it */
	bool is_anonymous;      /* leave out where the answers come from, too */
};

/* Ask one question, by the URL that the page would ask, such as
 * "phases?by=node" below its pool, or "/v1/status".  1: it has no answer, such
 * as phases of a pool without events; -1: the source failed. */
int report_ask(const struct report_request *request, const char *url,
    const struct answer_options *how, FILE *file, struct err *err);
/* Ask only for the findings: what is printed is dropped. */
int report_find(const struct report_request *request, const char *url,
    struct report_findings *findings, struct err *err);
/* The URL of the one row of the pools that is this one; the caller frees it. */
char *report_url_of_pool(const struct report_request *request);
/* The sentences. */
#define REPORT_WHY_URL "why?columns=about,text"

struct report_answer {
	char *key; /* as the page looks it up: report.js */
	char *text;
	size_t bytes;
};

/* Answers, within a bound: what a page can hold and a mail can carry. */
struct report_answers {
	struct report_answer *at;
	uint32_t count, room;
	size_t packed; /* bytes they take in the file, or nearly so */
	struct report_findings findings;
	char *left_out; /* in one line; NULL: nothing */
};

/* Ask all that the page shows of the partition.  -1: the source failed, or has
 * nothing of it.  Clear it in any case. */
int report_answers_read(struct report_answers *answers,
    const struct report_request *request, struct err *err);
void report_answers_clear(struct report_answers *answers);

/* A trace that can be saved from the page. */
struct report_trace {
	unsigned char *at; /* gzip; NULL: none */
	size_t bytes;
};

/* Of the nodes that poolscope-trace --nodes `nodes` chooses.  Clear it in any
 * case. */
int report_trace_read(struct report_trace *trace,
    const struct report_request *request, const char *nodes, struct err *err);
void report_trace_clear(struct report_trace *trace);

/* Write the page with the answers in it. */
int report_page_write(FILE *file, const struct report_answers *answers,
    const struct report_trace *trace, struct text partition, struct err *err);

/* "2026-11-29T01:25:27Z by poolscope 0.1.0" */
enum { REPORT_MADE_BYTES = 80 };
const char *report_made(char to[static REPORT_MADE_BYTES]);

/* Write the findings as text, or as Markdown. */
int report_text_write(FILE *file, const struct report_request *request,
    bool markdown, struct err *err);

#endif
