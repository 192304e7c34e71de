/*
 * sealed_cursor - a sealed run of an hour.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rows/sealed_cursor.h"

#include <stdlib.h>

#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"

struct sealed_cursor_chunk {
	struct sealed_row_rows rows;
	bool used;
	struct sealed_cursor_chunk *next;
};

/* ---- unpacked chunks ---- */

static void
free_chunk(struct sealed_cursor_chunk *chunk)
{
	sealed_row_rows_clear(&chunk->rows);
	free(chunk);
}

void
sealed_cursor_cache_clear(struct sealed_cursor_cache *cache)
{
	struct sealed_cursor_chunk *chunk;

	while ((chunk = cache->first) != NULL) {
		cache->first = chunk->next;
		free_chunk(chunk);
	}
}

static void
release(struct sealed_cursor *sealed_cursor)
{
	struct sealed_cursor_chunk **at = &sealed_cursor->cache->first, *chunk;
	unsigned kept = 0;

	if (sealed_cursor->chunk == NULL)
		return;
	sealed_cursor->chunk->used = false;
	sealed_cursor->chunk = NULL;
	while ((chunk = *at) != NULL) {
		if (chunk->used || ++kept <= SEALED_CURSOR_KEPT) {
			at = &chunk->next;
			continue;
		}
		*at = chunk->next;
		free_chunk(chunk);
	}
}

/* One that nobody uses: with these very bytes, or any. */
static struct sealed_cursor_chunk *
find_chunk(struct sealed_cursor_cache *cache, struct text value)
{
	struct sealed_cursor_chunk **at = &cache->first, **found = NULL, *chunk;
	unsigned chunks = 0;

	for (; (chunk = *at) != NULL; at = &chunk->next, chunks++) {
		if (chunk->used)
			continue;
		found = at;
		if (!chunk->rows.bad &&
		    text_equal(buffer_text(&chunk->rows.value), value))
			break;
	}
	if (chunk == NULL && chunks < SEALED_CURSOR_KEPT)
		return NULL;
	if (found == NULL)
		return NULL;
	chunk = *found;
	*found = chunk->next;
	return chunk;
}

static void
use_chunk(struct sealed_cursor *sealed_cursor, struct text value)
{
	struct sealed_cursor_cache *cache = sealed_cursor->cache;
	struct sealed_cursor_chunk *chunk;

	release(sealed_cursor);
	chunk = find_chunk(cache, value);
	if (chunk == NULL)
		chunk = memory_zero(1, sizeof(*chunk));
	if (chunk->rows.bad ||
	    !text_equal(buffer_text(&chunk->rows.value), value))
		sealed_row_open(&chunk->rows, value);
	chunk->used = true;
	chunk->next = cache->first;
	cache->first = chunk;
	sealed_cursor->chunk = chunk;
	sealed_cursor->rows = &chunk->rows;
}

/* ---- the run ---- */

struct sealed_cursor *
sealed_cursor_open(struct db_txn *txn, struct sealed_cursor_cache *cache,
    const struct key_head *head)
{
	struct sealed_cursor *sealed_cursor =
	    memory_zero(1, sizeof(*sealed_cursor));

	sealed_cursor->cache = cache;
	sealed_cursor->head = *head;
	sealed_cursor->cursor = db_cursor_open(txn, TABLES_CHUNKS);
	return sealed_cursor;
}

void
sealed_cursor_close(struct sealed_cursor **old)
{
	struct sealed_cursor *sealed_cursor = *old;

	*old = NULL;
	if (sealed_cursor == NULL)
		return;
	release(sealed_cursor);
	db_cursor_close(&sealed_cursor->cursor);
	free(sealed_cursor);
}

static bool
is_of_run(const struct sealed_cursor *sealed_cursor, struct text key)
{
	const struct key_head *run = &sealed_cursor->head;
	struct key_head head;

	return key_get_head(key, &head) && head.partition == run->partition &&
	       head.kind == run->kind && head.bucket == run->bucket &&
	       head.run == run->run;
}

/* Chunks that cannot be understood are passed over, as such rows are. */
static bool
load(struct sealed_cursor *sealed_cursor, bool found, struct text key,
    struct text value)
{
	for (; found && is_of_run(sealed_cursor, key);
	     found = db_next(sealed_cursor->cursor, &key, &value)) {
		use_chunk(sealed_cursor, value);
		if (!sealed_cursor->rows->bad)
			return true;
	}
	release(sealed_cursor);
	return false;
}

static bool
load_from(struct sealed_cursor *sealed_cursor, uint32_t node, uint32_t track,
    int64_t time_ns)
{
	unsigned char bytes[KEY_HEAD_BYTES];
	struct key_head to = sealed_cursor->head;
	struct text key, value;
	bool found;

	to.node = node;
	to.track = track;
	to.first_ns = time_ns;
	to.row = 0;
	key_put_head(bytes, &to);
	found = db_seek(sealed_cursor->cursor,
	    (struct text){ (const char *)bytes, sizeof(bytes) }, &key, &value);
	return load(sealed_cursor, found, key, value);
}

static bool
load_next(struct sealed_cursor *sealed_cursor)
{
	struct text key, value;
	bool found = db_next(sealed_cursor->cursor, &key, &value);

	return load(sealed_cursor, found, key, value);
}

static bool
is_before(const struct sealed_row_band *band, uint32_t node, uint32_t track)
{
	return band->node != node ? band->node < node : band->track < track;
}

void
sealed_cursor_seek(
    struct sealed_cursor *sealed_cursor, uint32_t node, uint32_t track)
{
	const struct sealed_row_rows *rows = sealed_cursor->rows;
	uint32_t low = 0, high;

	/* Always forward: what is there is in the chunk at hand or behind. */
	sealed_cursor->more =
	    (sealed_cursor->chunk != NULL &&
		!is_before(&rows->band[rows->bands - 1], node, track)) ||
	    load_from(sealed_cursor, node, track, INT64_MIN);
	if (!sealed_cursor->more)
		return;
	rows = sealed_cursor->rows;
	high = rows->bands;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (is_before(&rows->band[middle], node, track))
			low = middle + 1;
		else
			high = middle;
	}
	sealed_cursor->more = low < rows->bands;
	if (!sealed_cursor->more)
		return;
	sealed_cursor->band = low;
	sealed_cursor->head.node = rows->band[low].node;
	sealed_cursor->head.track = rows->band[low].track;
}

void
sealed_cursor_leave(
    struct sealed_cursor *sealed_cursor, uint32_t node, uint32_t track)
{
	if (track < UINT32_MAX)
		sealed_cursor_seek(sealed_cursor, node, track + 1);
	else if (node < UINT32_MAX)
		sealed_cursor_seek(sealed_cursor, node + 1, 0);
	else
		sealed_cursor->more = false;
}

/* ---- records of a band ---- */

/* The part of the band at hand that is in the chunk, from `from_ns` on; false
 * when there is none. */
static bool
enter(struct sealed_cursor *sealed_cursor, uint32_t number, int64_t from_ns)
{
	struct sealed_row_rows *rows = sealed_cursor->rows;
	const struct sealed_row_band *band = &rows->band[number];
	uint32_t low = band->from, high = band->to;

	sealed_cursor->row = sealed_cursor->end = 0;
	if (band->node != sealed_cursor->head.node ||
	    band->track != sealed_cursor->head.track ||
	    !sealed_row_read_ids(rows))
		return false;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (rows->time_ns[middle] < from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == band->to)
		return false;
	sealed_cursor->row = low;
	sealed_cursor->end = band->to;
	return true;
}

/* Does the band at hand go on behind the chunk? */
static bool
may_go_on(const struct sealed_cursor *sealed_cursor)
{
	const struct sealed_row_rows *rows = sealed_cursor->rows;
	const struct sealed_row_band *last;

	if (sealed_cursor->chunk == NULL)
		return false;
	last = &rows->band[rows->bands - 1];
	return last->node == sealed_cursor->head.node &&
	       last->track == sealed_cursor->head.track;
}

static bool
take(struct sealed_cursor *sealed_cursor, int64_t from_ns)
{
	if (enter(sealed_cursor, sealed_cursor->band, from_ns))
		return true;
	if (!may_go_on(sealed_cursor) ||
	    !load_from(sealed_cursor, sealed_cursor->head.node,
		sealed_cursor->head.track, from_ns))
		return false;
	sealed_cursor->band = 0;
	return enter(sealed_cursor, 0, from_ns);
}

/* To the next chunk that has some of the band. */
static bool
go_on(struct sealed_cursor *sealed_cursor)
{
	sealed_cursor->row = sealed_cursor->end = 0;
	while (may_go_on(sealed_cursor) && load_next(sealed_cursor)) {
		sealed_cursor->band = 0;
		if (enter(sealed_cursor, 0, INT64_MIN))
			return true;
	}
	return false;
}

bool
sealed_cursor_take(
    struct sealed_cursor *sealed_cursor, int64_t from_ns, int64_t *first_ns)
{
	bool there = take(sealed_cursor, from_ns);

	while (there && !sealed_row_read_bodies(sealed_cursor->rows))
		there = go_on(sealed_cursor);
	if (there)
		*first_ns = sealed_cursor->rows->time_ns[sealed_cursor->row];
	return there;
}

bool
sealed_cursor_next(struct sealed_cursor *sealed_cursor, struct head_item *item)
{
	while (sealed_cursor->row == sealed_cursor->end) {
		if (!go_on(sealed_cursor))
			return false;
		if (!sealed_row_read_bodies(sealed_cursor->rows))
			sealed_cursor->row = sealed_cursor->end;
	}
	sealed_row_get(sealed_cursor->rows, sealed_cursor->row++, item);
	return true;
}

static bool
give_rows(bool there, const struct sealed_cursor *sealed_cursor,
    struct sealed_row_rows **rows, uint32_t *first, uint32_t *end)
{
	if (!there)
		return false;
	*rows = sealed_cursor->rows;
	*first = sealed_cursor->row;
	*end = sealed_cursor->end;
	return true;
}

bool
sealed_cursor_take_rows(struct sealed_cursor *sealed_cursor, int64_t from_ns,
    struct sealed_row_rows **rows, uint32_t *first, uint32_t *end)
{
	return give_rows(
	    take(sealed_cursor, from_ns), sealed_cursor, rows, first, end);
}

bool
sealed_cursor_next_rows(struct sealed_cursor *sealed_cursor,
    struct sealed_row_rows **rows, uint32_t *first, uint32_t *end)
{
	return give_rows(go_on(sealed_cursor), sealed_cursor, rows, first, end);
}
