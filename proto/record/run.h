/*
 * run - the events of a run id, and the durations of its steps.
 *
 * The events that a model names make up a run; the number of an event in the
 * model is its role.  The events are sorted by (time emitted, stream, seq,
 * index), so the order of arrival does not matter.  A step begins with one
 * role and ends with another; they pair by pairing.h, in the order of emission.
 * By the times received a duration may be negative.
 *
 * All other events of the run are counted by name: those that the model does
 * not name, and those beyond RUN_EVENTS_MAX.
 *
 * The bytes (`events` of a run in a page): number of nodes, then for each its
 * length and name; number of events, then for each event `role, zigzag(time -
 * previous time), zigzag(received - time), node`, the previous time of the
 * first is that of the run; number of names, then for each its length, the name
 * and the number of events; number of events of further names.  All numbers are
 * varints.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_RUN_H
#define PROTO_RECORD_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "proto/base/varint.h"

enum {
	RUN_EVENTS_MAX = 512, /* stored per run */
	RUN_NAMES_MAX = 64,   /* of other events, counted per run */
	RUN_NAME_BYTES_MAX = 2 * NAME_BYTES_MAX + 1, /* "source:name" */
	RUN_ROLES_MAX = 64,                          /* events per model */
	RUN_STEPS_MAX = 64,                          /* per model */
};

/* `count` of struct record: flag bits, and enum run_state above them. */
enum run_flag {
	RUN_KNOWN = 1, /* an entity describes the run */
	RUN_ERROR = 2, /* the entity has an error */
	RUN_STATE_SHIFT = 2,
};
enum run_state { RUN_QUEUED, RUN_ONGOING, RUN_FINISHED, RUN_STATES };

enum run_clock { RUN_EMIT, RUN_RECEIVE, RUN_CLOCKS };

struct run_event {
	int64_t time_ns, receive_ns;
	uint8_t role;
	uint32_t node; /* in a page, an index of its nodes */
};

/* Other events of one name. */
struct run_count {
	struct text event; /* "source:name" */
	uint64_t count;
};

struct run_events {
	struct text node[RUN_EVENTS_MAX]; /* names */
	uint32_t nodes;
	struct run_event at[RUN_EVENTS_MAX];
	uint32_t count;
	struct run_count other[RUN_NAMES_MAX];
	uint32_t others;
	uint64_t overflow; /* events whose names are beyond RUN_NAMES_MAX */
};

/* `first_ns` is the time of the run. */
void run_events_put(
    struct buffer *to, int64_t first_ns, const struct run_events *events);
/* False: these are not the bytes of a run.  The names are views of `from`. */
bool run_events_get(
    struct text from, int64_t first_ns, struct run_events *events);

/* A step: from events with one role to events with another. */
struct run_step {
	uint8_t begin, end;
};

/* The durations of the pairs of a step, in order: at most RUN_EVENTS_MAX / 2.
 * Returns their number. */
uint32_t run_events_durations(const struct run_events *events,
    struct run_step step, enum run_clock clock,
    int64_t to[static RUN_EVENTS_MAX / 2]);

/* `begun` and `ended`: roles, or RUN_ROLES_MAX if the model has none. */
enum run_state run_state(
    const struct run_events *events, unsigned begun, unsigned ended);

#endif
