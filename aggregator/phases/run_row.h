/*
 * run_row - a run at rest: its events, and what of its entity statistics want.
 *
 * Events are known by the number of their name, so that a model may change.
 * The bytes are proto/store.md, "Test runs and their groups".
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PHASES_RUN_ROW_H
#define AGGREGATOR_PHASES_RUN_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/model/model.h"
#include "aggregator/tables/row_block.h"
#include "proto/base/varint.h"
#include "proto/record/run_events.h"

enum { KEY_RUN_BYTES = 12 };

struct key_run {
	uint32_t partition;
	uint32_t model; /* number of the model's name and a colon */
	uint32_t run;   /* number of its id */
};
void key_put_run(
    unsigned char key[static KEY_RUN_BYTES], const struct key_run *run);
bool key_get_run(struct text key, struct key_run *run);

struct run_row_event {
	struct row_block_item id; /* without a body */
	uint32_t event;           /* number of "source:name" */
	uint32_t node;
};

struct run_row {
	/* A view; so that a walk over all runs needs no names. */
	struct text id;
	bool known, error;         /* it has an entity; that names an error */
	uint32_t group, requestor; /* numbers, 0: none */
	uint64_t overflow;         /* events beyond RUN_EVENTS_MAX */
	uint32_t count;
	struct run_row_event at[RUN_EVENTS_MAX]; /* in order */
};

void run_row_reset(struct run_row *row);
/* A decoded row is a view of `value`. */
void run_row_encode(const struct run_row *row, struct buffer *to);
bool run_row_decode(struct run_row *row, struct text value);

enum run_taken { RUN_TAKEN, RUN_REPEATED, RUN_OVERFLOW };
/* Put an event in its place. */
enum run_taken run_row_take(
    struct run_row *row, const struct run_row_event *event);

/* The numbers of a model's events in a partition. */
struct run_roles {
	uint32_t number[RUN_ROLES_MAX];
	uint32_t count;
};
/* The row's events as the model has them; others are left out. */
void run_row_events(const struct run_row *row, const struct run_roles *roles,
    struct run_events *to);

#endif
