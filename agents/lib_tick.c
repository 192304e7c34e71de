/*
 * lib_tick - a clock that is read in a few nanoseconds, made into wall time
 * afterwards.
 * SPDX-License-Identifier: MIT
 */
#include "agents/lib_tick.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "proto/clock.h"

/* Closer marks would measure the noise of reading two clocks. */
#define MARK_NS (NS_PER_SECOND / 100)
/* The slope is taken over the last one to two of these, */
#define BASE_NS (8 * NS_PER_SECOND)
/* the error goes in this time, */
#define LEAN_NS (10 * NS_PER_SECOND)
/* and one that is greater (the machine slept) is a jump. */
#define JUMP_NS (NS_PER_SECOND / 1000)
/* Over less a slope would be wrong by more than 50 parts in a million. */
#define FIRST_NS (2 * NS_PER_SECOND / 1000)

bool lib_tick_is_counter;

void
lib_tick_choose(void)
{
#if defined(__x86_64__)
	char source[8] = "";
	int fd = open("/sys/devices/system/clocksource/clocksource0/"
		      "current_clocksource",
	    O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (lib_tick_is_counter || fd < 0) {
		if (fd >= 0)
			close(fd);
		return;
	}
	n = read(fd, source, sizeof(source) - 1);
	close(fd);
	lib_tick_is_counter = n == 4 && memcmp(source, "tsc\n", 4) == 0;
#endif
}

/* Both clocks at one moment: the reading of three that took least. */
static struct lib_mark
read_both(void)
{
	struct lib_mark best = { 0 };
	uint64_t least = UINT64_MAX;

	if (!lib_tick_is_counter) {
		best.tick = lib_tick_now();
		best.ns = (int64_t)best.tick;
		return best;
	}
	for (int i = 0; i < 3; i++) {
		uint64_t before = lib_tick_now();
		int64_t ns = clock_monotonic_ns();
		uint64_t took = lib_tick_now() - before;

		if (took >= least)
			continue;
		least = took;
		best = (struct lib_mark){ before + took / 2, ns };
	}
	return best;
}

void
lib_ticks_init(struct lib_ticks *ticks)
{
	ticks->marks = 0;
	ticks->slope = 0;
	lib_ticks_mark(ticks);
}

/* Every other one goes, but for the first and the last. */
static void
thin(struct lib_ticks *ticks)
{
	uint32_t kept = 1;

	for (uint32_t i = 2; i < ticks->marks; i += 2)
		ticks->mark[kept++] = ticks->mark[i];
	if (ticks->marks % 2 == 0)
		ticks->mark[kept++] = ticks->mark[ticks->marks - 1];
	ticks->marks = kept;
}

static void
begin(struct lib_ticks *ticks, struct lib_mark now)
{
	ticks->mark[0] = ticks->older = ticks->newer = ticks->last = now;
	ticks->marks = 1;
}

/* How far a tick is from a mark, in ns. */
static int64_t
distance_ns(uint64_t tick, struct lib_mark mark, double slope)
{
	return (int64_t)((double)(int64_t)(tick - mark.tick) * slope);
}

static double
slope_between(struct lib_mark a, struct lib_mark b)
{
	return (double)(b.ns - a.ns) / (double)(b.tick - a.tick);
}

static int64_t
monotonic_ns(const struct lib_ticks *ticks, uint64_t tick)
{
	const struct lib_mark *mark = ticks->mark;
	uint32_t low = 0, high = ticks->marks;

	if (!lib_tick_is_counter)
		return (int64_t)tick;
	/* The last mark that is not behind the tick, or the first. */
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (mark[middle].tick <= tick)
			low = middle;
		else
			high = middle;
	}
	return mark[low].ns +
	       distance_ns(tick, mark[low],
		   low + 1 == ticks->marks
		       ? ticks->slope
		       : slope_between(mark[low], mark[low + 1]));
}

void
lib_ticks_add(struct lib_ticks *ticks, struct lib_mark now)
{
	int64_t took_ns = now.ns - ticks->last.ns, ours_ns, error_ns;

	if (ticks->marks == 0 || now.tick <= ticks->last.tick) {
		begin(ticks, now);
		return;
	}
	if (ticks->slope == 0) {
		ticks->slope = slope_between(ticks->last, now);
		return;
	}
	if (took_ns < MARK_NS)
		return;
	ours_ns = monotonic_ns(ticks, now.tick);
	error_ns = now.ns - ours_ns;
	ticks->slope = slope_between(ticks->older, now);
	if (error_ns > JUMP_NS || error_ns < -JUMP_NS) {
		begin(ticks, now);
		return;
	}
	if (ticks->marks == LIB_TICK_MARKS)
		thin(ticks);
	ticks->mark[ticks->marks++] = (struct lib_mark){ now.tick, ours_ns };
	ticks->slope *= 1 + (double)error_ns /
				(double)(took_ns > LEAN_NS ? took_ns : LEAN_NS);
	ticks->last = now;
	if (now.ns - ticks->newer.ns > BASE_NS) {
		ticks->older = ticks->newer;
		ticks->newer = now;
	}
}

/* How far the wall clock is from the monotonic one changes when it is set, and
 * else not at all: what cannot be told from the noise of looking is noise. */
static void
look_at_wall(struct lib_ticks *ticks, bool first)
{
	int64_t before_ns = clock_monotonic_ns();
	int64_t wall_ns = clock_wall_ns();
	int64_t took_ns = clock_monotonic_ns() - before_ns;
	int64_t less_ns = wall_ns - before_ns - took_ns / 2;
	int64_t change_ns = less_ns - ticks->wall_less_monotonic;

	if (first || change_ns > took_ns || change_ns < -took_ns)
		ticks->wall_less_monotonic = less_ns;
}

void
lib_ticks_mark(struct lib_ticks *ticks)
{
	struct lib_mark now = read_both();
	struct timespec pause = { 0, FIRST_NS };

	if (ticks->marks > 0 && ticks->slope == 0 && lib_tick_is_counter &&
	    now.ns - ticks->last.ns < FIRST_NS) {
		nanosleep(&pause, NULL);
		now = read_both();
	}
	look_at_wall(ticks, ticks->marks == 0);
	lib_ticks_add(ticks, now);
}

int64_t
lib_ticks_wall_ns(const struct lib_ticks *ticks, uint64_t tick)
{
	return monotonic_ns(ticks, tick) + ticks->wall_less_monotonic;
}
