/*
 * clock_offset - how far this host's clock is from the aggregator's, and how
 * sure that is.
 *
 * An answer carries when the question came and when the answer left, on the
 * aggregator's clock; with when the question left and the answer came, on ours,
 * that is a probe (RFC 5905, section 8): the offset lies in an interval as
 * wide as the round trip, wherever the delay was, both ways alike or not.
 * Of each 16 s (a quarter of a second at the beginning) the probe with the
 * smallest round trip is kept, 64 in all.
 *
 * A line of drift goes through the intervals of all that are kept; the oldest
 * go until there is one.  The range of slopes that such lines can have, and
 * CLOCK_OFFSET_WANDER more (the frequency tolerance of RFC 5905, section 11.1),
 * is taken for the range of the clocks' relative rate: what is possible at a
 * time is what lies in reach of every interval at such a rate, and the bound is
 * how far that is from the line.  Where nothing is measured the rate is
 * anything up to CLOCK_OFFSET_RATE, more than two crystals differ by.
 *
 * A generation is a time without a step.  Our own steps are seen on the two
 * clocks of this host; the line is of the monotonic one and survives them.
 * When an interval is out of reach of the others the aggregator's clock was
 * stepped (or one of the clocks is steered harder than that): what was known is
 * forgotten.  A step of the aggregator's that is smaller than a round trip can
 * hide in it.
 *
 * No clock is read here, and nothing is allocated.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_CLOCK_OFFSET_H
#define AGENTS_DELIVERY_CLOCK_OFFSET_H

#include <stdbool.h>
#include <stdint.h>

enum { CLOCK_OFFSET_PROBES = 64 };
#define CLOCK_OFFSET_SLOT_NS       INT64_C(16000000000)
#define CLOCK_OFFSET_SLOT_FIRST_NS INT64_C(250000000)
#define CLOCK_OFFSET_RATE          200e-6
#define CLOCK_OFFSET_WANDER        15e-6

struct clock_offset_probe {
	int64_t sent_ns, arrived_ns;      /* our monotonic clock */
	int64_t received_ns, answered_ns; /* the aggregator's wall clock */
};

/* Our two clocks at one moment. */
struct clock_offset_now {
	int64_t wall_ns, monotonic_ns;
	int64_t slack_ns; /* it took so long to read both */
};
struct clock_offset_now clock_offset_now(void);

/* What is known: `time_ns` + `offset_ns` is the aggregator's time, within
 * `error_ns`.  Away from `time_ns` the offset changes by `drift` a second,
 * and the error grows by `drift_error`. */
struct clock_offset_estimate {
	int64_t time_ns; /* our wall clock */
	int64_t offset_ns, error_ns;
	double drift, drift_error;
	int64_t round_trip_ns; /* the smallest that is kept */
	uint64_t generation;   /* grows with each step */
	int64_t begin_ns;      /* of it, at the earliest; our wall clock */
};

struct clock_offset {
	/* Of the aggregator's clock less our monotonic one. */
	struct clock_offset_interval {
		int64_t at_ns; /* monotonic */
		int64_t low_ns, high_ns;
		int64_t round_trip_ns;
	} kept[CLOCK_OFFSET_PROBES]; /* by time */
	uint32_t count;
	int64_t slot_ns;        /* of each so long one is kept */
	double least, greatest; /* slopes of lines through all but the last */
	uint64_t probes, rejected; /* ever; times that cannot be */

	int64_t wall_ns;  /* of our clock, less the monotonic one ... */
	int64_t slack_ns; /* ... within this */
	int64_t seen_ns;  /* when that was, monotonic */
	uint64_t generation;
	int64_t begin_ns;
};

/* The first generation is number `generation`. */
void clock_offset_init(struct clock_offset *clock_offset,
    const struct clock_offset_now *now, uint64_t generation);

/* Look whether our clock was stepped; true: it was, a generation begins.  What
 * was known of the one that ends is in `last` when there is any, as of now on
 * the clock as it was before (NULL: not wanted). */
bool clock_offset_watch(struct clock_offset *clock_offset,
    const struct clock_offset_now *now, struct clock_offset_estimate *last,
    bool *known);

enum clock_offset_result {
	CLOCK_OFFSET_TAKEN,
	CLOCK_OFFSET_REJECTED, /* no times that can be */
	CLOCK_OFFSET_STEPPED, /* the aggregator's clock was: a generation begins
			       */
};
/* Take in a probe; clock_offset_watch was called since it arrived. */
enum clock_offset_result clock_offset_add(struct clock_offset *clock_offset,
    const struct clock_offset_probe *probe, struct clock_offset_estimate *last,
    bool *known);

/* What is known now; false: nothing. */
bool clock_offset_get(struct clock_offset *clock_offset,
    const struct clock_offset_now *now, struct clock_offset_estimate *estimate);

/* Would somebody who has `before` learn from `now`? */
bool clock_offset_is_news(const struct clock_offset_estimate *before,
    const struct clock_offset_estimate *now, uint64_t probes);

#endif
