/*
 * phase - starts and ends of one phase, and how they pair.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/phase.h"

#include <assert.h>
#include <stdlib.h>

#include "proto/base/memory.h"

void
phase_state_clear(struct phase_state *state)
{
	free(state->start.at);
	free(state->end.at);
	memset(state, 0, sizeof(*state));
}

void
phase_state_reset(struct phase_state *state, struct text key)
{
	struct phase_side start = state->start, end = state->end;

	start.count = end.count = 0;
	*state = (struct phase_state){ .key = key, .start = start, .end = end };
}

void
phase_side_room(struct phase_side *side, uint32_t count)
{
	if (count <= side->room)
		return;
	side->room = count < 8 ? 8 : 2 * count;
	side->at = memory_resize(side->at, side->room * sizeof(*side->at));
}

uint32_t
phase_pairs(const struct phase_state *state)
{
	return state->start.count < state->end.count ? state->start.count
						     : state->end.count;
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

void
phase_state_sum(const struct phase_state *state, struct duration_stats *stats)
{
	struct varint_reader u = varint_reader_of(state->sums);
	uint32_t i, pairs = phase_pairs(state);

	if (state->sums.bytes > 0)
		duration_stats_decode(stats, &u);
	for (i = 0; i < pairs; i++)
		duration_stats_add(stats,
		    phase_duration(&state->start.at[i], &state->end.at[i]));
	stats->open_starts += state->start.count - pairs;
	stats->open_ends += state->end.count - pairs;
}

/* ---- adding an event ---- */

/* The index of an event; searched from the end, because most arrive in
 * order. */
static uint32_t
place_of(
    const struct phase_side *side, const struct phase_entry *entry, bool *there)
{
	uint32_t i = side->count;
	int order = -1;

	while (i > 0 &&
	       (order = row_block_compare(&entry->id, &side->at[i - 1].id)) < 0)
		i--;
	*there = i > 0 && order == 0;
	return i;
}

static void
insert(struct phase_side *side, uint32_t place, const struct phase_entry *entry)
{
	phase_side_room(side, side->count + 1);
	memmove(side->at + place + 1, side->at + place,
	    (side->count - place) * sizeof(*side->at));
	side->at[place] = *entry;
	side->count++;
}

/* Update the durations of the pairs from `place` on. */
static void
change(const struct phase_state *state, const int64_t *old, uint32_t olds,
    uint32_t place, struct duration_stats *stats)
{
	uint32_t pairs = phase_pairs(state), i;

	for (i = place; i < pairs || i < olds; i++) {
		int64_t now = 0;

		if (i < pairs)
			now = phase_duration(
			    &state->start.at[i], &state->end.at[i]);
		if (i < pairs && i < olds && now == old[i])
			continue;
		if (i < olds)
			duration_stats_remove(stats, old[i]);
		if (i < pairs)
			duration_stats_add(stats, now);
	}
}

enum phase_taken
phase_take(struct phase_state *state, bool is_end,
    const struct phase_entry *entry, struct duration_stats *stats)
{
	struct phase_side *side = is_end ? &state->end : &state->start;
	const struct row_block_item *mark =
	    is_end ? &state->end_mark : &state->start_mark;
	uint32_t olds = phase_pairs(state), place, i;
	int64_t old[PHASE_PAIRS_MAX];
	bool there;

	assert(olds <= PHASE_PAIRS_MAX);
	if (state->compacted > 0 && row_block_compare(&entry->id, mark) <= 0)
		return row_block_compare(&entry->id, mark) == 0 ? PHASE_REPEATED
								: PHASE_LATE;
	place = place_of(side, entry, &there);
	if (there)
		return PHASE_REPEATED;
	if (side->count - olds >= PHASE_OPEN_MAX)
		return PHASE_OVERFLOW;
	for (i = place; i < olds; i++)
		old[i] = phase_duration(&state->start.at[i], &state->end.at[i]);
	stats->open_starts -= state->start.count - olds;
	stats->open_ends -= state->end.count - olds;
	insert(side, place, entry);
	change(state, old, olds, place, stats);
	stats->open_starts += state->start.count - phase_pairs(state);
	stats->open_ends += state->end.count - phase_pairs(state);
	return PHASE_TAKEN;
}

/* ---- compaction ---- */

uint32_t
phase_to_compact(const struct phase_state *state)
{
	return phase_pairs(state) >= PHASE_PAIRS_MAX ? PHASE_COMPACT : 0;
}

static void
drop_front(struct phase_side *side, uint32_t count, struct row_block_item *mark)
{
	*mark = side->at[count - 1].id;
	mark->body = (struct text){ NULL, 0 };
	side->count -= count;
	memmove(side->at, side->at + count, side->count * sizeof(*side->at));
}

void
phase_compact(
    struct phase_state *state, uint32_t pairs, struct duration_stats *sums)
{
	uint32_t i;

	assert(pairs > 0 && pairs <= phase_pairs(state));
	for (i = 0; i < pairs; i++)
		duration_stats_add(sums,
		    phase_duration(&state->start.at[i], &state->end.at[i]));
	drop_front(&state->start, pairs, &state->start_mark);
	drop_front(&state->end, pairs, &state->end_mark);
	state->compacted += pairs;
}

/* ---- retention ---- */

static bool
side_is_old(const struct phase_side *side, int64_t cut_ns)
{
	return side->count == 0 ||
	       side->at[side->count - 1].id.time_ns < cut_ns;
}

uint32_t
phase_old(const struct phase_state *state, int64_t cut_ns, bool *all)
{
	uint32_t pairs = phase_pairs(state), i;

	*all = side_is_old(&state->start, cut_ns) &&
	       side_is_old(&state->end, cut_ns);
	if (*all)
		return pairs;
	for (i = 0; i < pairs; i++) {
		if (state->start.at[i].id.time_ns >= cut_ns ||
		    state->end.at[i].id.time_ns >= cut_ns)
			break;
	}
	return i;
}

void
phase_trim(struct phase_state *state, uint32_t pairs, bool all,
    struct duration_stats *stats)
{
	uint32_t i;

	for (i = 0; i < pairs; i++)
		duration_stats_remove(stats,
		    phase_duration(&state->start.at[i], &state->end.at[i]));
	if (pairs > 0) {
		drop_front(&state->start, pairs, &state->start_mark);
		drop_front(&state->end, pairs, &state->end_mark);
		state->compacted += pairs;
	}
	if (all) {
		stats->open_starts -= state->start.count;
		stats->open_ends -= state->end.count;
		state->start.count = state->end.count = 0;
	}
}
