/*
 * sealed_cursor - a sealed run of an hour.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rows/sealed_cursor.h"

#include <stdlib.h>

#include "aggregator/tables/tables.h"

struct sealed_chunk {
	struct seal_rows rows;
	bool used;
	struct sealed_chunk *next;
};

/* ---- unpacked chunks ---- */

static void
free_chunk(struct sealed_chunk *chunk)
{
	seal_rows_clear(&chunk->rows);
	free(chunk);
}

void
sealed_cache_clear(struct sealed_cache *cache)
{
	struct sealed_chunk *chunk;

	while ((chunk = cache->first) != NULL) {
		cache->first = chunk->next;
		free_chunk(chunk);
	}
}

static void
release(struct sealed *sealed)
{
	struct sealed_chunk **at = &sealed->cache->first, *chunk;
	unsigned kept = 0;

	if (sealed->chunk == NULL)
		return;
	sealed->chunk->used = false;
	sealed->chunk = NULL;
	while ((chunk = *at) != NULL) {
		if (chunk->used || ++kept <= SEALED_KEPT) {
			at = &chunk->next;
			continue;
		}
		*at = chunk->next;
		free_chunk(chunk);
	}
}

/* One that nobody uses: with these very bytes, or any. */
static struct sealed_chunk *
find_chunk(struct sealed_cache *cache, struct text value)
{
	struct sealed_chunk **at = &cache->first, **found = NULL, *chunk;
	unsigned chunks = 0;

	for (; (chunk = *at) != NULL; at = &chunk->next, chunks++) {
		if (chunk->used)
			continue;
		found = at;
		if (!chunk->rows.bad &&
		    text_equal(buffer_text(&chunk->rows.value), value))
			break;
	}
	if (chunk == NULL && chunks < SEALED_KEPT)
		return NULL;
	if (found == NULL)
		return NULL;
	chunk = *found;
	*found = chunk->next;
	return chunk;
}

static void
use_chunk(struct sealed *sealed, struct text value)
{
	struct sealed_cache *cache = sealed->cache;
	struct sealed_chunk *chunk;

	release(sealed);
	chunk = find_chunk(cache, value);
	if (chunk == NULL)
		chunk = calloc(1, sizeof(*chunk));
	if (chunk == NULL)
		abort();
	if (chunk->rows.bad ||
	    !text_equal(buffer_text(&chunk->rows.value), value))
		seal_open(&chunk->rows, value);
	chunk->used = true;
	chunk->next = cache->first;
	cache->first = chunk;
	sealed->chunk = chunk;
	sealed->rows = &chunk->rows;
}

/* ---- the run ---- */

struct sealed *
sealed_open(
    struct db_txn *txn, struct sealed_cache *cache, const struct key_head *head)
{
	struct sealed *sealed = calloc(1, sizeof(*sealed));

	if (sealed == NULL)
		abort();
	sealed->cache = cache;
	sealed->head = *head;
	sealed->cursor = db_cursor_open(txn, TABLES_CHUNKS);
	return sealed;
}

void
sealed_close(struct sealed **old)
{
	struct sealed *sealed = *old;

	*old = NULL;
	if (sealed == NULL)
		return;
	release(sealed);
	db_cursor_close(&sealed->cursor);
	free(sealed);
}

static bool
is_of_run(const struct sealed *sealed, struct text key)
{
	const struct key_head *run = &sealed->head;
	struct key_head head;

	return key_get_head(key, &head) && head.partition == run->partition &&
	       head.kind == run->kind && head.bucket == run->bucket &&
	       head.run == run->run;
}

/* Chunks that cannot be understood are passed over, as such rows are. */
static bool
load(struct sealed *sealed, bool found, struct text key, struct text value)
{
	for (; found && is_of_run(sealed, key);
	     found = db_next(sealed->cursor, &key, &value)) {
		use_chunk(sealed, value);
		if (!sealed->rows->bad)
			return true;
	}
	release(sealed);
	return false;
}

static bool
load_from(struct sealed *sealed, uint32_t node, uint32_t track, int64_t time_ns)
{
	unsigned char bytes[KEY_HEAD_BYTES];
	struct key_head to = sealed->head;
	struct text key, value;
	bool found;

	to.node = node;
	to.track = track;
	to.first_ns = time_ns;
	to.row = 0;
	key_put_head(bytes, &to);
	found = db_seek(sealed->cursor,
	    (struct text){ (const char *)bytes, sizeof(bytes) }, &key, &value);
	return load(sealed, found, key, value);
}

static bool
load_next(struct sealed *sealed)
{
	struct text key, value;
	bool found = db_next(sealed->cursor, &key, &value);

	return load(sealed, found, key, value);
}

static bool
is_before(const struct seal_band *band, uint32_t node, uint32_t track)
{
	return band->node != node ? band->node < node : band->track < track;
}

void
sealed_seek(struct sealed *sealed, uint32_t node, uint32_t track)
{
	const struct seal_rows *rows = sealed->rows;
	uint32_t low = 0, high;

	/* Always forward: what is there is in the chunk at hand or behind. */
	sealed->more =
	    (sealed->chunk != NULL &&
		!is_before(&rows->band[rows->bands - 1], node, track)) ||
	    load_from(sealed, node, track, INT64_MIN);
	if (!sealed->more)
		return;
	rows = sealed->rows;
	high = rows->bands;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (is_before(&rows->band[middle], node, track))
			low = middle + 1;
		else
			high = middle;
	}
	sealed->more = low < rows->bands;
	if (!sealed->more)
		return;
	sealed->band = low;
	sealed->head.node = rows->band[low].node;
	sealed->head.track = rows->band[low].track;
}

void
sealed_leave(struct sealed *sealed, uint32_t node, uint32_t track)
{
	if (track < UINT32_MAX)
		sealed_seek(sealed, node, track + 1);
	else if (node < UINT32_MAX)
		sealed_seek(sealed, node + 1, 0);
	else
		sealed->more = false;
}

/* ---- records of a band ---- */

/* The part of the band at hand that is in the chunk, from `from_ns` on; false
 * when there is none. */
static bool
enter(struct sealed *sealed, uint32_t number, int64_t from_ns)
{
	struct seal_rows *rows = sealed->rows;
	const struct seal_band *band = &rows->band[number];
	uint32_t low = band->from, high = band->to;

	sealed->row = sealed->end = 0;
	if (band->node != sealed->head.node ||
	    band->track != sealed->head.track || !seal_read_ids(rows))
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
	sealed->row = low;
	sealed->end = band->to;
	return true;
}

/* Does the band at hand go on behind the chunk? */
static bool
may_go_on(const struct sealed *sealed)
{
	const struct seal_rows *rows = sealed->rows;
	const struct seal_band *last;

	if (sealed->chunk == NULL)
		return false;
	last = &rows->band[rows->bands - 1];
	return last->node == sealed->head.node &&
	       last->track == sealed->head.track;
}

static bool
take(struct sealed *sealed, int64_t from_ns)
{
	if (enter(sealed, sealed->band, from_ns))
		return true;
	if (!may_go_on(sealed) ||
	    !load_from(sealed, sealed->head.node, sealed->head.track, from_ns))
		return false;
	sealed->band = 0;
	return enter(sealed, 0, from_ns);
}

/* To the next chunk that has some of the band. */
static bool
go_on(struct sealed *sealed)
{
	sealed->row = sealed->end = 0;
	while (may_go_on(sealed) && load_next(sealed)) {
		sealed->band = 0;
		if (enter(sealed, 0, INT64_MIN))
			return true;
	}
	return false;
}

bool
sealed_take(struct sealed *sealed, int64_t from_ns, int64_t *first_ns)
{
	bool there = take(sealed, from_ns);

	while (there && !seal_read_bodies(sealed->rows))
		there = go_on(sealed);
	if (there)
		*first_ns = sealed->rows->time_ns[sealed->row];
	return there;
}

bool
sealed_next(struct sealed *sealed, struct head_item *item)
{
	while (sealed->row == sealed->end) {
		if (!go_on(sealed))
			return false;
		if (!seal_read_bodies(sealed->rows))
			sealed->row = sealed->end;
	}
	seal_get(sealed->rows, sealed->row++, item);
	return true;
}

static bool
give_rows(bool there, const struct sealed *sealed, struct seal_rows **rows,
    uint32_t *first, uint32_t *end)
{
	if (!there)
		return false;
	*rows = sealed->rows;
	*first = sealed->row;
	*end = sealed->end;
	return true;
}

bool
sealed_take_rows(struct sealed *sealed, int64_t from_ns,
    struct seal_rows **rows, uint32_t *first, uint32_t *end)
{
	return give_rows(take(sealed, from_ns), sealed, rows, first, end);
}

bool
sealed_next_rows(struct sealed *sealed, struct seal_rows **rows,
    uint32_t *first, uint32_t *end)
{
	return give_rows(go_on(sealed), sealed, rows, first, end);
}
