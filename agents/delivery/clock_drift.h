/*
 * clock_drift - the stored intervals and the drift line through them
 * (clock_offset.h describes the method).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_CLOCK_DRIFT_H
#define AGENTS_DELIVERY_CLOCK_DRIFT_H

#include <math.h>

#include "agents/delivery/clock_offset.h"

/* The line at a time, and the range of possible offsets then. */
struct clock_drift {
	int64_t at_ns;   /* monotonic */
	int64_t base_ns; /* aggregator's clock minus our monotonic clock ... */
	double above_base, error; /* ... is this much above `base_ns`, in ns */
	double slope, slope_error;
};

/* At `at_ns`, or at the last stored interval if that is later; at least one
 * must be stored. */
void clock_drift_at(
    struct clock_offset *o, int64_t at_ns, struct clock_drift *line);

/* Does an interval, later than all stored ones, contradict them? */
bool clock_drift_misses(
    struct clock_offset *o, const struct clock_offset_interval *interval);

/* Store it if it is the best of its slot. */
void clock_drift_keep(
    struct clock_offset *o, const struct clock_offset_interval *interval);

/* A duration multiplied by a rate. */
static inline int64_t
offset_reach(double rate, int64_t time_ns)
{
	return (int64_t)ceil(rate * (double)time_ns);
}

#endif
