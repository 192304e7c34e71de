/*
 * duration_stats - statistics of durations.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/duration_stats.h"

#include <math.h>

#include "proto/base/quantile.h"

typedef __int128 i128;
typedef unsigned __int128 u128;

void
duration_stats_init(struct duration_stats *stats)
{
	quantile_sketch_init(&stats->quantile_sketch);
	duration_stats_reset(stats);
}

void
duration_stats_reset(struct duration_stats *stats)
{
	stats->count = 0;
	stats->sum = 0;
	stats->squares = (struct duration_stats_square){ { 0, 0, 0 } };
	stats->min = INT64_MAX;
	stats->max = INT64_MIN;
	stats->loose = false;
	stats->open_starts = stats->open_ends = 0;
	quantile_sketch_reset(&stats->quantile_sketch);
}

/* ---- sums of squares, modulo 2^192: subtraction is exact too ---- */

static void
square_add(
    struct duration_stats_square *to, const struct duration_stats_square *more)
{
	u128 carry = 0;
	int i;

	for (i = 0; i < 3; i++) {
		carry += (u128)to->word[i] + more->word[i];
		to->word[i] = (uint64_t)carry;
		carry >>= 64;
	}
}

static void
square_subtract(struct duration_stats_square *from,
    const struct duration_stats_square *less)
{
	u128 borrow = 0;
	int i;

	for (i = 0; i < 3; i++) {
		u128 have = from->word[i], take = (u128)less->word[i] + borrow;

		borrow = have < take;
		from->word[i] = (uint64_t)(have - take);
	}
}

static struct duration_stats_square
square_of(int64_t value)
{
	uint64_t size = value < 0 ? ~(uint64_t)value + 1 : (uint64_t)value;
	u128 square = (u128)size * size;

	return (struct duration_stats_square){ { (uint64_t)square,
	    (uint64_t)(square >> 64), 0 } };
}

/* ---- adding and removing ---- */

void
duration_stats_add(struct duration_stats *stats, int64_t duration)
{
	struct duration_stats_square square = square_of(duration);

	stats->count++;
	stats->sum += duration;
	square_add(&stats->squares, &square);
	if (duration < stats->min)
		stats->min = duration;
	if (duration > stats->max)
		stats->max = duration;
	quantile_sketch_add(&stats->quantile_sketch, duration);
}

/* After a removal: min and max are still right, unless the value was an
 * extreme. */
static void
loosen(struct duration_stats *stats, int64_t duration)
{
	if (stats->count == 0) {
		stats->min = INT64_MAX;
		stats->max = INT64_MIN;
		stats->loose = false;
	} else if (duration <= stats->min || duration >= stats->max) {
		stats->loose = true;
	}
}

bool
duration_stats_remove(struct duration_stats *stats, int64_t duration)
{
	struct duration_stats_square square = square_of(duration);

	if (!quantile_sketch_remove(&stats->quantile_sketch, duration))
		return false;
	stats->count--;
	stats->sum -= duration;
	square_subtract(&stats->squares, &square);
	loosen(stats, duration);
	return true;
}

/* ---- results ---- */

double
duration_stats_mean(const struct duration_stats *stats)
{
	if (stats->count == 0)
		return 0;
	/* Integer division: the quotient is a duration again, and the result
	 * does not depend on the width of long double. */
	return (double)(int64_t)(stats->sum / (i128)stats->count) +
	       (double)(int64_t)(stats->sum % (i128)stats->count) /
		   (double)stats->count;
}

/* Returns n * squares - sum^2, computed exactly in 256 bits, as a long double.
 * It is never negative (Cauchy-Schwarz), so the words may wrap. */
static long double
spread(const struct duration_stats *stats)
{
	u128 size = (u128)(stats->sum < 0 ? -stats->sum : stats->sum);
	uint64_t left[4] = { 0 }, right[4] = { 0 };
	uint64_t half[2] = { (uint64_t)size, (uint64_t)(size >> 64) };
	u128 carry = 0, borrow = 0;
	long double value = 0;
	int i, j;

	for (i = 0; i < 3; i++) {
		carry += (u128)stats->squares.word[i] * stats->count;
		left[i] = (uint64_t)carry;
		carry >>= 64;
	}
	left[3] = (uint64_t)carry;
	for (i = 0; i < 2; i++) {
		for (j = 0, carry = 0; j < 2; j++) {
			carry += (u128)half[i] * half[j] + right[i + j];
			right[i + j] = (uint64_t)carry;
			carry >>= 64;
		}
		right[i + 2] = (uint64_t)carry;
	}
	for (i = 0; i < 4; i++) {
		u128 take = (u128)right[i] + borrow;

		borrow = left[i] < take;
		left[i] = (uint64_t)((u128)left[i] - take);
	}
	for (i = 3; i >= 0; i--)
		value = value * 0x1p64L + left[i];
	return value;
}

double
duration_stats_deviation(const struct duration_stats *stats, bool sample)
{
	uint64_t less = sample ? 1 : 0;

	if (stats->count <= less)
		return 0;
	return (double)sqrtl(spread(stats) / (long double)stats->count /
			     (long double)(stats->count - less));
}

double
duration_stats_quantile(const struct duration_stats *stats, unsigned percent)
{
	uint64_t index = quantile_index(stats->count, percent);
	double value;

	if (stats->count == 0)
		return 0;
	value = quantile_sketch_quantile(&stats->quantile_sketch, percent);
	if (index == 0 || value < (double)stats->min)
		return (double)stats->min;
	if (index == stats->count - 1 || value > (double)stats->max)
		return (double)stats->max;
	return value;
}

bool
duration_stats_is_empty(const struct duration_stats *stats)
{
	return stats->count == 0 && stats->open_starts == 0 &&
	       stats->open_ends == 0;
}

bool
duration_stats_equal(
    const struct duration_stats *a, const struct duration_stats *b)
{
	int i;

	if (a->count != b->count || a->sum != b->sum ||
	    memcmp(&a->squares, &b->squares, sizeof(a->squares)) != 0 ||
	    a->open_starts != b->open_starts || a->open_ends != b->open_ends)
		return false;
	if (a->count > 0 && (a->min != b->min || a->max != b->max))
		return false;
	for (i = 0; i < QUANTILE_SKETCH_BUCKETS; i++) {
		if (a->quantile_sketch.counts[i] !=
		    b->quantile_sketch.counts[i])
			return false;
	}
	return true;
}

/* ---- encoding ---- */

void
duration_stats_encode(const struct duration_stats *stats, struct buffer *to)
{
	unsigned __int128 sum = (u128)stats->sum;
	int i;

	varint_put(to, stats->count);
	varint_put(to, stats->open_starts);
	varint_put(to, stats->open_ends);
	if (stats->count == 0)
		return;
	varint_put(to, (uint64_t)sum);
	varint_put(to, varint_zigzag((int64_t)(uint64_t)(sum >> 64)));
	for (i = 0; i < 3; i++)
		varint_put(to, stats->squares.word[i]);
	varint_put(to, varint_zigzag(stats->min));
	varint_put(to, varint_zigzag(stats->max));
	varint_put(to, stats->loose);
	quantile_sketch_encode(&stats->quantile_sketch, to);
}

static void
decode_sums(struct duration_stats *stats, struct varint_reader *from)
{
	struct duration_stats_square squares;
	u128 low = varint_get(from);
	u128 high = (uint64_t)varint_unzigzag(varint_get(from));
	int64_t min, max;
	int i;

	stats->sum += (__int128)(high << 64 | low);
	for (i = 0; i < 3; i++)
		squares.word[i] = varint_get(from);
	square_add(&stats->squares, &squares);
	min = varint_unzigzag(varint_get(from));
	max = varint_unzigzag(varint_get(from));
	if (min < stats->min)
		stats->min = min;
	if (max > stats->max)
		stats->max = max;
	stats->loose |= varint_get_max(from, 1) != 0;
	quantile_sketch_decode(&stats->quantile_sketch, from);
}

void
duration_stats_decode(struct duration_stats *stats, struct varint_reader *from)
{
	uint64_t count = varint_get(from);

	stats->count += count;
	stats->open_starts += varint_get(from);
	stats->open_ends += varint_get(from);
	if (count > 0)
		decode_sums(stats, from);
	if (stats->count != stats->quantile_sketch.count)
		from->bad = true;
}
