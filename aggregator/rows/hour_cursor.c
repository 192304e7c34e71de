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
merge_input_key(unsigned char to[static KEY_ROW_BLOCK_BYTES],
    const struct key_row_block *head)
{
	key_put_row_block(to, head);
	return (struct text){ (const char *)to, KEY_ROW_BLOCK_BYTES };
}

static bool
same_run(const struct key_row_block *a, const struct key_row_block *b)
{
	return a->partition == b->partition && a->kind == b->kind &&
	       a->bucket == b->bucket && a->run == b->run;
}

static void
merge_input_take(struct merge_input *merge_input, struct text key, bool found)
{
	struct key_row_block head;

	merge_input->more = found && key_get_row_block(key, &head) &&
			    same_run(&head, &merge_input->head);
	if (merge_input->more)
		merge_input->head = head;
}

static void
next_row(struct merge_input *merge_input)
{
	struct text key;
	bool found = db_next(merge_input->cursor, &key, &merge_input->value);

	merge_input_take(merge_input, key, found);
}

/* As a compacted run has it. */
static void
follow(struct merge_input *merge_input)
{
	merge_input->more = merge_input->compacted_cursor->more;
	merge_input->head = merge_input->compacted_cursor->head;
	merge_input->lent = false;
}

/* To the first row of the run at or behind (node, track). */
static void
seek(struct merge_input *merge_input, uint32_t node, uint32_t track)
{
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct key_row_block to = merge_input->head;
	struct text key;
	bool found;

	if (merge_input->compacted_cursor != NULL) {
		compacted_cursor_seek(
		    merge_input->compacted_cursor, node, track);
		follow(merge_input);
		return;
	}
	to.node = node;
	to.track = track;
	to.first_ns = INT64_MIN;
	to.row = 0;
	found = db_seek(merge_input->cursor, merge_input_key(bytes, &to), &key,
	    &merge_input->value);
	merge_input_take(merge_input, key, found);
}

static bool
is_before(const struct merge_input *a, const struct merge_input *b)
{
	if (a->more != b->more)
		return a->more; /* those at their end come last */
	if (a->head.node != b->head.node)
		return a->head.node < b->head.node;
	return a->head.track < b->head.track;
}

static bool
same_series_block(const struct key_row_block *a, const struct key_row_block *b)
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
		struct merge_input merge_input = hour_cursor->at[i];

		hour_cursor->at[i] = hour_cursor->at[least];
		hour_cursor->at[least] = merge_input;
		i = least;
	}
}

static struct merge_input *
add(struct hour_cursor *hour_cursor, const struct key_row_block *head)
{
	struct merge_input *merge_input;

	hour_cursor->at = memory_grow(hour_cursor->at, &hour_cursor->room,
	    hour_cursor->count, sizeof(*hour_cursor->at));
	merge_input = &hour_cursor->at[hour_cursor->count++];
	*merge_input = (struct merge_input){ .head = *head };
	return merge_input;
}

void
hour_cursor_close(struct hour_cursor *hour_cursor)
{
	uint32_t i;

	for (i = 0; i < hour_cursor->count; i++) {
		db_cursor_close(&hour_cursor->at[i].cursor);
		compacted_cursor_close(&hour_cursor->at[i].compacted_cursor);
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
find_run(struct db_cursor *cursor, struct key_row_block *to, uint32_t last)
{
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text key, value;
	struct key_row_block head;
	uint32_t run;

	if (!db_seek(cursor, merge_input_key(bytes, to), &key, &value) ||
	    !key_get_row_block(key, &head))
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
    struct compacted_cursor_cache *cache, const struct key_row_block *first,
    const struct hour_cursor_choice *choice)
{
	unsigned table = cache != NULL ? TABLES_CHUNKS : TABLES_ROW_BLOCKS;
	uint32_t last =
	    cache != NULL ? choice->compacted_to : choice->row_blocks_to;
	struct db_cursor *cursor = db_cursor_open(txn, table);
	struct key_row_block to = *first;
	struct merge_input *merge_input;

	to.node = to.track = to.row = 0;
	to.first_ns = INT64_MIN;
	to.run =
	    cache != NULL ? choice->compacted_from : choice->row_blocks_from;
	while (find_run(cursor, &to, last)) {
		merge_input = add(hour_cursor, &to);
		if (cache != NULL)
			merge_input->compacted_cursor =
			    compacted_cursor_open(txn, cache, &to);
		else
			merge_input->cursor = db_cursor_open(txn, table);
		seek(merge_input, first->node, first->track);
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
    struct compacted_cursor_cache *cache, const struct key_row_block *first,
    const struct hour_cursor_choice *choice)
{
	open_runs(hour_cursor, txn, NULL, first, choice);
	open_runs(hour_cursor, txn, cache, first, choice);
	heap(hour_cursor);
}

/* What was lent to the merge goes on behind its series_block. */
static void
take_back(struct hour_cursor *hour_cursor)
{
	if (!hour_cursor->lent)
		return;
	for (uint32_t i = 0; i < hour_cursor->count; i++) {
		struct merge_input *merge_input = &hour_cursor->at[i];

		if (!merge_input->lent)
			continue;
		compacted_cursor_leave(merge_input->compacted_cursor,
		    merge_input->head.node, merge_input->head.track);
		follow(merge_input);
	}
	hour_cursor->lent = false;
	heap(hour_cursor);
}

bool
hour_cursor_series_block(
    struct hour_cursor *hour_cursor, struct key_row_block *key)
{
	take_back(hour_cursor);
	if (hour_cursor->count == 0 || !hour_cursor->at[0].more)
		return false;
	*key = hour_cursor->at[0].head;
	return true;
}

void
hour_cursor_collect(struct hour_cursor *hour_cursor,
    const struct key_row_block *key, struct merge *merge, int64_t from_ns)
{
	unsigned runs = 0;

	for (; hour_cursor->at[0].more &&
	       same_series_block(&hour_cursor->at[0].head, key);
	     sink(hour_cursor, 0), runs++) {
		struct merge_input *merge_input = &hour_cursor->at[0];

		if (merge_input->compacted_cursor != NULL) {
			merge_add_compacted(
			    merge, merge_input->compacted_cursor, from_ns);
			merge_input->lent = hour_cursor->lent = true;
			merge_input->more = false;
			continue;
		}
		for (; merge_input->more &&
		       same_series_block(&merge_input->head, key);
		     next_row(merge_input))
			merge_add(merge, merge_input->value,
			    merge_input->head.first_ns, from_ns);
	}
	if (runs > 1)
		merge_sort(merge);
}

void
hour_cursor_pass(struct hour_cursor *hour_cursor,
    const struct key_row_block *key, const struct key_row_block *next)
{
	while (hour_cursor->at[0].more &&
	       same_series_block(&hour_cursor->at[0].head, key)) {
		seek(&hour_cursor->at[0], next->node, next->track);
		sink(hour_cursor, 0);
	}
}

struct compacted_cursor *
hour_cursor_alone(
    struct hour_cursor *hour_cursor, const struct key_row_block *key)
{
	struct merge_input *merge_input = &hour_cursor->at[0];

	/* Another would be right below the top of the heap. */
	for (uint32_t i = 1; i <= 2 && i < hour_cursor->count; i++)
		if (hour_cursor->at[i].more &&
		    same_series_block(&hour_cursor->at[i].head, key))
			return NULL;
	return merge_input->compacted_cursor != NULL &&
		       merge_input->head.run >> COMPACTED_ROW_LEVEL_BITS ==
			   COMPACTED_ROW_LEVEL_WHOLE
		   ? merge_input->compacted_cursor
		   : NULL;
}
