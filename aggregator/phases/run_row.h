/*
 * run_row - the stored row of a test run: its events, and the properties of
 * its entity that statistics need.
 *
 * Events are identified by the number of their name, so a model may change.
 * proto/store.md, "Test runs and their groups", describes the bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PHASES_RUN_ROW_H
#define AGGREGATOR_PHASES_RUN_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/model/model.h"
#include "aggregator/tables/row_block.h"
#include "proto/base/varint.h"
#include "proto/record/run.h"

enum { RUN_ROW_KEY_BYTES = 12 };

struct run_row_key {
	uint32_t partition;
	uint32_t model; /* number of the model's name with a colon */
	uint32_t run;   /* number of the run's id */
};
void run_row_put_key(
    unsigned char key[static RUN_ROW_KEY_BYTES], const struct run_row_key *run);
bool run_row_get_key(struct text key, struct run_row_key *run);

struct run_row_event {
	struct row_block_item id; /* without a body */
	uint32_t event;           /* number of "source:name" */
	uint32_t node;
};

struct run_row {
	/* A view.  The id is stored here so that a walk over all runs needs no
	 * lookups. */
	struct text id;
	bool known, error;         /* has an entity; the entity has an error */
	uint32_t group, requestor; /* numbers of names; 0: none */
	uint64_t overflow;         /* events beyond RUN_EVENTS_MAX */
	uint32_t count;
	struct run_row_event at[RUN_EVENTS_MAX]; /* in order */
};

void run_row_reset(struct run_row *row);
/* A decoded row is a view of `value`. */
void run_row_encode(const struct run_row *row, struct buffer *to);
bool run_row_decode(struct run_row *row, struct text value);

enum run_row_taken { RUN_ROW_TAKEN, RUN_ROW_REPEATED, RUN_ROW_OVERFLOW };
/* Insert an event in order. */
enum run_row_taken run_row_take(
    struct run_row *row, const struct run_row_event *event);

/* The numbers of the event names of a model in a partition. */
struct run_row_roles {
	uint32_t number[RUN_ROLES_MAX];
	uint32_t count;
};
/* The events of the row that the model defines. */
void run_row_events(const struct run_row *row,
    const struct run_row_roles *roles, struct run_events *to);

#endif
