/*
 * compacted_cursor - reads a compacted slice of an hour, by series block and by
 * record.
 *
 * A chunk is unpacked only as far as needed.  Some chunks stay unpacked for the
 * next page, which usually continues in the same ones.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROWS_COMPACTED_CURSOR_H
#define AGGREGATOR_ROWS_COMPACTED_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/rows/compacted_row.h"
#include "aggregator/tables/key.h"

/* Unpacked chunks that a cache keeps between pages. */
enum { COMPACTED_CURSOR_CACHED = 4 };

/* Unpacked chunks. */
struct compacted_cursor_chunk;
struct compacted_cursor_cache {
	struct compacted_cursor_chunk *first; /* most recently used first */
};
void compacted_cursor_cache_clear(struct compacted_cursor_cache *cache);

struct compacted_cursor {
	struct db_txn *txn;
	struct compacted_cursor_cache *cache;
	struct db_cursor *cursor;
	struct compacted_cursor_chunk *chunk; /* the current one, or NULL */
	struct compacted_row_rows *rows;      /* of that chunk */
	uint32_t series_block;                /* the current one, if `more` */
	uint32_t row, end; /* the row that compacted_cursor_next returns next */
	/* The slice; node and track of the current series block. */
	struct key_row_block row_key;
	bool more;
};

/* `row_key` gives the slice.  The cursor has no position until the first
 * seek. */
struct compacted_cursor *compacted_cursor_open(struct db_txn *txn,
    struct compacted_cursor_cache *cache, const struct key_row_block *row_key);
void compacted_cursor_close(struct compacted_cursor **compacted_cursor);

/* Move to the first series block at or after (node, track), if there is one. */
void compacted_cursor_seek(
    struct compacted_cursor *compacted_cursor, uint32_t node, uint32_t track);
/* Move to the first series block after (node, track), if there is one. */
void compacted_cursor_pass(
    struct compacted_cursor *compacted_cursor, uint32_t node, uint32_t track);

/* Begin with the records of the current series block from `from_ns` on.
 * Returns false when there are none, else the time of the first one.  Each
 * call of compacted_cursor_next then returns one record; its body is a view,
 * valid until the next call.  The current series block stays the same even if
 * its records come from several chunks: move on with compacted_cursor_pass. */
bool compacted_cursor_take(struct compacted_cursor *compacted_cursor,
    int64_t from_ns, int64_t *first_ns);
bool compacted_cursor_next(
    struct compacted_cursor *compacted_cursor, struct row_block_item *item);
/* After compacted_cursor_take: no record of the series block is later. */
int64_t compacted_cursor_last_ns(
    const struct compacted_cursor *compacted_cursor);

/* May the current series block have rows with from_ns <= time < to_ns?  This is
 * known without unpacking anything. */
bool compacted_cursor_may_have(const struct compacted_cursor *compacted_cursor,
    int64_t from_ns, int64_t to_ns);
/* The same, but returning many records at once: the rows of a chunk from
 * `*first` on, before `*end`, with times unpacked. */
bool compacted_cursor_take_rows(struct compacted_cursor *compacted_cursor,
    int64_t from_ns, struct compacted_row_rows **rows, uint32_t *first,
    uint32_t *end);
/* The rows that compacted_cursor_take has found. */
void compacted_cursor_taken_rows(
    const struct compacted_cursor *compacted_cursor,
    struct compacted_row_rows **rows, uint32_t *first, uint32_t *end);
bool compacted_cursor_next_rows(struct compacted_cursor *compacted_cursor,
    struct compacted_row_rows **rows, uint32_t *first, uint32_t *end);

#endif
