/*
 * top_history - the snapshots of the last hour.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/history.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

static size_t
bytes_at(const struct history *history, uint32_t i)
{
	return top_snapshot_bytes(
	    history->at[i], i > 0 ? history->at[i - 1] : NULL);
}

/* All that nobody shows are packed. */
static void
pack(struct history *history)
{
	for (uint32_t i = 0; i < history->count; i++)
		if (history->at[i]->holds == 1 && history->at[i]->nodes != NULL)
			top_snapshot_pack(history->at[i]);
}

static void
count_bytes(struct history *history)
{
	history->bytes = 0;
	for (uint32_t i = 0; i < history->count; i++)
		history->bytes += bytes_at(history, i);
}

static void
drop_first(struct history *history, uint32_t many)
{
	for (uint32_t i = 0; i < many; i++)
		top_snapshot_drop(&history->at[i]);
	history->count -= many;
	memmove(history->at, history->at + many,
	    history->count * sizeof(*history->at));
}

/* The newest one and the oldest one stay. */
static void
drop_every_second(struct history *history)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < history->count; i++)
		if (i == 0 || (history->count - 1 - i) % 2 == 0)
			history->at[kept++] = history->at[i];
		else
			top_snapshot_drop(&history->at[i]);
	history->count = kept;
}

/* Is the newest one not needed next to its predecessor? */
static bool
is_near(const struct history *history)
{
	uint32_t count = history->count;

	return count >= 2 && history->at[count - 1]->taken_ns -
				     history->at[count - 2]->taken_ns <
				 history->gap_ns;
}

void
history_add(struct history *history, struct top_snapshot *snapshot)
{
	uint32_t old = 0;

	if (is_near(history))
		top_snapshot_drop(&history->at[--history->count]);
	history->at = memory_grow(
	    history->at, &history->room, history->count, sizeof(*history->at));
	history->at[history->count++] = snapshot;
	snapshot->holds++;
	while (old + 1 < history->count &&
	       snapshot->taken_ns - history->at[old]->taken_ns > HISTORY_NS)
		old++;
	if (old > 0)
		drop_first(history, old);
	pack(history);
	count_bytes(history);
	while (
	    history->count > 2 && (history->bytes > HISTORY_BYTES ||
				      history->count > HISTORY_SNAPSHOTS_MAX)) {
		drop_every_second(history);
		history->gap_ns = history->gap_ns == 0 ? INT64_C(2000000000)
						       : 2 * history->gap_ns;
		count_bytes(history);
	}
}

void
history_clear(struct history *history)
{
	drop_first(history, history->count);
	free(history->at);
	*history = (struct history){ .count = 0 };
}

struct top_snapshot *
history_find(const struct history *history, int64_t taken_ns)
{
	uint32_t i = history->count;

	while (i > 1 && history->at[i - 1]->taken_ns > taken_ns)
		i--;
	return i > 0 ? history->at[i - 1] : NULL;
}

struct top_snapshot *
history_step(const struct history *history, int64_t taken_ns, int direction)
{
	uint32_t i = 0;

	if (direction > 0) {
		while (
		    i < history->count && history->at[i]->taken_ns <= taken_ns)
			i++;
		return i < history->count ? history->at[i] : NULL;
	}
	i = history->count;
	while (i > 0 && history->at[i - 1]->taken_ns >= taken_ns)
		i--;
	return i > 0 ? history->at[i - 1] : NULL;
}
