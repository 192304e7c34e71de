/*
 * report_findings - what a report says first: some sentences, and the metrics
 * that matter.
 *
 * They are made of rows of answers, which are taken as they are printed
 * (answer_taker): pools, starts, groups, slow, nodes, samples, and the notes.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_REPORT_FINDINGS_H
#define EXPORTERS_REPORT_FINDINGS_H

#include "proto/answer/answer.h"

enum {
	REPORT_METRICS = 10,
	REPORT_STARTS = 4, /* the newest, and those before */
	REPORT_NAMED = 3,  /* nodes that a sentence names */
};

struct report_metric {
	struct text metric, group, unit;
	double low, mean, high;
};

struct report_start {
	int64_t begin_ns;
	char state[16];
	uint64_t nodes, ready;
	double last_ready, duration; /* seconds; NaN: unknown */
};

/* Of which the metrics are: the rule is in poolscope-report(1). */
enum { REPORT_KINDS = 8 };

/* Zeros, but for from_ns, are nothing. */
struct report_findings {
	int64_t from_ns; /* no start that began before is meant */
	uint64_t nodes, heard, records; /* heard: live or late nodes */
	uint64_t expected; /* nodes that have not stopped, nor were imported */
	int64_t oldest_ns, newest_ns, age_ns;
	struct report_start starts[REPORT_STARTS]; /* the newest first */
	uint32_t start_count;
	uint64_t groups, runs, queued, ongoing, finished, errors;
	uint64_t judged, slower; /* nodes; those that are worth a line */
	char *slowest, *lost, *attended[REPORT_NAMED];
	uint64_t attention;
	/* Of each kind those that changed most, and how many there are. */
	struct {
		struct report_metric at[REPORT_METRICS];
		uint32_t count;
	} kinds[REPORT_KINDS];
	uint64_t metrics;
};

/* For struct answer_taker; `findings` is one. */
void report_findings_take(void *findings, const struct answer_taken *row);
void report_findings_clear(struct report_findings *findings);

/* Returns a new sentence, or a few of one subject, without markup; NULL: there
 * is nothing to say of it. */
enum report_subject {
	REPORT_START,
	REPORT_RUNS,
	REPORT_SLOW,
	REPORT_ATTENTION,
	REPORT_SUBJECTS
};
char *report_sentence(
    const struct report_findings *findings, enum report_subject of);

/* Those that are shown; returns how many. */
uint32_t report_metrics_choose(const struct report_findings *findings,
    const struct report_metric *to[static REPORT_METRICS]);
/* Returns a new text that says how many are not, and how to see them; NULL:
 * none. */
char *report_metrics_left_out(
    const struct report_findings *findings, struct text partition);

#endif
