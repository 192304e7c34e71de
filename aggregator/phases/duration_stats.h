/*
 * duration_stats - statistics of durations that can be added to, taken from and
 * merged, and stay exact.
 *
 * Sums are integers of nanoseconds wide enough for 2^64 durations of any
 * int64; mean and deviations are computed from them once, when asked for.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PHASES_DURATION_STATS_H
#define AGGREGATOR_PHASES_DURATION_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/phases/quantile_sketch.h"
#include "proto/base/varint.h"

/* Sum of squares: 192 bits, little end first. */
struct duration_stats_square {
	uint64_t word[3];
};

struct duration_stats {
	uint64_t count;
	__int128 sum;
	struct duration_stats_square squares;
	int64_t min, max; /* when count > 0 */
	bool loose;       /* min or max was taken out: they are bounds now,
			     until stats_bounds is reported the right ones */
	uint64_t open_starts, open_ends; /* without a partner */
	uint64_t late;     /* events that came too late to be paired */
	uint64_t overflow; /* events beyond what a state may hold */
	struct quantile_sketch quantile_sketch;
};

void duration_stats_init(struct duration_stats *stats);
void duration_stats_reset(struct duration_stats *stats);

void duration_stats_add(struct duration_stats *stats, int64_t duration);
/* The duration must be in it; else nothing is changed and false returned. */
bool duration_stats_remove(struct duration_stats *stats, int64_t duration);

/* Nanoseconds; 0 when there are not enough durations. */
double duration_stats_mean(const struct duration_stats *stats);
double duration_stats_deviation(
    const struct duration_stats *stats, bool sample);
/* Within 1 %, and never outside min..max. */
double duration_stats_quantile(const struct duration_stats *stats, double q);

bool duration_stats_is_empty(const struct duration_stats *stats);
/* Equal in everything but `loose`. */
bool duration_stats_equal(
    const struct duration_stats *a, const struct duration_stats *b);

void duration_stats_encode(
    const struct duration_stats *stats, struct buffer *to);
/* Merges what is encoded into `stats`: they become what adding all of both to
 * empty ones gives. */
void duration_stats_decode(struct duration_stats *stats, struct unpack *from);

#endif
