/*
 * fast_clock - a clock that is read in a few nanoseconds and converted to wall
 * time afterwards.
 * SPDX-License-Identifier: MIT
 */
#include "agents/client/fast_clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "proto/os/clock.h"

/* The minimum time between marks: closer ones measure the noise of reading two
 * clocks. */
#define MARK_NS (NS_PER_SECOND / 100)
/* The slope is that of the last one to two of these periods. */
#define BASE_NS (8 * NS_PER_SECOND)
/* A small error is removed gradually, in this time. */
#define CORRECTION_NS (10 * NS_PER_SECOND)
/* A larger error (the machine slept) is corrected at once. */
#define STEP_NS (NS_PER_SECOND / 1000)
/* The errors of two readings are at most this part of the time between them:
 * the slope is then exact to 50 ppm. */
#define TIME_PER_ERROR 20000
/* How long to wait for the first slope: minimum and maximum. */
#define FIRST_NS     (2 * NS_PER_SECOND / 1000)
#define FIRST_NS_MAX (128 * NS_PER_SECOND / 1000)

enum { READS = 3, READS_MAX = 32, UNDISTURBED_NS = 1000 };

bool fast_clock_is_counter;

void
fast_clock_choose(void)
{
#if defined(__x86_64__)
	char source[8] = "";
	int fd = open("/sys/devices/system/clocksource/clocksource0/"
		      "current_clocksource",
	    O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fast_clock_is_counter || fd < 0) {
		if (fd >= 0)
			close(fd);
		return;
	}
	n = read(fd, source, sizeof(source) - 1);
	close(fd);
	fast_clock_is_counter = n == 4 && memcmp(source, "tsc\n", 4) == 0;
#endif
}

/* Both clocks at one moment: the best reading of three, or of more while all
 * of them were interrupted.  Returns its error bound, in ns. */
static int64_t
read_both(struct fast_clock_point *best)
{
	int64_t least_ns = INT64_MAX;

	if (!fast_clock_is_counter) {
		best->tick = fast_clock_now();
		best->ns = (int64_t)best->tick;
		return 0;
	}
	for (int i = 0;
	     i < READS || (i < READS_MAX && least_ns > UNDISTURBED_NS); i++) {
		int64_t before_ns = clock_monotonic_ns();
		uint64_t tick = fast_clock_now();
		int64_t took_ns = clock_monotonic_ns() - before_ns;

		if (took_ns >= least_ns)
			continue;
		least_ns = took_ns;
		*best =
		    (struct fast_clock_point){ tick, before_ns + took_ns / 2 };
	}
	return least_ns / 2;
}

void
fast_clock_init(struct fast_clock *ticks)
{
	*ticks = (struct fast_clock){ 0 };
	fast_clock_mark(ticks);
}

/* Remove every other mark, except the first and the last. */
static void
reduce_marks(struct fast_clock *ticks)
{
	uint32_t kept = 1;

	for (uint32_t i = 2; i < ticks->marks; i += 2)
		ticks->mark[kept++] = ticks->mark[i];
	if (ticks->marks % 2 == 0)
		ticks->mark[kept++] = ticks->mark[ticks->marks - 1];
	ticks->marks = kept;
}

static void
begin(struct fast_clock *ticks, struct fast_clock_point now)
{
	ticks->mark[0] = ticks->older = ticks->newer = ticks->last = now;
	ticks->marks = 1;
}

/* The distance of a tick from a mark, in ns. */
static int64_t
distance_ns(uint64_t tick, struct fast_clock_point mark, double slope)
{
	return (int64_t)((double)(int64_t)(tick - mark.tick) * slope);
}

static double
slope_between(struct fast_clock_point a, struct fast_clock_point b)
{
	return (double)(b.ns - a.ns) / (double)(b.tick - a.tick);
}

static int64_t
monotonic_ns(const struct fast_clock *ticks, uint64_t tick)
{
	const struct fast_clock_point *mark = ticks->mark;
	uint32_t low = 0, high = ticks->marks;

	if (!fast_clock_is_counter)
		return (int64_t)tick;
	/* The last mark that is not after the tick, or the first. */
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
fast_clock_add(struct fast_clock *ticks, struct fast_clock_point now)
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
	if (error_ns > STEP_NS || error_ns < -STEP_NS) {
		begin(ticks, now);
		return;
	}
	if (ticks->marks == FAST_CLOCK_MARKS)
		reduce_marks(ticks);
	ticks->mark[ticks->marks++] =
	    (struct fast_clock_point){ now.tick, ours_ns };
	ticks->slope *=
	    1 + (double)error_ns /
		    (double)(took_ns > CORRECTION_NS ? took_ns : CORRECTION_NS);
	ticks->last = now;
	if (now.ns - ticks->newer.ns > BASE_NS) {
		ticks->older = ticks->newer;
		ticks->newer = now;
	}
}

/* The offset between the wall clock and the monotonic one changes only when
 * the clock is set: a difference within the errors of the readings is noise. */
static void
update_wall(struct fast_clock *ticks)
{
	int64_t least_ns = INT64_MAX, less_ns = 0, change_ns;

	for (int i = 0; i < 1 || (i < READS_MAX && least_ns > UNDISTURBED_NS);
	     i++) {
		int64_t before_ns = clock_monotonic_ns();
		int64_t wall_ns = clock_wall_ns();
		int64_t took_ns = clock_monotonic_ns() - before_ns;

		if (took_ns >= least_ns)
			continue;
		least_ns = took_ns;
		less_ns = wall_ns - before_ns - took_ns / 2;
	}
	change_ns = less_ns - ticks->wall_less_monotonic;
	if (ticks->marks > 0 && change_ns <= least_ns + ticks->wall_error_ns &&
	    change_ns >= -least_ns - ticks->wall_error_ns)
		return;
	ticks->wall_less_monotonic = less_ns;
	ticks->wall_error_ns = least_ns;
}

/* Is the time since the last reading long enough for the errors of both? */
static bool
is_exact(const struct fast_clock *ticks, struct fast_clock_point now,
    int64_t error_ns)
{
	return (ticks->error_ns + error_ns) * TIME_PER_ERROR <=
	       now.ns - ticks->last.ns;
}

void
fast_clock_mark(struct fast_clock *ticks)
{
	struct timespec pause = { 0, FIRST_NS };
	struct fast_clock_point now;
	int64_t error_ns = read_both(&now);

	while (ticks->marks > 0 && ticks->slope == 0 && fast_clock_is_counter &&
	       pause.tv_nsec <= FIRST_NS_MAX &&
	       (now.ns - ticks->last.ns < FIRST_NS ||
		   !is_exact(ticks, now, error_ns))) {
		/* A bad first reading requires a long time after it: replace
		 * it. */
		if (2 * error_ns < ticks->error_ns) {
			begin(ticks, now);
			ticks->error_ns = error_ns;
		}
		nanosleep(&pause, NULL);
		pause.tv_nsec *= 2;
		error_ns = read_both(&now);
	}
	update_wall(ticks);
	if (ticks->marks > 0 && ticks->slope != 0 &&
	    !is_exact(ticks, now, error_ns))
		return; /* extrapolate from the last mark */
	fast_clock_add(ticks, now);
	if (ticks->last.tick == now.tick)
		ticks->error_ns = error_ns;
}

int64_t
fast_clock_wall_ns(const struct fast_clock *ticks, uint64_t tick)
{
	return monotonic_ns(ticks, tick) + ticks->wall_less_monotonic;
}
