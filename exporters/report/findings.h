/*
 * report_findings - what a report says first: some sentences, and the metrics
 * that matter.
 *
 * They are rows of answers, which are taken as they are printed (answer_taker):
 * why, pools, groups, slow, nodes and samples.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_REPORT_FINDINGS_H
#define EXPORTERS_REPORT_FINDINGS_H

#include "proto/answer/answer.h"

enum {
	REPORT_METRICS = 10,
	REPORT_SENTENCES = 17,
};

struct report_metric {
	struct text metric, group, unit;
	double low, mean, high;
};

/* Of which the metrics are: the rule is in poolscope-report(1). */
enum { REPORT_KINDS = 8 };

/* Zeros are nothing. */
struct report_findings {
	uint64_t nodes;
	uint64_t errors, slower; /* runs; nodes that are worth a line */
	uint64_t attention;      /* nodes that need it */
	/* Those of `why`, without markup. */
	char *sentences[REPORT_SENTENCES];
	char *addresses[REPORT_SENTENCES]; /* on the page; "": none */
	uint32_t sentence_count;
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

/* Those that are shown; returns how many. */
uint32_t report_metrics_choose(const struct report_findings *findings,
    const struct report_metric *to[static REPORT_METRICS]);
/* Returns a new text that says how many are not, and how to see them; NULL:
 * none. */
char *report_metrics_left_out(
    const struct report_findings *findings, struct text partition);

#endif
