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
struct stat_square {
	uint64_t word[3];
};

struct stats {
	uint64_t count;
	__int128 sum;
	struct stat_square squares;
	int64_t min, max; /* when count > 0 */
	bool loose;       /* min or max was taken out: they are bounds now,
			     until stats_bounds is told the right ones */
	uint64_t open_starts, open_ends; /* without a partner */
	uint64_t late;   /* events that came too late to be paired */
	uint64_t unkept; /* events beyond what a state may hold */
	struct sketch sketch;
};

void stats_init(struct stats *stats);
void stats_reset(struct stats *stats);

void stats_add(struct stats *stats, int64_t duration);
/* The duration must be in it; else nothing is changed and false returned. */
bool stats_remove(struct stats *stats, int64_t duration);

/* Nanoseconds; 0 when there are not enough durations. */
double stats_mean(const struct stats *stats);
double stats_deviation(const struct stats *stats, bool sample);
/* Within 1 %, and never outside min..max. */
double stats_quantile(const struct stats *stats, double q);

bool stats_is_empty(const struct stats *stats);
/* Equal in everything but `loose`. */
bool stats_equal(const struct stats *a, const struct stats *b);

void stats_encode(const struct stats *stats, struct buffer *to);
/* Merges what is encoded into `stats`: they become what adding all of both to
 * empty ones gives. */
void stats_decode(struct stats *stats, struct unpack *from);

#endif
