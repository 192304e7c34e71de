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

enum { LIB_TICK_MARKS = 64 };

struct lib_mark {
	uint64_t tick;
	int64_t ns; /* monotonic */
};

struct lib_ticks {
	struct lib_mark mark[LIB_TICK_MARKS]; /* bends, thinned when many */
	uint32_t marks;
	double slope; /* ns a tick behind the last mark; 0: not known yet */
	struct lib_mark older, newer, last; /* what the kernel said, */
	int64_t error_ns;                   /* the last within this */
	int64_t wall_less_monotonic, wall_error_ns;
};

/* Set once, before any thread reads. */
extern bool lib_tick_is_counter;

static inline uint64_t
lib_tick_now(void)
{
	struct timespec t;

#if defined(__x86_64__)
	if (lib_tick_is_counter)
		return __rdtsc();
#endif
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Decide which clock it is; harmless when called again. */
void lib_tick_choose(void);

void lib_ticks_init(struct lib_ticks *ticks);
/* Note what the clocks say now; waits when there is no slope yet: 2 ms, up to
 * 254 ms where something comes between every look. */
void lib_ticks_mark(struct lib_ticks *ticks);
/* The same with given numbers, for tests. */
void lib_ticks_add(struct lib_ticks *ticks, struct lib_mark now);

/* Wall time, ns since the epoch, of a tick: by the wall clock as it was at the
 * last mark, so that steps of it change no duration. */
int64_t lib_ticks_wall_ns(const struct lib_ticks *ticks, uint64_t tick);

#endif
