/*
 * clock_offset - the offset between this host's clock and the aggregator's.
 * SPDX-License-Identifier: MIT
 */
#include "agents/clock/clock_offset.h"

#include <math.h>
#include <string.h>

#include "proto/os/clock.h"

enum {
	READINGS = 4,    /* readings of both clocks; the quickest counts */
	QUICK_NS = 2000, /* quick enough */
	STEP_NS =
	    5000, /* a smaller difference counts as error, not as a step */
	NEWS_PROBES = 2,        /* one of them answers our own report */
	NEWS_ERROR_NS = 500000, /* a better estimate needs no report */
};
#define NEWS_NS           (60 * NS_PER_SECOND)
#define ROUND_TRIP_MAX_NS (3600 * NS_PER_SECOND)
/* 31 years after boot: until then no two ends of intervals are 2^63 ns
 * apart. */
#define MONOTONIC_MAX_NS (INT64_C(1000000000) * NS_PER_SECOND)

struct clock_offset_now
clock_offset_now(void)
{
	struct clock_offset_now best = { 0, 0, INT64_MAX };

	for (int i = 0; i < READINGS && best.slack_ns > QUICK_NS; i++) {
		int64_t before_ns = clock_monotonic_ns();
		int64_t wall_ns = clock_wall_ns();
		int64_t took_ns = clock_monotonic_ns() - before_ns;

		if (took_ns < best.slack_ns)
			best = (struct clock_offset_now){ wall_ns,
				before_ns + took_ns / 2, took_ns };
	}
	return best;
}

/* ---- our clock ---- */

static void
begin_generation(struct clock_offset *o, int64_t begin_ns)
{
	o->generation++;
	o->begin_ns = begin_ns;
}

static void
note_clocks(struct clock_offset *o, const struct clock_offset_now *now)
{
	o->wall_ns = now->wall_ns - now->monotonic_ns;
	o->slack_ns = now->slack_ns;
	o->seen_ns = now->monotonic_ns;
}

void
clock_offset_init(struct clock_offset *clock_offset,
    const struct clock_offset_now *now, uint64_t generation)
{
	memset(clock_offset, 0, sizeof(*clock_offset));
	clock_offset->generation = generation;
	clock_offset->begin_ns = now->wall_ns;
	clock_offset->drift.slot_ns = CLOCK_DRIFT_SLOT_FIRST_NS;
	note_clocks(clock_offset, now);
}

static bool estimate_at(struct clock_offset *o, int64_t at_ns,
    struct clock_offset_estimate *estimate);

bool
clock_offset_watch(struct clock_offset *o, const struct clock_offset_now *now,
    struct clock_offset_estimate *last, bool *known)
{
	int64_t passed_ns = now->monotonic_ns - o->seen_ns;
	int64_t moved_ns = now->wall_ns - now->monotonic_ns - o->wall_ns;
	int64_t room_ns = STEP_NS + o->slack_ns + now->slack_ns;

	if (known != NULL)
		*known = false;
	if (passed_ns < 0)
		return false; /* older than the last reading */
	/* The kernel steers both clocks alike; the small difference is part of
	 * the errors, which grow at least that fast. */
	room_ns += clock_drift_reach(CLOCK_DRIFT_WANDER, passed_ns);
	if (moved_ns >= -room_ns && moved_ns <= room_ns) {
		note_clocks(o, now);
		return false;
	}
	if (last != NULL)
		*known = estimate_at(o, now->monotonic_ns, last);
	note_clocks(o, now);
	/* At the earliest just after the previous reading of the clocks. */
	begin_generation(o, now->wall_ns - passed_ns);
	return true;
}

/* ---- probes ---- */

static bool
make_interval(const struct clock_offset_probe *probe,
    struct clock_drift_interval *interval)
{
	int64_t whole_ns, held_ns, spare_ns;

	if (probe->received_ns < 0 || probe->answered_ns < probe->received_ns ||
	    probe->answered_ns > TIME_MAX_NS || probe->sent_ns < 0 ||
	    probe->arrived_ns < probe->sent_ns ||
	    probe->arrived_ns > MONOTONIC_MAX_NS)
		return false;
	whole_ns = probe->arrived_ns - probe->sent_ns;
	held_ns = probe->answered_ns - probe->received_ns;
	if (whole_ns > ROUND_TRIP_MAX_NS)
		return false;
	/* Move both ends to the time of arrival: add what the clocks may have
	 * drifted since the question left. */
	spare_ns = clock_drift_reach(CLOCK_DRIFT_RATE, whole_ns);
	*interval = (struct clock_drift_interval){
		.at_ns = probe->arrived_ns,
		.low_ns = probe->answered_ns - probe->arrived_ns - spare_ns,
		.high_ns = probe->received_ns - probe->sent_ns + spare_ns,
		.round_trip_ns = whole_ns > held_ns ? whole_ns - held_ns : 0,
	};
	return interval->low_ns <= interval->high_ns;
}

enum clock_offset_result
clock_offset_add(struct clock_offset *o, const struct clock_offset_probe *probe,
    struct clock_offset_estimate *last, bool *known)
{
	struct clock_drift_interval interval;
	bool stepped;

	*known = false;
	if (!make_interval(probe, &interval) ||
	    (o->drift.count > 0 &&
		interval.at_ns < o->drift.stored[o->drift.count - 1].at_ns)) {
		o->rejected++;
		return CLOCK_OFFSET_REJECTED;
	}
	o->probes++;
	stepped = clock_drift_misses(&o->drift, &interval);
	if (stepped) {
		int64_t seen_ns = o->drift.stored[o->drift.count - 1].at_ns;

		*known = estimate_at(o, probe->arrived_ns, last);
		o->drift.count = 0;
		o->drift.slot_ns = CLOCK_DRIFT_SLOT_FIRST_NS;
		begin_generation(o, seen_ns + o->wall_ns);
	}
	clock_drift_store(&o->drift, &interval);
	return stepped ? CLOCK_OFFSET_STEPPED : CLOCK_OFFSET_TAKEN;
}

/* ---- the estimate ---- */

static int64_t
least_round_trip(const struct clock_offset *o)
{
	int64_t least_ns = INT64_MAX;

	for (uint32_t i = 0; i < o->drift.count; i++)
		if (o->drift.stored[i].round_trip_ns < least_ns)
			least_ns = o->drift.stored[i].round_trip_ns;
	return least_ns;
}

/* `at_ns` is monotonic, and not before the last probe. */
static bool
estimate_at(struct clock_offset *o, int64_t at_ns,
    struct clock_offset_estimate *estimate)
{
	struct clock_drift_line line;
	int64_t offset_ns;

	if (o->drift.count == 0)
		return false;
	clock_drift_at(&o->drift, at_ns, &line);
	/* Report nothing about a clock that is wrong by centuries. */
	if (__builtin_sub_overflow(line.base_ns, o->wall_ns, &offset_ns) ||
	    __builtin_add_overflow(
		offset_ns, llround(line.above_base), &offset_ns))
		return false;
	*estimate = (struct clock_offset_estimate){
		.time_ns = line.at_ns + o->wall_ns,
		.offset_ns = offset_ns,
		.error_ns = (int64_t)ceil(line.error) + o->slack_ns + STEP_NS,
		.drift = line.slope,
		.drift_error = line.slope_error,
		.round_trip_ns = least_round_trip(o),
		.generation = o->generation,
		.begin_ns = o->begin_ns,
	};
	return true;
}

bool
clock_offset_get(struct clock_offset *clock_offset,
    const struct clock_offset_now *now, struct clock_offset_estimate *estimate)
{
	return estimate_at(clock_offset, now->monotonic_ns, estimate);
}

bool
clock_offset_is_news(const struct clock_offset_estimate *before,
    const struct clock_offset_estimate *now, uint64_t probes)
{
	double passed = (double)(now->time_ns - before->time_ns);
	double error = (double)before->error_ns + before->drift_error * passed;
	double moved = (double)(now->offset_ns - before->offset_ns) -
		       before->drift * passed;

	if (now->generation != before->generation)
		return true;
	if (probes >= NEWS_PROBES && passed >= (double)NEWS_NS)
		return true;
	if (error < NEWS_ERROR_NS)
		return false;
	return (double)now->error_ns < error / 2 || fabs(moved) > error / 2;
}
