/*
 * duration_sums - what durations add up to, exactly.
 *
 * Sums are integers of nanoseconds, wide enough for 2^64 durations of any
 * int64, so the order of adding, removing and merging does not matter.  The
 * mean and the deviations are computed from them on request, by one formula in
 * the store and in its readers.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_STATS_DURATION_SUMS_H
#define PROTO_STATS_DURATION_SUMS_H

#include <stdbool.h>
#include <stdint.h>

/* Sum of squares: 192 bits, least significant word first. */
struct duration_sums_square {
	uint64_t word[3];
};

/* Zeroed it has none. */
struct duration_sums {
	uint64_t count;
	__int128 sum;
	struct duration_sums_square squares;
};

void duration_sums_add(struct duration_sums *sums, int64_t duration);
/* One that was added. */
void duration_sums_remove(struct duration_sums *sums, int64_t duration);
void duration_sums_merge(
    struct duration_sums *to, const struct duration_sums *more);
bool duration_sums_equal(
    const struct duration_sums *a, const struct duration_sums *b);

/* In nanoseconds; 0 when there are too few durations. */
double duration_sums_mean(const struct duration_sums *sums);
double duration_sums_deviation(const struct duration_sums *sums, bool sample);

#endif
