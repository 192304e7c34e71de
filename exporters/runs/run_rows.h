/*
 * run_rows - what answers about test runs have in common: which runs, the
 * columns of their steps, and what they note about all rows.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_RUN_ROWS_H
#define EXPORTERS_RUNS_RUN_ROWS_H

#include "exporters/runs/runs.h"
#include "proto/answer/answer.h"

/* A column for each step, in the order of the model. */
#define RUN_ROWS_STEP_COLUMNS                                                  \
	ANSWER_FAMILY("step.*", ANSWER_SECONDS, "s",                           \
	    "how long the step of this name took; unknown: it has no such "    \
	    "step")
void run_rows_add_steps(const struct runs *runs, struct answer *answer);

/* In the head: the model, and which of the two times of an event counts; the
 * line above a table says it after `what` the rows are. */
extern const struct answer_column run_rows_head[];
void run_rows_put_head(const struct runs *runs,
    const struct runs_options *options, const char *what,
    struct answer *answer);

/* The options that choose runs.  -1: they do not fit together. */
#define RUN_ROWS_OPTIONS                                                       \
	"model group queue configuration requestor error state run newest "    \
	"after from to sort top columns"
int run_rows_check(const struct runs_options *options, struct err *err);

/* Call `put` for each of the runs; it returns 0 to go on.  -1 also when there
 * is none, or not one that is named. */
int run_rows_each(struct runs *runs, const struct runs_options *options,
    int (*put)(void *arg, const struct runs_run *run), void *arg,
    struct err *err);

/* The group of a run; unknown: nothing describes the run. */
struct text run_rows_group(const struct runs_run *run);

/* Note it if durations cannot be what happened; `what` they are. */
void run_rows_note_doubt(
    const struct runs_doubt *doubt, const char *what, struct answer *answer);

/* How many events of each name a run has. */

struct run_tally {
	struct text name;
	uint64_t count;
};

/* Of each role, then of the other names. */
struct run_tallies {
	struct run_tally at[RUN_ROLES_MAX + RUN_NAMES_MAX + 1];
	uint32_t roles, count;
	uint64_t events; /* of all names */
};

void run_tally(struct run_tallies *tallies, const struct runs *runs,
    const struct runs_run *run);

#endif
