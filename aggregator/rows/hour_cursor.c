/*
 * hour_cursor - the slices of one hour, merged.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rows/hour_cursor.h"

#include <stdlib.h>

#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"

const struct hour_cursor_choice hour_cursor_all = { 0, UINT32_MAX, 0,
	UINT32_MAX };

struct text
hour_cursor_key(unsigned char to[static KEY_ROW_BLOCK_BYTES],
    const struct key_row_block *row_key)
{
	key_put_row_block(to, row_key);
	return (struct text){ (const char *)to, KEY_ROW_BLOCK_BYTES };
}

static bool
same_slice(const struct key_row_block *a, const struct key_row_block *b)
{
	return a->partition == b->partition && a->kind == b->kind &&
	       a->hour == b->hour && a->slice == b->slice;
}

static void
take_row(struct hour_cursor_input *input, struct text key, bool found)
{
	struct key_row_block row_key;

	input->more = found && key_get_row_block(key, &row_key) &&
		      same_slice(&row_key, &input->row_key);
	if (input->more)
		input->row_key = row_key;
}

static void
next_row(struct hour_cursor_input *input)
{
	struct text key;
	bool found = db_next(input->cursor, &key, &input->value);

	take_row(input, key, found);
}

/* The key of the current series block of a compacted slice. */
static void
follow(struct hour_cursor_input *input)
{
	input->more = input->compacted_cursor->more;
	input->row_key = input->compacted_cursor->row_key;
	input->in_merge = false;
}

/* Move to the first row of the slice at or after (node, track). */
static void
seek(struct hour_cursor_input *input, uint32_t node, uint32_t track)
{
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct key_row_block to = input->row_key;
	struct text key;
	bool found;

	if (input->compacted_cursor != NULL) {
		compacted_cursor_seek(input->compacted_cursor, node, track);
		follow(input);
		return;
	}
	to.node = node;
	to.track = track;
	to.first_ns = INT64_MIN;
	to.row = 0;
	found = db_seek(
	    input->cursor, hour_cursor_key(bytes, &to), &key, &input->value);
	take_row(input, key, found);
}

static bool
is_before(const struct hour_cursor_input *a, const struct hour_cursor_input *b)
{
	if (a->more != b->more)
		return a->more; /* slices that have ended come last */
	return key_compare_series(a->row_key.kind, a->row_key.node,
		   a->row_key.track, b->row_key.node, b->row_key.track) < 0;
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
		struct hour_cursor_input input = hour_cursor->at[i];

		hour_cursor->at[i] = hour_cursor->at[least];
		hour_cursor->at[least] = input;
		i = least;
	}
}

static struct hour_cursor_input *
add(struct hour_cursor *hour_cursor, const struct key_row_block *row_key)
{
	struct hour_cursor_input *input;

	input =
	    MEMORY_ADD(hour_cursor->at, hour_cursor->room, hour_cursor->count);
	*input = (struct hour_cursor_input){ .row_key = *row_key };
	return input;
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
	hour_cursor->in_merge = false;
}

void
hour_cursor_clear(struct hour_cursor *hour_cursor)
{
	hour_cursor_close(hour_cursor);
	free(hour_cursor->at);
	*hour_cursor = (struct hour_cursor){ .at = NULL };
}

/* Find the next slice of the hour in a table, from `to` on; advances `to`. */
static bool
find_slice(struct db_cursor *cursor, struct key_row_block *to, uint32_t last)
{
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text key, value;
	struct key_row_block row_key;
	uint32_t slice;

	if (!db_seek(cursor, hour_cursor_key(bytes, to), &key, &value) ||
	    !key_get_row_block(key, &row_key))
		return false;
	slice = to->slice;
	to->slice = row_key.slice;
	if (same_slice(&row_key, to) && row_key.slice <= last)
		return true;
	to->slice = slice;
	return false;
}

static void
open_slices(struct hour_cursor *hour_cursor, struct db_txn *txn,
    struct compacted_cursor_cache *cache, const struct key_row_block *first,
    const struct hour_cursor_choice *choice)
{
	unsigned table = cache != NULL ? TABLES_CHUNKS : TABLES_ROW_BLOCKS;
	uint32_t last =
	    cache != NULL ? choice->compacted_to : choice->row_blocks_to;
	struct db_cursor *cursor = db_cursor_open(txn, table);
	struct key_row_block to = *first;
	struct hour_cursor_input *input;

	to.node = to.track = to.row = 0;
	to.first_ns = INT64_MIN;
	to.slice =
	    cache != NULL ? choice->compacted_from : choice->row_blocks_from;
	while (find_slice(cursor, &to, last)) {
		input = add(hour_cursor, &to);
		if (cache != NULL)
			input->compacted_cursor =
			    compacted_cursor_open(txn, cache, &to);
		else
			input->cursor = db_cursor_open(txn, table);
		seek(input, first->node, first->track);
		if (to.slice++ == UINT32_MAX)
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
	open_slices(hour_cursor, txn, NULL, first, choice);
	open_slices(hour_cursor, txn, cache, first, choice);
	heap(hour_cursor);
}

/* Move the slices that the merge has used to their next series block. */
static void
resume_inputs(struct hour_cursor *hour_cursor)
{
	if (!hour_cursor->in_merge)
		return;
	for (uint32_t i = 0; i < hour_cursor->count; i++) {
		struct hour_cursor_input *input = &hour_cursor->at[i];

		if (!input->in_merge)
			continue;
		compacted_cursor_pass(input->compacted_cursor,
		    input->row_key.node, input->row_key.track);
		follow(input);
	}
	hour_cursor->in_merge = false;
	heap(hour_cursor);
}

bool
hour_cursor_series_block(
    struct hour_cursor *hour_cursor, struct key_row_block *key)
{
	resume_inputs(hour_cursor);
	if (hour_cursor->count == 0 || !hour_cursor->at[0].more)
		return false;
	*key = hour_cursor->at[0].row_key;
	return true;
}

void
hour_cursor_collect(struct hour_cursor *hour_cursor,
    const struct key_row_block *key, struct merge *merge, int64_t from_ns)
{
	unsigned slices = 0;

	for (; hour_cursor->at[0].more &&
	       same_series_block(&hour_cursor->at[0].row_key, key);
	     sink(hour_cursor, 0), slices++) {
		struct hour_cursor_input *input = &hour_cursor->at[0];

		if (input->compacted_cursor != NULL) {
			merge_add_compacted(
			    merge, input->compacted_cursor, from_ns);
			input->in_merge = hour_cursor->in_merge = true;
			input->more = false;
			continue;
		}
		for (; input->more && same_series_block(&input->row_key, key);
		     next_row(input))
			merge_add(merge, input->value, input->row_key.first_ns,
			    from_ns);
	}
	if (slices > 1)
		merge_sort(merge);
}

void
hour_cursor_skip(struct hour_cursor *hour_cursor,
    const struct key_row_block *key, const struct key_row_block *next)
{
	while (hour_cursor->at[0].more &&
	       same_series_block(&hour_cursor->at[0].row_key, key)) {
		seek(&hour_cursor->at[0], next->node, next->track);
		sink(hour_cursor, 0);
	}
}

struct compacted_cursor *
hour_cursor_alone(
    struct hour_cursor *hour_cursor, const struct key_row_block *key)
{
	struct hour_cursor_input *input = &hour_cursor->at[0];

	/* A second slice with this series block would be directly below the
	 * heap's root. */
	for (uint32_t i = 1; i <= 2 && i < hour_cursor->count; i++)
		if (hour_cursor->at[i].more &&
		    same_series_block(&hour_cursor->at[i].row_key, key))
			return NULL;
	return input->compacted_cursor != NULL &&
		       input->row_key.slice >> COMPACTED_ROW_LEVEL_BITS ==
			   COMPACTED_ROW_LEVEL_WHOLE
		   ? input->compacted_cursor
		   : NULL;
}
