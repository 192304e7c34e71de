/*
 * duration_stats - statistics of durations.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/duration_stats.h"

#include "proto/base/quantile.h"

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
	stats->sums = (struct duration_sums){ .count = 0 };
	stats->min = INT64_MAX;
	stats->max = INT64_MIN;
	stats->loose = false;
	stats->open_starts = stats->open_ends = 0;
	quantile_sketch_reset(&stats->quantile_sketch);
}

/* ---- adding and removing ---- */

void
duration_stats_add(struct duration_stats *stats, int64_t duration)
{
	duration_sums_add(&stats->sums, duration);
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
	if (stats->sums.count == 0) {
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
	if (!quantile_sketch_remove(&stats->quantile_sketch, duration))
		return false;
	duration_sums_remove(&stats->sums, duration);
	loosen(stats, duration);
	return true;
}

/* ---- results ---- */

double
duration_stats_quantile(const struct duration_stats *stats, unsigned percent)
{
	uint64_t index = quantile_index(stats->sums.count, percent);
	double value;

	if (stats->sums.count == 0)
		return 0;
	value = quantile_sketch_quantile(&stats->quantile_sketch, percent);
	if (index == 0 || value < (double)stats->min)
		return (double)stats->min;
	if (index == stats->sums.count - 1 || value > (double)stats->max)
		return (double)stats->max;
	return value;
}

bool
duration_stats_equal(
    const struct duration_stats *a, const struct duration_stats *b)
{
	int i;

	if (!duration_sums_equal(&a->sums, &b->sums) ||
	    a->open_starts != b->open_starts || a->open_ends != b->open_ends)
		return false;
	if (a->sums.count > 0 && (a->min != b->min || a->max != b->max))
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
	unsigned __int128 sum = (u128)stats->sums.sum;
	int i;

	varint_put(to, stats->sums.count);
	varint_put(to, stats->open_starts);
	varint_put(to, stats->open_ends);
	if (stats->sums.count == 0)
		return;
	varint_put(to, (uint64_t)sum);
	varint_put(to, varint_zigzag((int64_t)(uint64_t)(sum >> 64)));
	for (i = 0; i < 3; i++)
		varint_put(to, stats->sums.squares.word[i]);
	varint_put(to, varint_zigzag(stats->min));
	varint_put(to, varint_zigzag(stats->max));
	varint_put(to, stats->loose);
	quantile_sketch_encode(&stats->quantile_sketch, to);
}

static void
decode_sums(
    struct duration_stats *stats, uint64_t count, struct varint_reader *from)
{
	struct duration_sums more = { .count = count };
	u128 low = varint_get(from);
	u128 high = (uint64_t)varint_unzigzag(varint_get(from));
	int64_t min, max;
	int i;

	more.sum = (__int128)(high << 64 | low);
	for (i = 0; i < 3; i++)
		more.squares.word[i] = varint_get(from);
	duration_sums_merge(&stats->sums, &more);
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

	stats->open_starts += varint_get(from);
	stats->open_ends += varint_get(from);
	if (count > 0)
		decode_sums(stats, count, from);
	if (stats->sums.count != stats->quantile_sketch.count)
		from->bad = true;
}
