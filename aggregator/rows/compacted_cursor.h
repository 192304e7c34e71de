/*
 * compacted_cursor - a compacted run of an hour, series_block by series_block
 * and record by record.
 *
 * Chunks are unpacked as far as they are needed, and some stay unpacked for
 * the next page, which usually goes on in the same ones.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROWS_COMPACTED_CURSOR_H
#define AGGREGATOR_ROWS_COMPACTED_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/rows/compacted_row.h"
#include "aggregator/tables/key.h"

enum {
	COMPACTED_CURSOR_KEPT = 4
}; /* chunks that stay unpacked while nobody reads */

/* Unpacked chunks. */
struct compacted_cursor_chunk;
struct compacted_cursor_cache {
	struct compacted_cursor_chunk
	    *first; /* the one used last is the first */
};
void compacted_cursor_cache_clear(struct compacted_cursor_cache *cache);

struct compacted_cursor {
	struct compacted_cursor_cache *cache;
	struct db_cursor *cursor;
	struct compacted_cursor_chunk *chunk; /* at hand, or NULL */
	struct compacted_row_rows *rows;      /* of it */
	uint32_t series_block;                /* at hand, when there is more */
	uint32_t row, end; /* what compacted_cursor_next gives next */
	struct key_row_block
	    head; /* the run; node and track of the series_block at hand */
	bool more;
};

/* `head` says which run; it stands nowhere yet. */
struct compacted_cursor *compacted_cursor_open(struct db_txn *txn,
    struct compacted_cursor_cache *cache, const struct key_row_block *head);
void compacted_cursor_close(struct compacted_cursor **compacted_cursor);

/* To the first series_block at or behind (node, track), if there is one. */
void compacted_cursor_seek(
    struct compacted_cursor *compacted_cursor, uint32_t node, uint32_t track);
/* To the first one behind that. */
void compacted_cursor_leave(
    struct compacted_cursor *compacted_cursor, uint32_t node, uint32_t track);

/* Begin with the records of the series_block at hand, those from `from_ns` on:
 * false when there are none, else the time of the first.  Then one after
 * another; bodies are views, valid until the next call.  The series_block at
 * hand stays that, whatever chunk its records come from: go on with
 * compacted_cursor_leave. */
bool compacted_cursor_take(struct compacted_cursor *compacted_cursor,
    int64_t from_ns, int64_t *first_ns);
bool compacted_cursor_next(
    struct compacted_cursor *compacted_cursor, struct row_block_item *item);

/* The same as rows of a chunk, from `*first` to before `*end`, times and
 * identities of which are unpacked. */
bool compacted_cursor_take_rows(struct compacted_cursor *compacted_cursor,
    int64_t from_ns, struct compacted_row_rows **rows, uint32_t *first,
    uint32_t *end);
bool compacted_cursor_next_rows(struct compacted_cursor *compacted_cursor,
    struct compacted_row_rows **rows, uint32_t *first, uint32_t *end);

#endif
