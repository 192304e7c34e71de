/*
 * run_sum - what test runs contribute to the statistics of their groups.
 *
 * A run contributes to the counts of its group, to the count of its requestor,
 * to the lists of runs that are unfinished or have no entity, and for each
 * step and clock the duration of each iteration and their sum.  When a run
 * changes, its old contributions are removed and the new ones added.
 * Contributions that stay the same cancel out before any row is read or
 * written.
 *
 * proto/store.md, "Test runs and their groups", describes the rows of table
 * `groups` (key: partition, model, group, part, number, which).
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
	RUN_SUM_GROUPS_MAX = 1024, /* per model and partition; further groups
				      count as "_other" */
};
/* The group of runs without an entity. */
#define RUN_SUM_GROUP_UNKNOWN UINT32_MAX

/* The kinds of rows, in the order of their keys. */
enum run_sum_part {
	RUN_SUM_PART_COUNTS,    /* number 0 */
	RUN_SUM_PART_STEP,      /* number of the phase; which: clock and sort */
	RUN_SUM_PART_REQUESTOR, /* number of the requestor's name */
	RUN_SUM_PART_LIST,      /* number of the run; which: its state */
	RUN_SUM_PARTS
};
/* `which` of a step: sort + RUN_SUM_SORTS * clock; RUN_SUM_OPEN: the number of
 * begins and ends without a partner. */
enum run_sum_sort { RUN_SUM_ITERATION, RUN_SUM_TOTAL, RUN_SUM_SORTS };
enum { RUN_SUM_OPEN = RUN_CLOCKS * RUN_SUM_SORTS };
/* The counts of a group, stored as varints in this order. */
enum run_sum_count {
	RUN_SUM_COUNT_RUNS,
	RUN_SUM_COUNT_STATE, /* one for each state; runs with an error are not
				among them */
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

/* The number of counts in a row; 0: the row has statistics. */
unsigned run_sum_numbers(const struct run_sum_key *key);
void run_sum_get_counts(struct text value, unsigned count, uint64_t *counts);

/* One contribution of a run, added or removed. */
struct run_sum_change {
	uint32_t group, number;
	uint8_t part, which;
	bool removed;
	int64_t value; /* counts: enum run_sum_count; steps: duration in ns */
};
struct run_sum_changes {
	struct run_sum_change *at;
	uint32_t count, room;
};

/* The numbers of a model's names in a partition. */
struct run_sum_form {
	const struct model_run *model;
	uint32_t partition, number; /* of the model's name */
	struct run_row_roles roles;
	uint32_t phase[RUN_STEPS_MAX]; /* of the names of its steps */
};

/* Look up the numbers.  With `dictionary` NULL, names are not added: their
 * number is 0. */
void run_sum_form_make(struct run_sum_form *form, struct dictionary *dictionary,
    struct db_txn *txn, uint32_t partition, const struct model_run *model);

/* Add, over all groups, the durations of single iterations of a phase on the
 * emit clock, and the events without a partner. */
void run_sum_groups(struct db_txn *txn, const struct run_sum_form *form,
    uint32_t phase, struct duration_stats *stats);

/* Append all contributions of run number `run`. */
void run_sum(struct run_sum_changes *changes, const struct run_sum_form *form,
    const struct run_row *row, uint32_t run, bool removed);
void run_sum_changes_add(
    struct run_sum_changes *changes, const struct run_sum_change *change);
void run_sum_changes_clear(struct run_sum_changes *changes);

/* Add the durations of one step of a run to `stats`. */
void run_sum_step(struct duration_stats *stats, const struct run_sum_form *form,
    const struct run_row *row, uint32_t phase, uint8_t which);

#endif
