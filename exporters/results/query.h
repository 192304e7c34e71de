/*
 * result_query - queries about results, printed as rows.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RESULTS_QUERY_H
#define EXPORTERS_RESULTS_QUERY_H

#include "exporters/results/read.h"
#include "exporters/select/ordered_rows.h"
#include "proto/format/report.h"

struct result_query {
	struct source *source;
	struct text partition;
	struct text test, entry; /* empty: any */
	int64_t start_us;        /* set by result_query_test */
	struct result_window window;
	uint64_t limit;            /* 0: unlimited */
	bool oldest;               /* oldest first */
	const struct order *order; /* of rows; NULL: as they are read */
	FILE *file;
	enum report_format format;
	bool progress;
};

enum { RESULT_NOTHING = 1 };

struct result_point; /* plot.h */

/* Returns 0; RESULT_NOTHING if the answer is empty because the subject does
 * not exist (`err` says so and what to do); or -1. */

/* Columns, which are what rows can be sorted by; NULL ends them. */
extern const char *const result_tests_columns[];
extern const char *const result_starts_columns[];
extern const char *const result_timings_columns[];
extern const char *const result_entries_columns[];
extern const char *const result_changes_columns[];

int result_query_tests(const struct result_query *query, struct err *err);
int result_query_starts(const struct result_query *query, struct err *err);
int result_query_timings(const struct result_query *query, struct err *err);
/* The entries of the latest start, in the order of its file. */
int result_query_entries(const struct result_query *query, struct err *err);
/* The changes of the level of an entry's timings, the oldest first, as pictures
 * mark them (change_points.h); rows have no other order. */
int result_query_changes(const struct result_query *query, struct err *err);
int result_query_test(const struct result_query *query, struct err *err);
/* Everything in the order of storing; there is no table form. */
int result_query_entities(const struct result_query *query, struct err *err);

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
/* Log how many malformed entities were skipped. */
void result_query_warn(const struct result_range *range);

#endif
