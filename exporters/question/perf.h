/*
 * question_perf - what the questions about reports of hosts share.
 *
 * For exporters/question only.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_QUESTION_PERF_H
#define EXPORTERS_QUESTION_PERF_H

#include "exporters/question/question.h"

/* The pool and what was asked of it; clear it in any case. */
struct question_reports {
	struct perf_select select;
	struct job_intervals jobs;
	struct perf_pool pool;
	struct perf_decimation how;
};

/* Read the sums of all nodes.  -1 also if there are no reports at all, or with
 * --strict if a node has none; else a note says which nodes have none. */
int question_reports_read(struct question_reports *reports,
    const struct question_asked *asked, struct answer *answer, struct err *err);
void question_reports_clear(struct question_reports *reports);
int question_reports_check(
    const struct question_values *values, struct err *err);

#endif
