/*
 * clock_drift - the stored intervals and the drift line through them.
 * SPDX-License-Identifier: MIT
 */
#include "agents/clock/clock_drift.h"

#include <string.h>

/* ---- slopes ---- */

struct range {
	double low, high;
};

/* The slopes that lines through `interval` and each of the first `count` can
 * have: every pair limits them. */
static struct range
slopes_to(const struct clock_drift *drift, uint32_t count,
    const struct clock_drift_interval *interval, struct range range)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct clock_drift_interval *p = &drift->stored[i];
		double passed = (double)(interval->at_ns - p->at_ns);

		if (interval->at_ns == p->at_ns)
			continue;
		range.low = fmax(range.low,
		    (double)(interval->low_ns - p->high_ns) / passed);
		range.high = fmin(range.high,
		    (double)(interval->high_ns - p->low_ns) / passed);
	}
	return range;
}

static void
measure_again(struct clock_drift *drift)
{
	struct range range = { -CLOCK_DRIFT_RATE, CLOCK_DRIFT_RATE };

	for (uint32_t i = 0; i + 1 < drift->count; i++)
		range = slopes_to(drift, i, &drift->stored[i], range);
	drift->least = range.low;
	drift->greatest = range.high;
}

/* The second last slot is complete now. */
static void
measure_last(struct clock_drift *drift)
{
	struct range range = { drift->least, drift->greatest };

	if (drift->count < 2)
		range = (struct range){ -CLOCK_DRIFT_RATE, CLOCK_DRIFT_RATE };
	else
		range = slopes_to(drift, drift->count - 2,
		    &drift->stored[drift->count - 2], range);
	drift->least = range.low;
	drift->greatest = range.high;
}

static void
drop_oldest(struct clock_drift *drift)
{
	drift->count--;
	memmove(drift->stored, drift->stored + 1,
	    drift->count * sizeof(drift->stored[0]));
	measure_again(drift);
}

/* The slopes of lines through all stored intervals: drop the oldest until
 * there is such a line. */
static struct range
slopes(struct clock_drift *drift)
{
	for (;;) {
		struct range range = { drift->least, drift->greatest };

		range = slopes_to(drift, drift->count - 1,
		    &drift->stored[drift->count - 1], range);
		if (range.low <= range.high)
			return range;
		drop_oldest(drift);
	}
}

/* The possible relative rates of the clocks. */
static struct range
rates(struct range slope)
{
	return (struct range){ fmax(slope.low - CLOCK_DRIFT_WANDER,
				   -CLOCK_DRIFT_RATE),
		fmin(slope.high + CLOCK_DRIFT_WANDER, CLOCK_DRIFT_RATE) };
}

/* The range that every interval permits at these rates, at `at_ns`, above
 * `base_ns`. */
static struct range
possible(const struct clock_drift *drift, struct range rate, int64_t at_ns,
    int64_t base_ns)
{
	struct range range = { -INFINITY, INFINITY };

	for (uint32_t i = 0; i < drift->count; i++) {
		const struct clock_drift_interval *p = &drift->stored[i];
		double passed = (double)(at_ns - p->at_ns);

		range.low = fmax(range.low,
		    (double)(p->low_ns - base_ns) + rate.low * passed);
		range.high = fmin(range.high,
		    (double)(p->high_ns - base_ns) + rate.high * passed);
	}
	return range;
}

/* The line in the middle of those with this slope. */
static double
line_at(const struct clock_drift *drift, double slope, int64_t at_ns,
    int64_t base_ns)
{
	struct range range =
	    possible(drift, (struct range){ slope, slope }, at_ns, base_ns);

	return (range.low + range.high) / 2;
}

void
clock_drift_at(
    struct clock_drift *drift, int64_t at_ns, struct clock_drift_line *line)
{
	const struct clock_drift_interval *last;
	struct range range = slopes(drift), rate = rates(range);
	double slope = (range.low + range.high) / 2, above;

	last = &drift->stored[drift->count - 1];
	if (at_ns < last->at_ns)
		at_ns = last->at_ns;
	above = line_at(drift, slope, at_ns, last->low_ns);
	range = possible(drift, rate, at_ns, last->low_ns);
	above = fmin(fmax(above, range.low), range.high);
	*line = (struct clock_drift_line){
		.at_ns = at_ns,
		.base_ns = last->low_ns,
		.above_base = above,
		.error = fmax(range.high - above, above - range.low),
		.slope = slope,
		.slope_error = fmax(rate.high - slope, slope - rate.low),
	};
}

/* ---- stored probes ---- */

bool
clock_drift_misses(
    struct clock_drift *drift, const struct clock_drift_interval *interval)
{
	struct range range;

	if (drift->count == 0)
		return false;
	range = possible(
	    drift, rates(slopes(drift)), interval->at_ns, interval->low_ns);
	return range.high < 0 ||
	       range.low > (double)(interval->high_ns - interval->low_ns);
}

static bool
in_one_slot(const struct clock_drift *drift,
    const struct clock_drift_interval *a, const struct clock_drift_interval *b)
{
	return a->at_ns / drift->slot_ns == b->at_ns / drift->slot_ns;
}

static int64_t
width_of(const struct clock_drift_interval *interval)
{
	return interval->high_ns - interval->low_ns;
}

/* Make room for one more: double the slot length and keep the better probe of
 * each two; at the longest length drop the oldest. */
static void
make_room(struct clock_drift *drift)
{
	uint32_t kept = 1;

	if (drift->slot_ns >= CLOCK_DRIFT_SLOT_NS) {
		drop_oldest(drift);
		return;
	}
	drift->slot_ns *= 2;
	for (uint32_t i = 1; i < drift->count; i++) {
		struct clock_drift_interval *last = &drift->stored[kept - 1];

		if (!in_one_slot(drift, last, &drift->stored[i]))
			drift->stored[kept++] = drift->stored[i];
		else if (width_of(&drift->stored[i]) <= width_of(last))
			*last = drift->stored[i];
	}
	drift->count = kept;
	measure_again(drift);
}

void
clock_drift_store(
    struct clock_drift *drift, const struct clock_drift_interval *interval)
{
	struct clock_drift_interval *last =
	    drift->count > 0 ? &drift->stored[drift->count - 1] : NULL;
	if (last != NULL && in_one_slot(drift, last, interval)) {
		/* A later probe may be worse by what the clocks drift in the
		 * time between. */
		int64_t aged_ns = 2 * clock_drift_reach(CLOCK_DRIFT_WANDER,
					  interval->at_ns - last->at_ns);

		if (width_of(interval) <= width_of(last) + aged_ns)
			*last = *interval;
		return;
	}
	while (drift->count == CLOCK_DRIFT_PROBES)
		make_room(drift);
	drift->stored[drift->count++] = *interval;
	measure_last(drift);
}
