/*
 * run_sum - what runs add to the statistics of their groups.
 *
 * A run adds to the counts of its group, to its requestor's, to the lists of
 * runs that are not over or that nobody described, and for each step, on both
 * clocks, the duration of each of its iterations and their sum.  When a run
 * changes, all that it added before is taken out and what it adds now is put
 * in; what is the same cancels out before anything is read or written.
 *
 * Rows of the table `groups` (key: partition, model, group, part, number,
 * which) are proto/store.md, "Test runs and their groups".
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PHASES_RUN_SUM_H
#define AGGREGATOR_PHASES_RUN_SUM_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/phases/duration_stats.h"
#include "aggregator/phases/run_row.h"
#include "aggregator/tables/dictionary.h"
#include "proto/base/text.h"

enum {
	RUN_SUM_KEY_BYTES = 18,
	RUN_SUM_GROUPS_MAX =
	    1024, /* of a model in a partition; then "_other" */
};
/* Of runs that no entity describes. */
#define RUN_SUM_GROUP_UNKNOWN UINT32_MAX

/* What a row is; in the order of the keys. */
enum run_sum_part {
	RUN_SUM_PART_COUNTS,    /* number 0 */
	RUN_SUM_PART_STEP,      /* number of the phase, which: clock and sort */
	RUN_SUM_PART_REQUESTOR, /* number of the name */
	RUN_SUM_PART_LIST,      /* number of the run, which: its state */
	RUN_SUM_PARTS
};
/* `which` of a step: a sort, and RUN_SUM_SORTS times the clock; then how many
 * begins and ends have no partner. */
enum run_sum_sort { RUN_SUM_ITERATION, RUN_SUM_TOTAL, RUN_SUM_SORTS };
enum { RUN_SUM_OPEN = RUN_CLOCKS * RUN_SUM_SORTS };
/* What is counted: varints, in this order. */
enum run_sum_count {
	RUN_SUM_COUNT_RUNS,
	RUN_SUM_COUNT_STATE, /* of each state, without those with an error */
	RUN_SUM_COUNT_ERRORS = RUN_SUM_COUNT_STATE + RUN_STATES,
	RUN_SUM_COUNTS
};

struct run_sum_key {
	uint32_t partition, model, group;
	uint8_t part, which;
	uint32_t number;
};
void run_sum_put_key(unsigned char key[static RUN_SUM_KEY_BYTES],
    const struct run_sum_key *group);
bool run_sum_get_key(struct text key, struct run_sum_key *group);

/* How many numbers a row is that only counts; 0: it has statistics. */
unsigned run_sum_numbers(const struct run_sum_key *key);
void run_sum_get_counts(struct text value, unsigned count, uint64_t *counts);

/* One thing that a run adds or no longer adds. */
struct run_sum_change {
	uint32_t group, number;
	uint8_t part, which;
	bool removed;
	int64_t value; /* counts: enum run_sum_count; steps: ns */
};
struct run_sum_changes {
	struct run_sum_change *at;
	uint32_t count, room;
};

/* A model in a partition, as numbers. */
struct run_sum_form {
	const struct model_run *model;
	uint32_t partition, number; /* of the model */
	struct run_row_roles roles;
	uint32_t phase[RUN_STEPS_MAX]; /* numbers of the steps */
};

/* Look the numbers up; `names` NULL: only what is there already, 0 else. */
void run_sum_form_make(struct run_sum_form *form, struct dictionary *dictionary,
    struct db_txn *txn, uint32_t partition, const struct model_run *model);

/* Add what all groups have of single durations of a phase, as emitted, and of
 * what is open. */
void run_sum_groups(struct db_txn *txn, const struct run_sum_form *form,
    uint32_t phase, struct duration_stats *stats);

/* Append all that the run adds, as run `run`. */
void run_sum(struct run_sum_changes *changes, const struct run_sum_form *form,
    const struct run_row *row, uint32_t run, bool removed);
void run_sum_changes_add(
    struct run_sum_changes *changes, const struct run_sum_change *change);
void run_sum_changes_clear(struct run_sum_changes *changes);

/* Add the durations of a run that belong to a step to `stats`. */
void run_sum_step(struct duration_stats *stats, const struct run_sum_form *form,
    const struct run_row *row, uint32_t phase, uint8_t which);

#endif
