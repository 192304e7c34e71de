/*
 * runs_groups - the store's statistics of each group of runs.
 *
 * The store computes the statistics.  One query returns the groups, one after
 * another, each as a whole.  Those of a window, and those of a pool whose
 * clocks were off, are computed from the runs.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_GROUPS_H
#define EXPORTERS_RUNS_GROUPS_H

#include "exporters/runs/runs.h"
#include "proto/hash/string_table.h"

enum runs_of { RUNS_OF_ITERATION, RUNS_OF_TOTAL, RUNS_OFS };

/* In seconds. */
struct runs_stats {
	int64_t count; /* 0: the other values are undefined */
	double sum, min, max, mean, std_population, std_sample, p50, p90, p99;
};

struct runs_requestor {
	struct text name;
	int64_t runs;
};

/* A run that has not ended, or that has no description. */
struct runs_listed {
	struct text id;
	enum run_state state;
};

struct runs_group {
	struct text name; /* empty: runs without a group */
	bool known;       /* false: runs without a description */
	/* Runs with an error are not counted in the states. */
	int64_t runs, state[RUN_STATES], errors;
	/* Indexed by step of the model. */
	struct runs_stats stats[RUN_STEPS_MAX][RUN_CLOCKS][RUNS_OFS];
	/* Sorted by runs, highest first; then by name. */
	struct runs_requestor *requestors;
	uint32_t requestor_count, requestor_room;
	struct runs_listed *listed; /* in the order of their appearance */
	uint32_t listed_count, listed_room;
	struct string_table texts;
	uint64_t text_bytes;
};

/* In percent; 0 if the total is 0. */
double runs_errors_of_ended(const struct runs_group *group);
double runs_errors_of_all(const struct runs_group *group);

/* Call `put` for each group that matches `pattern` (empty: all), in the order
 * of their appearance; `count` receives their number.  The group is valid
 * until `put` returns.  -1 also when `put` returns it. */
int runs_groups_each(struct runs *runs, struct text pattern,
    int (*put)(void *arg, const struct runs_group *group, struct err *err),
    void *arg, uint32_t *count, struct err *err);

#endif
