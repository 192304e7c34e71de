/*
 * run_events - the events of a run, and what they say of its steps.
 *
 * A run is known by the events that a model names: each has a number there,
 * its role.  Its events are in the order of (time emitted, stream, seq, index),
 * so the order of arrival does not matter.  A step begins with one role and
 * ends with another; its k-th begin pairs with its k-th end, and what has no
 * partner is in no pair.  A step of a run may take less than no time.
 *
 * The bytes (`events` of a run in a page): `events not kept, count`, then each
 * event: `role, zigzag(time - time before), zigzag(received - time)`, as
 * varints; before the first is the first's own time.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_RUN_EVENTS_H
#define PROTO_RECORD_RUN_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "proto/base/varint.h"

enum {
	RUN_EVENTS_MAX = 512, /* kept of one run */
	RUN_ROLES_MAX = 64,   /* events of a model */
	RUN_STEPS_MAX = 64,   /* of a model */
};

/* What is known of a run: bits, and its state above them. */
enum run_flag { RUN_KNOWN = 1, RUN_ERROR = 2, RUN_STATE_SHIFT = 2 };
enum run_state { RUN_QUEUED, RUN_ONGOING, RUN_FINISHED, RUN_STATES };

enum run_clock { RUN_EMIT, RUN_RECEIVE, RUN_CLOCKS };

struct run_event {
	int64_t time_ns, receive_ns;
	uint8_t role;
};

struct run_events {
	struct run_event at[RUN_EVENTS_MAX];
	uint32_t count;
	uint64_t overflow;
};

void run_put_events(struct buffer *to, const struct run_events *events);
/* False: not the bytes of a run. */
bool run_get_events(
    struct text from, int64_t first_ns, struct run_events *events);

/* A step: from events of one role to those of another. */
struct run_step {
	uint8_t begin, end;
};

/* The durations of the pairs of a step, in their order: at most
 * RUN_EVENTS_MAX / 2; returns how many. */
uint32_t run_durations(const struct run_events *events, struct run_step step,
    enum run_clock clock, int64_t to[static RUN_EVENTS_MAX / 2]);

/* `begun` and `ended`: roles, or RUN_ROLES_MAX where the model has none. */
enum run_state run_state(
    const struct run_events *events, unsigned begun, unsigned ended);

#endif
