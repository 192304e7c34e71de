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
	KEY_GROUP_BYTES = 18,
	RUN_GROUPS_MAX = 1024, /* of a model in a partition; then "_other" */
};
/* Of runs that no entity describes. */
#define RUN_GROUP_UNKNOWN UINT32_MAX

/* What a row is; in the order of the keys. */
enum run_part {
	RUN_PART_COUNTS,    /* number 0 */
	RUN_PART_STEP,      /* number of the phase, which: clock and sort */
	RUN_PART_REQUESTOR, /* number of the name */
	RUN_PART_LIST,      /* number of the run, which: its state */
	RUN_PARTS
};
/* `which` of a step: a sort, and RUN_SORTS times the clock; then how many
 * begins and ends have no partner. */
enum run_sort { RUN_ITERATION, RUN_TOTAL, RUN_SORTS };
enum { RUN_OPEN = RUN_CLOCKS * RUN_SORTS };
/* What is counted: varints, in this order. */
enum run_count {
	RUN_COUNT_RUNS,
	RUN_COUNT_STATE, /* of each state, without those with an error */
	RUN_COUNT_ERRORS = RUN_COUNT_STATE + RUN_STATES,
	RUN_COUNTS
};

struct key_group {
	uint32_t partition, model, group;
	uint8_t part, which;
	uint32_t number;
};
void key_put_group(
    unsigned char key[static KEY_GROUP_BYTES], const struct key_group *group);
bool key_get_group(struct text key, struct key_group *group);

/* How many numbers a row is that only counts; 0: it has statistics. */
unsigned run_numbers(const struct key_group *key);
void run_counts_get(struct text value, unsigned count, uint64_t *counts);

/* One thing that a run adds or no longer adds. */
struct run_change {
	uint32_t group, number;
	uint8_t part, which;
	bool removed;
	int64_t value; /* counts: enum run_count; steps: ns */
};
struct run_changes {
	struct run_change *at;
	uint32_t count, room;
};

/* A model in a partition, as numbers. */
struct run_form {
	const struct model_run *model;
	uint32_t partition, number; /* of the model */
	struct run_roles roles;
	uint32_t phase[RUN_STEPS_MAX]; /* numbers of the steps */
};

/* Look the numbers up; `names` NULL: only what is there already, 0 else. */
void run_form_make(struct run_form *form, struct dictionary *dictionary,
    struct db_txn *txn, uint32_t partition, const struct model_run *model);

/* Add what all groups have of single durations of a phase, as emitted, and of
 * what is open. */
void groups_sum(struct db_txn *txn, const struct run_form *form, uint32_t phase,
    struct duration_stats *stats);

/* Append all that the run adds, as run `run`. */
void run_sum(struct run_changes *changes, const struct run_form *form,
    const struct run_row *row, uint32_t run, bool removed);
void run_changes_add(
    struct run_changes *changes, const struct run_change *change);
void run_changes_clear(struct run_changes *changes);

/* Add the durations of a run that belong to a step to `stats`. */
void run_sum_step(struct duration_stats *stats, const struct run_form *form,
    const struct run_row *row, uint32_t phase, uint8_t which);

#endif
