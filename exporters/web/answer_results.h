/*
 * web_answer_results - results of benchmarks: what=tests (the default), starts,
 * timings, changes, entries or test, as poolscope-results(1) prints them.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_ANSWER_RESULTS_H
#define EXPORTERS_WEB_ANSWER_RESULTS_H

#include <stdbool.h>
#include <stdio.h>

#include "exporters/source/source.h"
#include "exporters/web/query.h"

#define WEB_RESULTS_PARAMETERS                                                 \
	"what test entry start from to limit oldest sort top"

/* `*bad`: the question is wrong, not the source. */
int web_answer_results(struct source *source, struct text partition,
    struct web_query *query, FILE *file, bool *bad, struct err *err);

#endif
