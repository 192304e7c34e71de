/*
 * clock_drift - the stored intervals and the drift line through them.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/clock_drift.h"

#include <string.h>

/* ---- slopes ---- */

struct range {
	double low, high;
};

/* The slopes that lines through `interval` and each of the first `count` can
 * have: every pair limits them. */
static struct range
slopes_to(const struct clock_offset *o, uint32_t count,
    const struct clock_offset_interval *interval, struct range range)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct clock_offset_interval *p = &o->kept[i];
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
measure_again(struct clock_offset *o)
{
	struct range range = { -CLOCK_OFFSET_RATE, CLOCK_OFFSET_RATE };

	for (uint32_t i = 0; i + 1 < o->count; i++)
		range = slopes_to(o, i, &o->kept[i], range);
	o->least = range.low;
	o->greatest = range.high;
}

/* The second last slot is complete now. */
static void
measure_last(struct clock_offset *o)
{
	struct range range = { o->least, o->greatest };

	if (o->count < 2)
		range = (struct range){ -CLOCK_OFFSET_RATE, CLOCK_OFFSET_RATE };
	else
		range =
		    slopes_to(o, o->count - 2, &o->kept[o->count - 2], range);
	o->least = range.low;
	o->greatest = range.high;
}

static void
drop_oldest(struct clock_offset *o)
{
	o->count--;
	memmove(o->kept, o->kept + 1, o->count * sizeof(o->kept[0]));
	measure_again(o);
}

/* The slopes of lines through all stored intervals: drop the oldest until
 * there is such a line. */
static struct range
slopes(struct clock_offset *o)
{
	for (;;) {
		struct range range = { o->least, o->greatest };

		range =
		    slopes_to(o, o->count - 1, &o->kept[o->count - 1], range);
		if (range.low <= range.high)
			return range;
		drop_oldest(o);
	}
}

/* The possible relative rates of the clocks. */
static struct range
rates(struct range slope)
{
	return (struct range){ fmax(slope.low - CLOCK_OFFSET_WANDER,
				   -CLOCK_OFFSET_RATE),
		fmin(slope.high + CLOCK_OFFSET_WANDER, CLOCK_OFFSET_RATE) };
}

/* The range that every interval permits at these rates, at `at_ns`, above
 * `base_ns`. */
static struct range
possible(const struct clock_offset *o, struct range rate, int64_t at_ns,
    int64_t base_ns)
{
	struct range range = { -INFINITY, INFINITY };

	for (uint32_t i = 0; i < o->count; i++) {
		const struct clock_offset_interval *p = &o->kept[i];
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
line_at(
    const struct clock_offset *o, double slope, int64_t at_ns, int64_t base_ns)
{
	struct range range =
	    possible(o, (struct range){ slope, slope }, at_ns, base_ns);

	return (range.low + range.high) / 2;
}

void
clock_drift_at(struct clock_offset *o, int64_t at_ns, struct clock_drift *line)
{
	const struct clock_offset_interval *last;
	struct range range = slopes(o), rate = rates(range);
	double slope = (range.low + range.high) / 2, above;

	last = &o->kept[o->count - 1];
	if (at_ns < last->at_ns)
		at_ns = last->at_ns;
	above = line_at(o, slope, at_ns, last->low_ns);
	range = possible(o, rate, at_ns, last->low_ns);
	above = fmin(fmax(above, range.low), range.high);
	*line = (struct clock_drift){
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
    struct clock_offset *o, const struct clock_offset_interval *interval)
{
	struct range range;

	if (o->count == 0)
		return false;
	range =
	    possible(o, rates(slopes(o)), interval->at_ns, interval->low_ns);
	return range.high < 0 ||
	       range.low > (double)(interval->high_ns - interval->low_ns);
}

static bool
in_one_slot(const struct clock_offset *o, const struct clock_offset_interval *a,
    const struct clock_offset_interval *b)
{
	return a->at_ns / o->slot_ns == b->at_ns / o->slot_ns;
}

static int64_t
width_of(const struct clock_offset_interval *interval)
{
	return interval->high_ns - interval->low_ns;
}

/* Make room for one more: double the slot length and keep the better probe of
 * each two; at the longest length drop the oldest. */
static void
make_room(struct clock_offset *o)
{
	uint32_t kept = 1;

	if (o->slot_ns >= CLOCK_OFFSET_SLOT_NS) {
		drop_oldest(o);
		return;
	}
	o->slot_ns *= 2;
	for (uint32_t i = 1; i < o->count; i++) {
		struct clock_offset_interval *last = &o->kept[kept - 1];

		if (!in_one_slot(o, last, &o->kept[i]))
			o->kept[kept++] = o->kept[i];
		else if (width_of(&o->kept[i]) <= width_of(last))
			*last = o->kept[i];
	}
	o->count = kept;
	measure_again(o);
}

void
clock_drift_keep(
    struct clock_offset *o, const struct clock_offset_interval *interval)
{
	struct clock_offset_interval *last =
	    o->count > 0 ? &o->kept[o->count - 1] : NULL;
	if (last != NULL && in_one_slot(o, last, interval)) {
		/* A later probe may be worse by what the clocks drift in the
		 * time between. */
		int64_t aged_ns = 2 * offset_reach(CLOCK_OFFSET_WANDER,
					  interval->at_ns - last->at_ns);

		if (width_of(interval) <= width_of(last) + aged_ns)
			*last = *interval;
		return;
	}
	while (o->count == CLOCK_OFFSET_PROBES)
		make_room(o);
	o->kept[o->count++] = *interval;
	measure_last(o);
}
