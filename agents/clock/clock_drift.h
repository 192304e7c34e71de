/*
 * clock_drift - the stored intervals and the drift line through them
 * (clock_offset.h describes the method).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_CLOCK_CLOCK_DRIFT_H
#define AGENTS_CLOCK_CLOCK_DRIFT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { CLOCK_DRIFT_PROBES = 64 };
#define CLOCK_DRIFT_SLOT_NS       INT64_C(16000000000)
#define CLOCK_DRIFT_SLOT_FIRST_NS INT64_C(250000000)
#define CLOCK_DRIFT_RATE          200e-6
#define CLOCK_DRIFT_WANDER        15e-6

/* Bounds of the aggregator's clock minus our monotonic clock. */
struct clock_drift_interval {
	int64_t at_ns; /* monotonic */
	int64_t low_ns, high_ns;
	int64_t round_trip_ns;
};

/* Initialize with zeros, and slot_ns with CLOCK_DRIFT_SLOT_FIRST_NS. */
struct clock_drift {
	struct clock_drift_interval stored[CLOCK_DRIFT_PROBES]; /* by time */
	uint32_t count;
	int64_t slot_ns; /* length of a slot; one interval of each is stored */
	/* Slopes of lines through all but the last interval. */
	double least, greatest;
};

/* The line at a time, and the range of possible offsets then. */
struct clock_drift_line {
	int64_t at_ns;   /* monotonic */
	int64_t base_ns; /* aggregator's clock minus our monotonic clock ... */
	double above_base, error; /* ... is this much above `base_ns`, in ns */
	double slope, slope_error;
};

/* At `at_ns`, or at the last stored interval if that is later; at least one
 * must be stored. */
void clock_drift_at(
    struct clock_drift *drift, int64_t at_ns, struct clock_drift_line *line);

/* Does an interval, later than all stored ones, contradict them? */
bool clock_drift_misses(
    struct clock_drift *drift, const struct clock_drift_interval *interval);

/* Store it if it is the best of its slot. */
void clock_drift_store(
    struct clock_drift *drift, const struct clock_drift_interval *interval);

/* A duration multiplied by a rate. */
static inline int64_t
clock_drift_reach(double rate, int64_t time_ns)
{
	return (int64_t)ceil(rate * (double)time_ns);
}

#endif
