/*
 * duration_stats - statistics of durations: values can be added and removed,
 * statistics can be merged, and all of it is exact.
 *
 * Sums are integers of nanoseconds, wide enough for 2^64 durations of any
 * int64. The mean and the deviations are computed from them on request.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PHASES_DURATION_STATS_H
#define AGGREGATOR_PHASES_DURATION_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/phases/quantile_sketch.h"
#include "proto/base/varint.h"

/* Sum of squares: 192 bits, least significant word first. */
struct duration_stats_square {
	uint64_t word[3];
};

struct duration_stats {
	uint64_t count;
	__int128 sum;
	struct duration_stats_square squares;
	int64_t min, max; /* valid when count > 0 */
	/* An extreme was removed: min and max are only bounds until the caller
	 * finds the new extreme. */
	bool loose;
	uint64_t open_starts, open_ends; /* without a partner */
	struct quantile_sketch quantile_sketch;
};

void duration_stats_init(struct duration_stats *stats);
void duration_stats_reset(struct duration_stats *stats);

void duration_stats_add(struct duration_stats *stats, int64_t duration);
/* Remove a duration.  If it was never added, returns false and changes
 * nothing. */
bool duration_stats_remove(struct duration_stats *stats, int64_t duration);

/* In nanoseconds; 0 when there are too few durations. */
double duration_stats_mean(const struct duration_stats *stats);
double duration_stats_deviation(
    const struct duration_stats *stats, bool sample);
/* As proto/base/quantile.h defines it.  The least and the greatest value are
 * exact, others accurate to 1 %. */
double duration_stats_quantile(
    const struct duration_stats *stats, unsigned percent);

bool duration_stats_is_empty(const struct duration_stats *stats);
/* Equal in all members but `loose`? */
bool duration_stats_equal(
    const struct duration_stats *a, const struct duration_stats *b);

void duration_stats_encode(
    const struct duration_stats *stats, struct buffer *to);
/* Merge encoded statistics into `stats`.  The result is the same as adding all
 * durations of both to empty statistics. */
void duration_stats_decode(
    struct duration_stats *stats, struct varint_reader *from);

#endif
