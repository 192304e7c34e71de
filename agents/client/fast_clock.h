/*
 * fast_clock - a clock that is read in a few nanoseconds and converted to wall
 * time afterwards.
 *
 * It reads the processor's counter if the kernel itself keeps time by it
 * (clock source tsc), otherwise CLOCK_MONOTONIC.  The consumer notes both
 * values from time to time.  Its own time is a piecewise linear function
 * (marks) that follows the kernel's time and never jumps, so that the order of
 * ticks is preserved, and spans of hours are as long as by the kernel's clock.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_CLIENT_FAST_CLOCK_H
#define AGENTS_CLIENT_FAST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum { FAST_CLOCK_MARKS = 64 };

struct fast_clock_point {
	uint64_t tick;
	int64_t ns; /* monotonic */
};

struct fast_clock {
	struct fast_clock_point
	    mark[FAST_CLOCK_MARKS]; /* reduced when there are many */
	uint32_t marks;
	double slope; /* ns per tick after the last mark; 0: not known yet */
	struct fast_clock_point older, newer,
	    last;         /* readings of the kernel's clock */
	int64_t error_ns; /* error bound of `last` */
	int64_t wall_less_monotonic, wall_error_ns;
};

/* Set once, before any thread reads. */
extern bool fast_clock_is_counter;

static inline uint64_t
fast_clock_now(void)
{
	struct timespec t;

#if defined(__x86_64__)
	if (fast_clock_is_counter)
		return __rdtsc();
#endif
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Select the clock; may be called again. */
void fast_clock_choose(void);

void fast_clock_init(struct fast_clock *ticks);
/* Read both clocks; if there is no slope yet it waits 2 ms, up to 254 ms when
 * every reading is interrupted. */
void fast_clock_mark(struct fast_clock *ticks);
/* fast_clock_mark with a given reading, for tests. */
void fast_clock_add(struct fast_clock *ticks, struct fast_clock_point now);

/* Wall time, ns since the epoch, of a tick: by the wall clock as it was at the
 * last mark, so that steps of it change no duration. */
int64_t fast_clock_wall_ns(const struct fast_clock *ticks, uint64_t tick);

#endif
