/*
 * runs_durations - statistics of the steps of each group of runs on corrected
 * clocks.
 *
 * The store's statistics of groups go by the stored times.  Where a clock was
 * off, these are computed from the runs themselves.  Quantiles
 * (proto/base/quantile.h) are exact.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_DURATIONS_H
#define EXPORTERS_RUNS_DURATIONS_H

#include "exporters/runs/runs.h"
#include "proto/hash/string_table.h"

enum runs_of { RUNS_OF_ITERATION, RUNS_OF_TOTAL, RUNS_OFS };

/* In seconds. */
struct runs_stats {
	int64_t count; /* 0: the other values are undefined */
	double sum, min, max, mean, std_population, std_sample, p50, p90, p99;
};

enum { RUNS_DURATIONS_MAX = 16 << 20 }; /* of 16 bytes each */

struct runs_duration {
	uint32_t group; /* a number of `groups`; UINT32_MAX: no description */
	uint16_t step, of;
	int64_t ns;
};

struct runs_durations {
	struct string_table groups;
	struct runs_duration *at; /* sorted */
	uint32_t count, room;
};

/* Read the runs of groups that match `pattern`.  -1 also when there are more
 * durations than RUNS_DURATIONS_MAX.  Clear it in any case. */
int runs_durations_read(struct runs_durations *durations, struct runs *runs,
    struct text pattern, struct err *err);
void runs_durations_clear(struct runs_durations *durations);

/* The statistics of a step of a group; NULL: of the runs without a
 * description. */
struct runs_stats runs_durations_of(const struct runs_durations *durations,
    const struct text *group, uint32_t step, enum runs_of of);

#endif
