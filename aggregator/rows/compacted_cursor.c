/*
 * compacted_cursor - reads a compacted slice of an hour.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rows/compacted_cursor.h"

#include <stdlib.h>

#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"
#include "proto/base/search.h"

struct compacted_cursor_chunk {
	struct compacted_row_rows rows;
	bool used;
	struct compacted_cursor_chunk *next;
};

/* ---- unpacked chunks ---- */

static void
free_chunk(struct compacted_cursor_chunk *chunk)
{
	compacted_row_rows_clear(&chunk->rows);
	free(chunk);
}

void
compacted_cursor_cache_clear(struct compacted_cursor_cache *cache)
{
	struct compacted_cursor_chunk *chunk;

	while ((chunk = cache->first) != NULL) {
		cache->first = chunk->next;
		free_chunk(chunk);
	}
}

static void
release(struct compacted_cursor *compacted_cursor)
{
	struct compacted_cursor_chunk **at = &compacted_cursor->cache->first,
				      *chunk;
	unsigned kept = 0;

	if (compacted_cursor->chunk == NULL)
		return;
	compacted_cursor->chunk->used = false;
	compacted_cursor->chunk = NULL;
	while ((chunk = *at) != NULL) {
		if (chunk->used || ++kept <= COMPACTED_CURSOR_CACHED) {
			at = &chunk->next;
			continue;
		}
		*at = chunk->next;
		free_chunk(chunk);
	}
}

/* An unused entry of the cache: the one with these bytes, or any other. */
static struct compacted_cursor_chunk *
find_chunk(struct compacted_cursor_cache *cache, struct text value)
{
	struct compacted_cursor_chunk **at = &cache->first, **found = NULL,
				      *chunk;
	unsigned chunks = 0;

	for (; (chunk = *at) != NULL; at = &chunk->next, chunks++) {
		if (chunk->used)
			continue;
		found = at;
		if (!chunk->rows.bad &&
		    text_equal(buffer_text(&chunk->rows.value), value))
			break;
	}
	if (chunk == NULL && chunks < COMPACTED_CURSOR_CACHED)
		return NULL;
	if (found == NULL)
		return NULL;
	chunk = *found;
	*found = chunk->next;
	return chunk;
}

static void
use_chunk(struct compacted_cursor *compacted_cursor, struct text value)
{
	struct compacted_cursor_cache *cache = compacted_cursor->cache;
	struct compacted_cursor_chunk *chunk;

	release(compacted_cursor);
	chunk = find_chunk(cache, value);
	if (chunk == NULL)
		chunk = memory_zero(1, sizeof(*chunk));
	if (chunk->rows.bad ||
	    !text_equal(buffer_text(&chunk->rows.value), value))
		compacted_row_open(&chunk->rows, value);
	chunk->used = true;
	chunk->next = cache->first;
	cache->first = chunk;
	compacted_cursor->chunk = chunk;
	compacted_cursor->rows = &chunk->rows;
}

/* ---- the slice ---- */

struct compacted_cursor *
compacted_cursor_open(struct db_txn *txn, struct compacted_cursor_cache *cache,
    const struct key_row_block *row_key)
{
	struct compacted_cursor *compacted_cursor =
	    memory_zero(1, sizeof(*compacted_cursor));

	compacted_cursor->txn = txn;
	compacted_cursor->cache = cache;
	compacted_cursor->row_key = *row_key;
	compacted_cursor->cursor = db_cursor_open(txn, TABLES_CHUNKS);
	return compacted_cursor;
}

void
compacted_cursor_close(struct compacted_cursor **old)
{
	struct compacted_cursor *compacted_cursor = *old;

	*old = NULL;
	if (compacted_cursor == NULL)
		return;
	release(compacted_cursor);
	db_cursor_close(&compacted_cursor->cursor);
	free(compacted_cursor);
}

static bool
is_of_slice(const struct compacted_cursor *compacted_cursor, struct text key)
{
	const struct key_row_block *slice = &compacted_cursor->row_key;
	struct key_row_block row_key;

	return key_get_row_block(key, &row_key) &&
	       row_key.partition == slice->partition &&
	       row_key.kind == slice->kind && row_key.hour == slice->hour &&
	       row_key.slice == slice->slice;
}

/* Skip damaged chunks, as damaged row blocks are skipped. */
static bool
load(struct compacted_cursor *compacted_cursor, bool found, struct text key,
    struct text value)
{
	for (; found && is_of_slice(compacted_cursor, key);
	     found = db_next(compacted_cursor->cursor, &key, &value)) {
		use_chunk(compacted_cursor, value);
		if (!compacted_cursor->rows->bad)
			return true;
	}
	release(compacted_cursor);
	return false;
}

static bool
load_from(struct compacted_cursor *compacted_cursor, uint32_t node,
    uint32_t track, int64_t time_ns)
{
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct key_row_block to = compacted_cursor->row_key;
	struct text key, value;
	bool found;

	to.node = node;
	to.track = track;
	to.first_ns = time_ns;
	to.row = 0;
	key_put_row_block(bytes, &to);
	found = db_seek(compacted_cursor->cursor,
	    (struct text){ (const char *)bytes, sizeof(bytes) }, &key, &value);
	return load(compacted_cursor, found, key, value);
}

static bool
load_next(struct compacted_cursor *compacted_cursor)
{
	struct text key, value;
	bool found = db_next(compacted_cursor->cursor, &key, &value);

	return load(compacted_cursor, found, key, value);
}

static bool
is_before(const struct compacted_cursor *compacted_cursor,
    const struct compacted_row_series_block *block, uint32_t node,
    uint32_t track)
{
	return key_compare_series(compacted_cursor->row_key.kind, block->node,
		   block->track, node, track) < 0;
}

void
compacted_cursor_seek(
    struct compacted_cursor *compacted_cursor, uint32_t node, uint32_t track)
{
	const struct compacted_row_rows *rows = compacted_cursor->rows;
	uint32_t low = 0;

	/* The cursor only moves forward: the target is in the current chunk or
	 * a later one. */
	compacted_cursor->more =
	    (compacted_cursor->chunk != NULL &&
		!is_before(compacted_cursor,
		    &rows->series_block[rows->series_blocks - 1], node,
		    track)) ||
	    load_from(compacted_cursor, node, track, INT64_MIN);
	if (!compacted_cursor->more)
		return;
	rows = compacted_cursor->rows;
	low = LOWER_BOUND(i, low, rows->series_blocks,
	    is_before(compacted_cursor, &rows->series_block[i], node, track));
	compacted_cursor->more = low < rows->series_blocks;
	if (!compacted_cursor->more)
		return;
	compacted_cursor->series_block = low;
	compacted_cursor->row_key.node = rows->series_block[low].node;
	compacted_cursor->row_key.track = rows->series_block[low].track;
}

void
compacted_cursor_pass(
    struct compacted_cursor *compacted_cursor, uint32_t node, uint32_t track)
{
	struct key_row_block to = { .kind = compacted_cursor->row_key.kind,
		.node = node,
		.track = track };

	if (key_next_series(&to))
		compacted_cursor_seek(compacted_cursor, to.node, to.track);
	else
		compacted_cursor->more = false;
}

/* ---- records of a series block ---- */

/* Find the rows of the current series block in the chunk, from `from_ns` on;
 * false when it has none. */
static bool
enter(
    struct compacted_cursor *compacted_cursor, uint32_t number, int64_t from_ns)
{
	struct compacted_row_rows *rows = compacted_cursor->rows;
	const struct compacted_row_series_block *block =
	    &rows->series_block[number];
	uint32_t low;

	compacted_cursor->row = compacted_cursor->end = 0;
	if (block->node != compacted_cursor->row_key.node ||
	    block->track != compacted_cursor->row_key.track ||
	    !compacted_row_read_times(rows))
		return false;
	low =
	    LOWER_BOUND(i, block->from, block->to, rows->time_ns[i] < from_ns);
	if (low == block->to)
		return false;
	compacted_cursor->row = low;
	compacted_cursor->end = block->to;
	return true;
}

/* Does the current series block continue in the next chunk? */
static bool
may_continue(const struct compacted_cursor *compacted_cursor)
{
	const struct compacted_row_rows *rows = compacted_cursor->rows;
	const struct compacted_row_series_block *last;

	if (compacted_cursor->chunk == NULL)
		return false;
	last = &rows->series_block[rows->series_blocks - 1];
	return last->node == compacted_cursor->row_key.node &&
	       last->track == compacted_cursor->row_key.track;
}

static bool
take(struct compacted_cursor *compacted_cursor, int64_t from_ns)
{
	if (enter(compacted_cursor, compacted_cursor->series_block, from_ns))
		return true;
	if (!may_continue(compacted_cursor) ||
	    !load_from(compacted_cursor, compacted_cursor->row_key.node,
		compacted_cursor->row_key.track, from_ns))
		return false;
	compacted_cursor->series_block = 0;
	return enter(compacted_cursor, 0, from_ns);
}

/* Advance to the next chunk that has rows of the series block. */
static bool
enter_next_chunk(struct compacted_cursor *compacted_cursor)
{
	compacted_cursor->row = compacted_cursor->end = 0;
	while (may_continue(compacted_cursor) && load_next(compacted_cursor)) {
		compacted_cursor->series_block = 0;
		if (enter(compacted_cursor, 0, INT64_MIN))
			return true;
	}
	return false;
}

bool
compacted_cursor_take(struct compacted_cursor *compacted_cursor,
    int64_t from_ns, int64_t *first_ns)
{
	bool found = take(compacted_cursor, from_ns);

	if (found)
		*first_ns =
		    compacted_cursor->rows->time_ns[compacted_cursor->row];
	return found;
}

/* Has the slice rows of the current series block after this time? */
static bool
has_after(const struct compacted_cursor *compacted_cursor, int64_t time_ns)
{
	const struct key_row_block *series = &compacted_cursor->row_key;
	struct db_cursor *cursor =
	    db_cursor_open(compacted_cursor->txn, TABLES_CHUNKS);
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct key_row_block to = *series;
	struct compacted_row_header header;
	struct text key, value;
	bool found;

	to.first_ns = time_ns < INT64_MAX ? time_ns + 1 : time_ns;
	to.row = 0;
	key_put_row_block(bytes, &to);
	found =
	    db_seek(cursor, (struct text){ (const char *)bytes, sizeof(bytes) },
		&key, &value) &&
	    is_of_slice(compacted_cursor, key) &&
	    (!compacted_row_get_header(value, &header) ||
		key_compare_series(series->kind, header.node, header.track,
		    series->node, series->track) <= 0);
	db_cursor_close(&cursor);
	return found;
}

int64_t
compacted_cursor_last_ns(const struct compacted_cursor *compacted_cursor)
{
	const struct compacted_row_rows *rows = compacted_cursor->rows;
	int64_t last_ns = rows->time_ns[compacted_cursor->end - 1];

	return may_continue(compacted_cursor) &&
		       has_after(compacted_cursor, last_ns)
		   ? INT64_MAX
		   : last_ns;
}

bool
compacted_cursor_next(
    struct compacted_cursor *compacted_cursor, struct row_block_item *item)
{
	while (compacted_cursor->row == compacted_cursor->end ||
	       !compacted_row_read_bodies(compacted_cursor->rows))
		if (!enter_next_chunk(compacted_cursor))
			return false;
	compacted_row_get(
	    compacted_cursor->rows, compacted_cursor->row++, item);
	return true;
}

static bool
give_rows(bool found, const struct compacted_cursor *compacted_cursor,
    struct compacted_row_rows **rows, uint32_t *first, uint32_t *end)
{
	if (!found)
		return false;
	*rows = compacted_cursor->rows;
	*first = compacted_cursor->row;
	*end = compacted_cursor->end;
	return true;
}

/* Rows of a series block are in the order of time. */
bool
compacted_cursor_may_have(const struct compacted_cursor *compacted_cursor,
    int64_t from_ns, int64_t to_ns)
{
	const struct compacted_row_header *header =
	    &compacted_cursor->rows->header;

	return header->least_ns < to_ns &&
	       (header->most_ns >= from_ns || may_continue(compacted_cursor));
}

bool
compacted_cursor_take_rows(struct compacted_cursor *compacted_cursor,
    int64_t from_ns, struct compacted_row_rows **rows, uint32_t *first,
    uint32_t *end)
{
	return give_rows(take(compacted_cursor, from_ns), compacted_cursor,
	    rows, first, end);
}

void
compacted_cursor_taken_rows(const struct compacted_cursor *compacted_cursor,
    struct compacted_row_rows **rows, uint32_t *first, uint32_t *end)
{
	give_rows(true, compacted_cursor, rows, first, end);
}

bool
compacted_cursor_next_rows(struct compacted_cursor *compacted_cursor,
    struct compacted_row_rows **rows, uint32_t *first, uint32_t *end)
{
	return give_rows(enter_next_chunk(compacted_cursor), compacted_cursor,
	    rows, first, end);
}
