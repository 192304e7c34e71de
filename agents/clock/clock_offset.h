/*
 * clock_offset - the offset between this host's clock and the aggregator's,
 * with its error bound.
 *
 * An answer carries the times, on the aggregator's clock, at which the
 * question arrived and the answer left.  Together with the times, on our
 * clock, at which the question left and the answer arrived, that is a probe
 * (RFC 5905, section 8): the offset lies in an interval as wide as the round
 * trip, whatever the delay of each direction.  Of each 16 s (a quarter of a
 * second at first) the probe with the smallest round trip is stored, at most
 * 64.
 *
 * A drift line goes through all stored intervals; the oldest are dropped until
 * there is such a line.  The range of slopes that such lines can have, widened
 * by CLOCK_DRIFT_WANDER (the frequency tolerance of RFC 5905, section 11.1),
 * is taken as the range of the relative rate of the clocks.  The possible
 * offsets at a time are those that every interval permits at such a rate; the
 * error bound is their largest distance from the line.  Without measurements
 * the rate is anything up to CLOCK_DRIFT_RATE, more than two crystals differ
 * by.
 *
 * A generation is a period without a step.  Steps of our own wall clock show
 * as a difference between the two clocks of this host; the line is based on
 * the monotonic clock and survives them.  When an interval contradicts the
 * others, the aggregator's clock was stepped (or one of the clocks is steered
 * faster than that): all stored intervals are discarded.  A step of the
 * aggregator's clock that is smaller than a round trip can go unnoticed.
 *
 * This module reads no clock and allocates nothing.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_CLOCK_CLOCK_OFFSET_H
#define AGENTS_CLOCK_CLOCK_OFFSET_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/clock/clock_drift.h"

struct clock_offset_probe {
	int64_t sent_ns, arrived_ns;      /* our monotonic clock */
	int64_t received_ns, answered_ns; /* the aggregator's wall clock */
};

/* Readings of our two clocks at one moment. */
struct clock_offset_now {
	int64_t wall_ns, monotonic_ns;
	int64_t slack_ns; /* duration of reading both */
};
struct clock_offset_now clock_offset_now(void);

/* The estimate: `time_ns` + `offset_ns` is the aggregator's time, within
 * `error_ns`.  Away from `time_ns` the offset changes by `drift` a second, and
 * the error grows by `drift_error`. */
struct clock_offset_estimate {
	int64_t time_ns; /* our wall clock */
	int64_t offset_ns, error_ns;
	double drift, drift_error;
	int64_t round_trip_ns; /* the smallest stored one */
	uint64_t generation;   /* increases with each step */
	int64_t begin_ns; /* earliest begin of the generation; our wall clock */
};

struct clock_offset {
	struct clock_drift drift;
	uint64_t probes, rejected; /* total; probes with impossible times */

	int64_t wall_ns;  /* our wall clock minus the monotonic one ... */
	int64_t slack_ns; /* ... with this error */
	int64_t seen_ns;  /* time of that reading, monotonic */
	uint64_t generation;
	int64_t begin_ns;
};

/* The first generation is number `generation`. */
void clock_offset_init(struct clock_offset *clock_offset,
    const struct clock_offset_now *now, uint64_t generation);

/* Check whether our clock was stepped; true: it was, and a new generation
 * begins.  `last` gets the last estimate of the old generation, if there is
 * one, for this moment on the clock before the step (NULL: not wanted). */
bool clock_offset_watch(struct clock_offset *clock_offset,
    const struct clock_offset_now *now, struct clock_offset_estimate *last,
    bool *known);

enum clock_offset_result {
	CLOCK_OFFSET_TAKEN,
	CLOCK_OFFSET_REJECTED, /* impossible times */
	CLOCK_OFFSET_STEPPED,  /* the aggregator's clock was stepped: a new
				  generation begins */
};
/* Add a probe; the caller has called clock_offset_watch since it arrived. */
enum clock_offset_result clock_offset_add(struct clock_offset *clock_offset,
    const struct clock_offset_probe *probe, struct clock_offset_estimate *last,
    bool *known);

/* The current estimate; false: there is none. */
bool clock_offset_get(struct clock_offset *clock_offset,
    const struct clock_offset_now *now, struct clock_offset_estimate *estimate);

/* Does `now` add information to the earlier report `before`? */
bool clock_offset_is_news(const struct clock_offset_estimate *before,
    const struct clock_offset_estimate *now, uint64_t probes);

#endif
