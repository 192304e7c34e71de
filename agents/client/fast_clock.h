/*
 * fast_clock - a clock that is read in a few nanoseconds, made into wall time
 * afterwards.
 *
 * Where the kernel itself keeps time by the processor's counter (clock source
 * tsc) that is what is read; elsewhere CLOCK_MONOTONIC is.  The consumer notes
 * now and then what both say.  Its own time is a line with bends (marks) that
 * leans towards the kernel's and never jumps, so that of two ticks the later
 * one is later, and spans of hours are as long as the kernel's clock says.
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
	    mark[FAST_CLOCK_MARKS]; /* bends, thinned when many */
	uint32_t marks;
	double slope; /* ns a tick behind the last mark; 0: not known yet */
	struct fast_clock_point older, newer, last; /* what the kernel said, */
	int64_t error_ns;                           /* the last within this */
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

/* Decide which clock it is; harmless when called again. */
void fast_clock_choose(void);

void fast_clock_init(struct fast_clock *ticks);
/* Note what the clocks say now; waits when there is no slope yet: 2 ms, up to
 * 254 ms where something comes between every look. */
void fast_clock_mark(struct fast_clock *ticks);
/* The same with given numbers, for tests. */
void fast_clock_add(struct fast_clock *ticks, struct fast_clock_point now);

/* Wall time, ns since the epoch, of a tick: by the wall clock as it was at the
 * last mark, so that steps of it change no duration. */
int64_t fast_clock_wall_ns(const struct fast_clock *ticks, uint64_t tick);

#endif
