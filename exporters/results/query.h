/*
 * result_query - what is asked about results, and the answers as rows.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RESULTS_QUERY_H
#define EXPORTERS_RESULTS_QUERY_H

#include "exporters/results/read.h"
#include "proto/format/report.h"

struct result_query {
	struct source *source;
	struct text partition;
	struct text test, entry; /* empty: not asked for */
	int64_t start_us;        /* of result_query_test */
	int64_t since_us;        /* INT64_MIN: all */
	uint64_t limit;          /* 0: none */
	bool oldest;             /* ascending, from `since_us` on */
	FILE *file;
	enum report_format format;
	bool progress;
};

enum { RESULT_NOTHING = 1 };

/* 0; RESULT_NOTHING: the answer is empty because what it is about is not
 * there, and `err` says what there is instead; -1. */

int result_query_tests(const struct result_query *query, struct err *err);
int result_query_starts(const struct result_query *query, struct err *err);
int result_query_timings(const struct result_query *query, struct err *err);
/* Of the latest start, in the order of its file. */
int result_query_entries(const struct result_query *query, struct err *err);
int result_query_test(const struct result_query *query, struct err *err);
/* Everything, in the order of storing; not as a table. */
int result_query_entities(const struct result_query *query, struct err *err);

/* RESULT_NOTHING and a sentence when there is no such test, or it never had
 * such an entry; else 0. */
int result_query_explain(const struct result_query *query, struct err *err);
struct result_range result_query_range(const struct result_query *query);
/* Say how many entities were not as results are. */
void result_query_warn(const struct result_range *range);

#endif
