/*
 * series_block - the records of one hour, node and track, while they are
 * appended to a page.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/series/series_block.h"

#include "aggregator/query/series/series.h"

void
series_block_set_cursor(
    struct series_block *block, const struct row_block_item *item)
{
	struct page_cursor *mark = &block->page->cursor;

	mark->kind = block->key.kind;
	mark->hour = block->key.hour;
	mark->node = block->key.node;
	mark->track = block->key.track;
	mark->id = *item;
}

bool
series_block_skip(struct series_block *block)
{
	const struct row_block_item last = { INT64_MAX, INT64_MAX, UINT64_MAX,
		UINT32_MAX, UINT32_MAX, { NULL, 0 } };

	if (block->resumed)
		return true; /* the previous page ended with it */
	series_block_set_cursor(block, &last);
	return !page_examined(block->page);
}

/* Move to the next metric group, or to the only selected one. */
static void
next_group(const struct series_block *block, struct key_row_block *next)
{
	uint32_t only = block->page->only_group;

	next->node = block->only;
	if (only == 0)
		next->track++;
	else
		next->track = next->track < only ? only : UINT32_MAX;
}

/* The same of samples, which are in the order (metric group, node). */
static bool
is_wanted_sample(struct series_block *block, struct key_row_block *next)
{
	struct page *page = block->page;
	uint32_t track = block->key.track, node = block->key.node;

	block->track = lookup_number(&page->reader->lookup, track);
	if (!page_wants_text(page, block->track) ||
	    (page->series != NULL &&
		!series_wants(page->series, page, track, block->track))) {
		next_group(block, next);
		return false;
	}
	if (page_wants_node_number(page, node, &block->node))
		return true;
	if (node < block->only)
		next->node = block->only;
	else if (block->only != 0)
		next_group(block, next);
	else
		next->node++;
	return false;
}

bool
series_block_is_wanted(struct series_block *block, struct key_row_block *next)
{
	struct page *page = block->page;
	struct lookup *lookup = &page->reader->lookup;

	*next = block->key;
	if (block->key.kind == RECORD_SAMPLE)
		return is_wanted_sample(block, next);
	if (!page_wants_node_number(page, block->key.node, &block->node)) {
		next->node++;
		next->track = 0;
		return false;
	}
	block->track = lookup_number(lookup, block->key.track);
	if (block->key.kind == RECORD_SPAN && page->query->columns.bytes > 0 &&
	    !text_match(page->query->columns, block->track)) {
		next->track++;
		return false;
	}
	return true;
}

bool
series_block_is_cursor(const struct series_block *block)
{
	const struct page_cursor *mark = &block->page->cursor;
	const struct key_row_block *key = &block->key;

	return mark->kind == key->kind && mark->hour == key->hour &&
	       mark->node == key->node && mark->track == key->track;
}

int32_t
series_block_next_hour(
    struct db_cursor *cursor, const struct key_row_block *first)
{
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct key_row_block to = *first, row_key;
	struct text key, value;

	to.slice = to.node = to.track = 0;
	if (!db_seek(cursor, hour_cursor_key(bytes, &to), &key, &value) ||
	    !key_get_row_block(key, &row_key) ||
	    row_key.partition != to.partition || row_key.kind != to.kind)
		return INT32_MAX;
	return row_key.hour;
}
