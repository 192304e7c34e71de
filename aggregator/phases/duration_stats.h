/*
 * duration_stats - statistics of durations: values can be added and removed,
 * statistics can be merged, and all of it is exact.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PHASES_DURATION_STATS_H
#define AGGREGATOR_PHASES_DURATION_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/phases/quantile_sketch.h"
#include "proto/base/varint.h"
#include "proto/stats/duration_sums.h"

struct duration_stats {
	struct duration_sums sums; /* with mean and deviations */
	int64_t min, max;          /* valid when sums.count > 0 */
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

/* In nanoseconds, as proto/base/quantile.h defines it; 0 without durations. The
 * least and the greatest value are exact, others accurate to 1 %. */
double duration_stats_quantile(
    const struct duration_stats *stats, unsigned percent);

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
