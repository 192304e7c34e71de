/*
 * phase - starts and ends of one phase, and how they pair.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/phase.h"

#include <stdlib.h>

#include "proto/base/memory.h"

void
phase_row_clear(struct phase_row *row)
{
	free(row->at);
	free(row->pairing);
	memset(row, 0, sizeof(*row));
}

void
phase_row_reset(struct phase_row *row, struct text key, bool fifo)
{
	row->key = key;
	row->fifo = fifo;
	row->count = 0;
}

int
phase_compare(const struct phase_entry *a, const struct phase_entry *b)
{
	if (a->id.time_ns == b->id.time_ns && a->is_end != b->is_end)
		return a->is_end ? -1 : 1;
	return row_block_compare(&a->id, &b->id);
}

/* Are there too many events at the point of `entry`, before event `i`? */
static bool
is_crowded(
    const struct phase_row *row, uint32_t i, const struct phase_entry *entry)
{
	uint32_t from = i, to = i;

	while (from > 0 && row->at[from - 1].is_end == entry->is_end &&
	       row->at[from - 1].id.time_ns == entry->id.time_ns)
		from--;
	while (to < row->count && row->at[to].is_end == entry->is_end &&
	       row->at[to].id.time_ns == entry->id.time_ns)
		to++;
	return to - from >= PHASE_INSTANT;
}

enum phase_taken
phase_row_insert(struct phase_row *row, const struct phase_entry *entry)
{
	uint32_t i = row->count;
	int order = -1;

	/* Search from the end, because most arrive in order. */
	while (i > 0 && (order = phase_compare(entry, &row->at[i - 1])) < 0)
		i--;
	if (i > 0 && order == 0)
		return PHASE_REPEATED;
	if (is_crowded(row, i, entry))
		return PHASE_OVERFLOW;
	row->at =
	    memory_grow(row->at, &row->room, row->count, sizeof(*row->at));
	memmove(
	    row->at + i + 1, row->at + i, (row->count - i) * sizeof(*row->at));
	row->at[i] = *entry;
	row->count++;
	return PHASE_TAKEN;
}

void
phase_row_append(struct phase_row *row, const struct phase_row *later)
{
	for (uint32_t i = 0; i < later->count; i++) {
		row->at = memory_grow(
		    row->at, &row->room, row->count, sizeof(*row->at));
		row->at[row->count++] = later->at[i];
	}
}

/* ---- pairs ---- */

void
phase_row_pair(struct phase_row *row, uint32_t first, uint32_t count)
{
	struct phase_entry *at = row->at + first;

	if (count > row->pairing_room) {
		row->pairing_room = 2 * count;
		row->pairing = memory_resize_array(
		    row->pairing, row->pairing_room, sizeof(*row->pairing));
	}
	for (uint32_t i = 0; i < count; i++)
		row->pairing[i] = (struct pairing){ .time_ns = at[i].id.time_ns,
			.is_end = at[i].is_end };
	pairing_find(row->pairing, count, row->fifo);
	for (uint32_t i = 0; i < count; i++)
		at[i].partner = row->pairing[i].partner;
}

static bool
is_alone(const struct phase_row *row, uint32_t i, bool is_end)
{
	return row->at[i].is_end == is_end &&
	       row->at[i].partner == PAIRING_ALONE;
}

static bool
any_alone(const struct phase_row *row, bool is_end)
{
	uint32_t i = 0;

	while (i < row->count && !is_alone(row, i, is_end))
		i++;
	return i < row->count;
}

bool
phase_row_is_crossed(const struct phase_row *row, const struct phase_row *later)
{
	uint32_t last = row->count - 1;

	if (row->count == 0 || later->count == 0 ||
	    row->count + later->count > PHASE_ROW_EVENTS_MAX)
		return false;
	if (row->fifo)
		return any_alone(row, false) && any_alone(later, true);
	/* The last start is before the first ends; or ends without a start are
	 * at the time of the first starts. */
	if (later->at[0].is_end)
		return is_alone(row, last, false);
	return is_alone(row, last, true) &&
	       row->at[last].id.time_ns == later->at[0].id.time_ns;
}

int64_t
phase_duration(const struct phase_entry *start, const struct phase_entry *end)
{
	int64_t duration;

	if (end->measured)
		return end->measured_ns;
	if (__builtin_sub_overflow(
		end->id.time_ns, start->id.time_ns, &duration))
		return end->id.time_ns < 0 ? INT64_MIN : INT64_MAX;
	return duration;
}

/* ---- sums ---- */

void
phase_sum_reset(struct phase_sum *sum)
{
	sum->pairs = 0;
	sum->open_starts = sum->open_ends = 0;
}

void
phase_sum_add(
    struct phase_sum *sum, const struct phase_entry *at, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (at[i].partner == PAIRING_ALONE) {
			sum->open_starts += !at[i].is_end;
			sum->open_ends += at[i].is_end;
		} else if (at[i].is_end) {
			sum->duration = memory_grow(sum->duration, &sum->room,
			    sum->pairs, sizeof(*sum->duration));
			sum->duration[sum->pairs++] =
			    phase_duration(&at[at[i].partner], &at[i]);
		}
	}
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

void
phase_row_sum(const struct phase_row *row, struct duration_stats *stats)
{
	for (uint32_t i = 0; i < row->count; i++) {
		const struct phase_entry *entry = &row->at[i];

		if (entry->partner == PAIRING_ALONE) {
			stats->open_starts += !entry->is_end;
			stats->open_ends += entry->is_end;
		} else if (entry->is_end) {
			duration_stats_add(stats,
			    phase_duration(&row->at[entry->partner], entry));
		}
	}
}
