/*
 * runs_groups - what the store keeps of each group of runs.
 *
 * Nothing is counted here and no run is read: one question for the statistics
 * gives the groups, one after another, each whole.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_GROUPS_H
#define EXPORTERS_RUNS_GROUPS_H

#include "exporters/runs/runs.h"

enum runs_of { RUNS_OF_ITERATION, RUNS_OF_TOTAL, RUNS_OFS };

/* Seconds. */
struct runs_stats {
	int64_t count; /* 0: the others mean nothing */
	double sum, min, max, mean, std_population, std_sample, p50, p90, p99;
};

struct runs_requestor {
	struct text name;
	int64_t runs;
};

/* A run that is not over, or that nobody described. */
struct runs_listed {
	struct text id;
	enum run_state state;
};

enum {
	/* Of one group, in memory. */
	RUNS_NAMES_BYTES_MAX = 256 << 20,
};

struct runs_group {
	struct text name; /* empty: these runs have none */
	bool known;       /* false: the runs that nobody described */
	/* Those with an error are in none of the states. */
	int64_t runs, state[RUN_STATES], errors;
	/* By step of the model. */
	struct runs_stats stats[RUN_STEPS_MAX][RUN_CLOCKS][RUNS_OFS];
	/* By runs, most first; then by name. */
	struct runs_requestor *requestors;
	uint32_t requestor_count, requestor_room;
	struct runs_listed *listed; /* in the order of their appearance */
	uint32_t listed_count, listed_room;
	struct string_table texts;
	uint64_t text_bytes;
};

/* In percent; 0 where there is nothing to be a part of. */
double runs_errors_of_ended(const struct runs_group *group);
double runs_errors_of_all(const struct runs_group *group);

/* Hand every group like `pattern` (empty: all) to `put`, in the order of their
 * appearance, and their number to `count`.  The group lives until `put`
 * returns.  -1 also when `put` says so. */
int runs_groups_each(struct runs *runs, struct text pattern,
    int (*put)(void *arg, const struct runs_group *group, struct err *err),
    void *arg, uint32_t *count, struct err *err);

#endif
