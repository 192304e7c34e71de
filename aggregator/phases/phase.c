/*
 * phase - events of phases, and what they add to statistics.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/phase.h"

#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/record/pairing.h"

int
phase_compare_ids(const struct phase_entry *a, const struct phase_entry *b)
{
	if (a->id.time_ns == b->id.time_ns && a->is_end != b->is_end)
		return a->is_end ? -1 : 1;
	return row_block_compare(&a->id, &b->id);
}

int
phase_compare(const struct phase_entry *a, const struct phase_entry *b)
{
	int order = phase_compare_ids(a, b);

	if (order != 0 || a->node == b->node)
		return order;
	return a->node < b->node ? -1 : 1;
}

int64_t
phase_duration(int64_t start_ns, const struct phase_entry *end)
{
	return end->measured ? end->measured_ns
			     : pairing_duration(start_ns, end->id.time_ns);
}

/* ---- sums ---- */

void
phase_sum_clear(struct phase_sum *sum)
{
	free(sum->duration);
	*sum = (struct phase_sum){ .duration = NULL };
}

void
phase_sum_reset(struct phase_sum *sum)
{
	sum->pairs = 0;
	sum->open_starts = sum->open_ends = 0;
}

void
phase_sum_pair(struct phase_sum *sum, int64_t duration)
{
	*MEMORY_ADD(sum->duration, sum->room, sum->pairs) = duration;
}

/* What both have in common at their begin and end is left alone: to remove a
 * shortest or longest duration, even for a moment, makes the caller look for
 * the next one. */
void
phase_sum_replace(struct duration_stats *stats, const struct phase_sum *before,
    const struct phase_sum *after)
{
	uint32_t first = 0, old = before->pairs, new = after->pairs;

	while (first < old && first < new &&
	       before->duration[first] == after->duration[first])
		first++;
	while (old > first && new > first &&
	       before->duration[old - 1] == after->duration[new - 1]) {
		old--;
		new --;
	}
	for (uint32_t i = first; i < new; i++)
		duration_stats_add(stats, after->duration[i]);
	for (uint32_t i = first; i < old; i++)
		duration_stats_remove(stats, before->duration[i]);
	stats->open_starts += after->open_starts - before->open_starts;
	stats->open_ends += after->open_ends - before->open_ends;
}
