/*
 * result_query - queries about results, which give answers.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RESULTS_QUERY_H
#define EXPORTERS_RESULTS_QUERY_H

#include "exporters/results/read.h"
#include "proto/answer/answer.h"

struct result_query {
	struct source *source;
	struct text partition;
	struct text test, entry; /* empty: any */
	int64_t start_us;        /* set by result_query_test */
	struct result_window window;
	uint64_t limit;  /* 0: unlimited */
	uint64_t within; /* changes: only in the newest N; 0: all */
	int *status;     /* changes: STATUS_FOUND if there are any; or NULL */
	bool oldest;     /* oldest first */
	struct answer *answer; /* NULL: for result_query_points only */
	bool progress;
};

struct result_point; /* plot.h */

/* What can be asked, by word; NULL ends it. */
struct result_question {
	const char *word; /* "timings" */
	uint32_t names; /* that it needs: of the test, of the entry or start */
	const struct answer_table *tables;
	/* Returns 0; RESULT_NOTHING if the answer is empty because the subject
	 * does not exist (`err` says so and what to do); or -1. */
	int (*give)(const struct result_query *query, struct err *err);
};
extern const struct result_question result_questions[];
/* Ask it, and print the answer; -1 also for RESULT_NOTHING. */
int result_answer(const struct result_question *question,
    struct result_query *query, const struct answer_options *options,
    FILE *file, struct err *err);

extern const struct answer_table result_changes_tables[];
/* The changes of the level of timings, as pictures mark them (change_points.h):
 * of an entry the oldest first, of several entries, or of the newest timings,
 * the worst first. */
int result_query_changes(const struct result_query *query, struct err *err);
int result_query_test(const struct result_query *query, struct err *err);

/* The timings of an entry that are numbers, the oldest first. */
struct result_points {
	struct result_point *at; /* the caller frees it */
	uint32_t count, room;
	uint64_t left_out; /* timings that are no numbers */
	bool cut;          /* there are older ones */
};
int result_query_points(const struct result_query *query,
    struct result_points *points, struct err *err);

/* Returns RESULT_NOTHING and sets `err` if the test does not exist or never
 * had the entry; otherwise 0. */
int result_query_explain(const struct result_query *query, struct err *err);
struct result_range result_query_range(const struct result_query *query);
/* Note, or log, how many malformed entities were skipped. */
void result_query_note(
    const struct result_query *query, const struct result_range *range);
/* The cell of a time in microseconds, of which each is possible. */
int64_t result_time(int64_t us);

#endif
