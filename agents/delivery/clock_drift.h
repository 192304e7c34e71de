/*
 * clock_drift - the intervals that are kept, and the line of drift through
 * them (clock_offset.h says how).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_CLOCK_DRIFT_H
#define AGENTS_DELIVERY_CLOCK_DRIFT_H

#include <math.h>

#include "agents/delivery/clock_offset.h"

/* The line at a time, and what else is possible then. */
struct clock_drift {
	int64_t at_ns; /* monotonic */
	int64_t
	    base_ns; /* of the aggregator's clock less our monotonic one ... */
	double above_base, error; /* ... it lies so much above, in ns */
	double slope, slope_error;
};

/* At `at_ns`, or at the last interval that is kept if that is later; at least
 * one is. */
void clock_drift_at(
    struct clock_offset *o, int64_t at_ns, struct clock_drift *line);

/* Is an interval, later than all that are kept, out of their reach? */
bool clock_drift_misses(
    struct clock_offset *o, const struct clock_offset_interval *interval);

/* Keep it, if it is the best of its slot. */
void clock_drift_keep(
    struct clock_offset *o, const struct clock_offset_interval *interval);

/* What a rate of `rate` makes of a time. */
static inline int64_t
offset_reach(double rate, int64_t time_ns)
{
	return (int64_t)ceil(rate * (double)time_ns);
}

#endif
