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
struct offset_line {
	int64_t at_ns;   /* monotonic */
	int64_t base_ns; /* of the keeper's clock less our monotonic one ... */
	double above_base, error; /* ... it lies so much above, in ns */
	double slope, slope_error;
};

/* At `at_ns`, or at the last interval that is kept if that is later; at least
 * one is. */
void offset_line_at(struct offset *o, int64_t at_ns, struct offset_line *line);

/* Is an interval, later than all that are kept, out of their reach? */
bool offset_line_misses(
    struct offset *o, const struct offset_interval *interval);

/* Keep it, if it is the best of its slot. */
void offset_line_keep(struct offset *o, const struct offset_interval *interval);

/* What a rate of `rate` makes of a time. */
static inline int64_t
offset_reach(double rate, int64_t time_ns)
{
	return (int64_t)ceil(rate * (double)time_ns);
}

#endif
