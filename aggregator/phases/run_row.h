/*
 * run_row - the stored row of a test run: the events that its model names, how
 * many others there are, and the properties of its entity that statistics need.
 *
 * Other events are counted by name and hour, because retention deletes events
 * by the hour.  Events are identified by the number of their name, so a model
 * may change.
 * proto/store.md, "Test runs and their groups", describes the bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PHASES_RUN_ROW_H
#define AGGREGATOR_PHASES_RUN_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/model/model.h"
#include "aggregator/packed/packed.h"
#include "aggregator/tables/row_block.h"
#include "proto/base/varint.h"
#include "proto/record/run.h"

enum {
	RUN_ROW_KEY_BYTES = 12,
	RUN_ROW_TALLIES_MAX = 512,
};

struct run_row_key {
	uint32_t partition;
	uint32_t model; /* number of the model's name with a colon */
	uint32_t run;   /* number of the run's id */
};
void run_row_put_key(
    unsigned char key[static RUN_ROW_KEY_BYTES], const struct run_row_key *run);
bool run_row_get_key(struct text key, struct run_row_key *run);

/* A row of the index by time. */
enum { RUN_ROW_TIME_KEY_BYTES = 20 };
struct run_row_time {
	uint32_t partition, model;
	int64_t time_ns; /* run_row_time */
	uint32_t run;
};
void run_row_put_time_key(unsigned char key[static RUN_ROW_TIME_KEY_BYTES],
    const struct run_row_time *at);
bool run_row_get_time_key(struct text key, struct run_row_time *at);

struct run_row_event {
	struct row_block_item id; /* without a body */
	uint32_t event;           /* number of "source:name" */
	uint32_t node;
};

/* The other events of one name in one hour. */
struct run_row_tally {
	uint32_t event;   /* number of "source:name" */
	int32_t hour;     /* since 1970 */
	int64_t first_ns; /* the time of the first */
	uint64_t count;
};

struct run_row {
	/* A view.  The id is stored here so that a walk over all runs needs no
	 * lookups. */
	struct text id;
	bool known, error;         /* has an entity; the entity has an error */
	uint32_t group, requestor; /* numbers of names; 0: none */
	uint32_t count;
	struct run_row_event at[RUN_EVENTS_MAX]; /* in order */
	/* Other events, by (event, hour): at most RUN_NAMES_MAX names. */
	uint32_t tallies;
	struct run_row_tally tally[RUN_ROW_TALLIES_MAX];
	uint64_t overflow;   /* events that no tally has, */
	int64_t overflow_ns; /* and the time of the last one */
};

void run_row_reset(struct run_row *row);
/* A decoded row is a view of `value`. */
void run_row_encode(const struct run_row *row, struct buffer *to);
bool run_row_decode(struct run_row *row, struct text value);

enum run_row_taken { RUN_ROW_TAKEN, RUN_ROW_REPEATED, RUN_ROW_OVERFLOW };
/* Insert an event in order. */
enum run_row_taken run_row_take(
    struct run_row *row, const struct run_row_event *event);

/* Count an event that is not inserted.  False: not by its name. */
bool run_row_count(struct run_row *row, uint32_t event, int64_t time_ns);
/* Remove what is before `cut_ns`, the begin of an hour; true: there was some.
 */
bool run_row_trim(struct run_row *row, int64_t cut_ns);
/* The time of the first event.  False: it has none, or it is not known. */
bool run_row_first(const struct run_row *row, int64_t *first_ns);
/* Where the index by time has the run: at the time of its first event, or
 * before all others when that is not known. */
#define RUN_ROW_NO_TIME INT64_MIN
int64_t run_row_time(const struct run_row *row);
/* Read the run that a row of the index names.  False: there is none, or it has
 * another time.  The row is a view, valid as that of packed_get. */
bool run_row_find(struct run_row *row, struct packed *packed,
    struct db_txn *txn, const struct run_row_time *at);
/* Has it an event of any kind? */
bool run_row_has_events(const struct run_row *row);

/* The numbers of the event names of a model in a partition. */
struct run_row_roles {
	uint32_t number[RUN_ROLES_MAX];
	uint32_t count;
};
/* The events of the row that the model defines, with the numbers of their
 * nodes; the others are left out. */
void run_row_events(const struct run_row *row,
    const struct run_row_roles *roles, struct run_events *to);

#endif
