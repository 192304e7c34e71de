/*
 * now_run_groups - how many test runs of each group are in which state.
 *
 * Of every model whose runs the partition has; groups.h computes the numbers.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_NODES_RUN_GROUPS_H
#define EXPORTERS_NODES_RUN_GROUPS_H

#include "exporters/source/source.h"
#include "exporters/phases/phase_rows.h"
#include "proto/hash/string_table.h"
#include "proto/record/run.h"

enum { RUN_GROUPS_MAX = 1000, RUN_GROUPS_STATES = RUN_STATES + 1 };

/* The words of the states; the last one: ended with an error. */
extern const char *const run_groups_states[RUN_GROUPS_STATES];

struct run_group {
	/* "(unknown)": of runs without a description.  "_other": of all groups
	 * beyond RUN_GROUPS_MAX of a partition. */
	struct text model, group;
	uint64_t runs[RUN_GROUPS_STATES];
};

struct run_groups {
	struct run_group *at; /* in the order of their appearance */
	uint32_t count, room;
	struct string_table keys;
};

void run_groups_init(struct run_groups *groups);
void run_groups_clear(struct run_groups *groups);

/* Read those of the models that have a phase among these rows. */
int run_groups_read(struct run_groups *groups, struct source *source,
    struct text partition, const struct phase_row *rows, uint32_t count,
    struct err *err);

#endif
