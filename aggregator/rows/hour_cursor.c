/*
 * reader - the runs of one hour side by side.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rows/hour_cursor.h"

#include <stdlib.h>

#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"

const struct hour_cursor_choice hour_cursor_all = { 0, UINT32_MAX, 0,
	UINT32_MAX };

struct text
lane_key(unsigned char to[static KEY_HEAD_BYTES], const struct key_head *head)
{
	key_put_head(to, head);
	return (struct text){ (const char *)to, KEY_HEAD_BYTES };
}

static bool
same_run(const struct key_head *a, const struct key_head *b)
{
	return a->partition == b->partition && a->kind == b->kind &&
	       a->bucket == b->bucket && a->run == b->run;
}

static void
lane_take(struct lane *lane, struct text key, bool found)
{
	struct key_head head;

	lane->more =
	    found && key_get_head(key, &head) && same_run(&head, &lane->head);
	if (lane->more)
		lane->head = head;
}

static void
next_row(struct lane *lane)
{
	struct text key;
	bool found = db_next(lane->cursor, &key, &lane->value);

	lane_take(lane, key, found);
}

/* As a sealed run has it. */
static void
follow(struct lane *lane)
{
	lane->more = lane->sealed_cursor->more;
	lane->head = lane->sealed_cursor->head;
	lane->lent = false;
}

/* To the first row of the run at or behind (node, track). */
static void
seek(struct lane *lane, uint32_t node, uint32_t track)
{
	unsigned char bytes[KEY_HEAD_BYTES];
	struct key_head to = lane->head;
	struct text key;
	bool found;

	if (lane->sealed_cursor != NULL) {
		sealed_cursor_seek(lane->sealed_cursor, node, track);
		follow(lane);
		return;
	}
	to.node = node;
	to.track = track;
	to.first_ns = INT64_MIN;
	to.row = 0;
	found = db_seek(lane->cursor, lane_key(bytes, &to), &key, &lane->value);
	lane_take(lane, key, found);
}

static bool
is_before(const struct lane *a, const struct lane *b)
{
	if (a->more != b->more)
		return a->more; /* those at their end come last */
	if (a->head.node != b->head.node)
		return a->head.node < b->head.node;
	return a->head.track < b->head.track;
}

static bool
same_band(const struct key_head *a, const struct key_head *b)
{
	return a->node == b->node && a->track == b->track;
}

static void
sink(struct hour_cursor *hour_cursor, uint32_t i)
{
	for (;;) {
		uint32_t least = i, child;

		for (child = 2 * i + 1; child <= 2 * i + 2; child++) {
			if (child < hour_cursor->count &&
			    is_before(&hour_cursor->at[child],
				&hour_cursor->at[least]))
				least = child;
		}
		if (least == i)
			return;
		struct lane lane = hour_cursor->at[i];

		hour_cursor->at[i] = hour_cursor->at[least];
		hour_cursor->at[least] = lane;
		i = least;
	}
}

static struct lane *
add(struct hour_cursor *hour_cursor, const struct key_head *head)
{
	struct lane *lane;

	hour_cursor->at = memory_grow(hour_cursor->at, &hour_cursor->room,
	    hour_cursor->count, sizeof(*hour_cursor->at));
	lane = &hour_cursor->at[hour_cursor->count++];
	*lane = (struct lane){ .head = *head };
	return lane;
}

void
hour_cursor_close(struct hour_cursor *hour_cursor)
{
	uint32_t i;

	for (i = 0; i < hour_cursor->count; i++) {
		db_cursor_close(&hour_cursor->at[i].cursor);
		sealed_cursor_close(&hour_cursor->at[i].sealed_cursor);
	}
	hour_cursor->count = 0;
	hour_cursor->lent = false;
}

void
hour_cursor_clear(struct hour_cursor *hour_cursor)
{
	hour_cursor_close(hour_cursor);
	free(hour_cursor->at);
	*hour_cursor = (struct hour_cursor){ .at = NULL };
}

/* The next run of the hour in a table, from `to` on, which is moved. */
static bool
find_run(struct db_cursor *cursor, struct key_head *to, uint32_t last)
{
	unsigned char bytes[KEY_HEAD_BYTES];
	struct text key, value;
	struct key_head head;
	uint32_t run;

	if (!db_seek(cursor, lane_key(bytes, to), &key, &value) ||
	    !key_get_head(key, &head))
		return false;
	run = to->run;
	to->run = head.run;
	if (same_run(&head, to) && head.run <= last)
		return true;
	to->run = run;
	return false;
}

static void
open_runs(struct hour_cursor *hour_cursor, struct db_txn *txn,
    struct sealed_cursor_cache *cache, const struct key_head *first,
    const struct hour_cursor_choice *choice)
{
	unsigned table = cache != NULL ? TABLES_CHUNKS : TABLES_HEADS;
	uint32_t last = cache != NULL ? choice->sealed_to : choice->heads_to;
	struct db_cursor *cursor = db_cursor_open(txn, table);
	struct key_head to = *first;
	struct lane *lane;

	to.node = to.track = to.row = 0;
	to.first_ns = INT64_MIN;
	to.run = cache != NULL ? choice->sealed_from : choice->heads_from;
	while (find_run(cursor, &to, last)) {
		lane = add(hour_cursor, &to);
		if (cache != NULL)
			lane->sealed_cursor =
			    sealed_cursor_open(txn, cache, &to);
		else
			lane->cursor = db_cursor_open(txn, table);
		seek(lane, first->node, first->track);
		if (to.run++ == UINT32_MAX)
			break;
	}
	db_cursor_close(&cursor);
}

static void
heap(struct hour_cursor *hour_cursor)
{
	for (uint32_t i = hour_cursor->count; i-- > 0;)
		sink(hour_cursor, i);
}

void
hour_cursor_open(struct hour_cursor *hour_cursor, struct db_txn *txn,
    struct sealed_cursor_cache *cache, const struct key_head *first,
    const struct hour_cursor_choice *choice)
{
	open_runs(hour_cursor, txn, NULL, first, choice);
	open_runs(hour_cursor, txn, cache, first, choice);
	heap(hour_cursor);
}

/* What was lent to the merge goes on behind its band. */
static void
take_back(struct hour_cursor *hour_cursor)
{
	if (!hour_cursor->lent)
		return;
	for (uint32_t i = 0; i < hour_cursor->count; i++) {
		struct lane *lane = &hour_cursor->at[i];

		if (!lane->lent)
			continue;
		sealed_cursor_leave(
		    lane->sealed_cursor, lane->head.node, lane->head.track);
		follow(lane);
	}
	hour_cursor->lent = false;
	heap(hour_cursor);
}

bool
hour_cursor_band(struct hour_cursor *hour_cursor, struct key_head *key)
{
	take_back(hour_cursor);
	if (hour_cursor->count == 0 || !hour_cursor->at[0].more)
		return false;
	*key = hour_cursor->at[0].head;
	return true;
}

void
hour_cursor_collect(struct hour_cursor *hour_cursor, const struct key_head *key,
    struct merge *merge, int64_t from_ns)
{
	unsigned runs = 0;

	for (; hour_cursor->at[0].more &&
	       same_band(&hour_cursor->at[0].head, key);
	     sink(hour_cursor, 0), runs++) {
		struct lane *lane = &hour_cursor->at[0];

		if (lane->sealed_cursor != NULL) {
			merge_add_sealed(merge, lane->sealed_cursor, from_ns);
			lane->lent = hour_cursor->lent = true;
			lane->more = false;
			continue;
		}
		for (; lane->more && same_band(&lane->head, key);
		     next_row(lane))
			merge_add(
			    merge, lane->value, lane->head.first_ns, from_ns);
	}
	if (runs > 1)
		merge_sort(merge);
}

void
hour_cursor_pass(struct hour_cursor *hour_cursor, const struct key_head *key,
    const struct key_head *next)
{
	while (hour_cursor->at[0].more &&
	       same_band(&hour_cursor->at[0].head, key)) {
		seek(&hour_cursor->at[0], next->node, next->track);
		sink(hour_cursor, 0);
	}
}

struct sealed_cursor *
hour_cursor_alone(struct hour_cursor *hour_cursor, const struct key_head *key)
{
	struct lane *lane = &hour_cursor->at[0];

	/* Another would be right below the top of the heap. */
	for (uint32_t i = 1; i <= 2 && i < hour_cursor->count; i++)
		if (hour_cursor->at[i].more &&
		    same_band(&hour_cursor->at[i].head, key))
			return NULL;
	return lane->sealed_cursor != NULL &&
		       lane->head.run >> SEALED_ROW_LEVEL_BITS ==
			   SEALED_ROW_LEVEL_WHOLE
		   ? lane->sealed_cursor
		   : NULL;
}
