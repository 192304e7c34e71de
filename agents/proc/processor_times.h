/*
 * processor_times - notices processor times that cannot be.
 *
 * The kernel's sums jump while the host runs on: processors come online with
 * what they had counted before, a guest is moved to another host.  No sum of
 * processor times grows by more than the number of processors times the time
 * that passed.  Where one does, the samples before it and after it get
 * different epochs (proto/record/counter_rate.h): readers take no difference
 * between them.  That a sum falls readers see by themselves.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_PROC_PROCESSOR_TIMES_H
#define AGENTS_PROC_PROCESSOR_TIMES_H

#include <stdint.h>

enum { PROCESSOR_TIMES_MAX = 8 };

/* Zeroed: nothing is known yet. */
struct processor_times {
	uint64_t at[PROCESSOR_TIMES_MAX], set;
	int64_t begin_ns; /* 0: nothing was read yet */
	uint64_t epoch;
};

/* What is read at one moment. */
struct processor_times_reading {
	const uint64_t *times;    /* SCAN_UNKNOWN: not known */
	uint32_t count;           /* of times that add up */
	uint64_t processors;      /* that they are the time of */
	uint64_t set;             /* identifies these processors */
	uint64_t per_second;      /* unit of the times */
	int64_t begin_ns, end_ns; /* before and after it, since boot */
};

/* The epoch of a reading. */
uint64_t processor_times_take(
    struct processor_times *times, const struct processor_times_reading *now);

#endif
