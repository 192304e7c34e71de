/*
 * sealed_cursor - a sealed run of an hour, band by band and record by record.
 *
 * Chunks are unpacked as far as they are needed, and some stay unpacked for
 * the next page, which usually goes on in the same ones.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROWS_SEALED_CURSOR_H
#define AGGREGATOR_ROWS_SEALED_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/rows/sealed_row.h"
#include "aggregator/tables/key.h"

enum {
	SEALED_CURSOR_KEPT = 4
}; /* chunks that stay unpacked while nobody reads */

/* Unpacked chunks. */
struct sealed_cursor_chunk;
struct sealed_cursor_cache {
	struct sealed_cursor_chunk *first; /* the one used last is the first */
};
void sealed_cursor_cache_clear(struct sealed_cursor_cache *cache);

struct sealed_cursor {
	struct sealed_cursor_cache *cache;
	struct db_cursor *cursor;
	struct sealed_cursor_chunk *chunk; /* at hand, or NULL */
	struct sealed_row_rows *rows;      /* of it */
	uint32_t band;                     /* at hand, when there is more */
	uint32_t row, end;    /* what sealed_cursor_next gives next */
	struct key_head head; /* the run; node and track of the band at hand */
	bool more;
};

/* `head` says which run; it stands nowhere yet. */
struct sealed_cursor *sealed_cursor_open(struct db_txn *txn,
    struct sealed_cursor_cache *cache, const struct key_head *head);
void sealed_cursor_close(struct sealed_cursor **sealed_cursor);

/* To the first band at or behind (node, track), if there is one. */
void sealed_cursor_seek(
    struct sealed_cursor *sealed_cursor, uint32_t node, uint32_t track);
/* To the first one behind that. */
void sealed_cursor_leave(
    struct sealed_cursor *sealed_cursor, uint32_t node, uint32_t track);

/* Begin with the records of the band at hand, those from `from_ns` on: false
 * when there are none, else the time of the first.  Then one after another;
 * bodies are views, valid until the next call.  The band at hand stays that,
 * whatever chunk its records come from: go on with sealed_cursor_leave. */
bool sealed_cursor_take(
    struct sealed_cursor *sealed_cursor, int64_t from_ns, int64_t *first_ns);
bool sealed_cursor_next(
    struct sealed_cursor *sealed_cursor, struct head_item *item);

/* The same as rows of a chunk, from `*first` to before `*end`, times and
 * identities of which are unpacked. */
bool sealed_cursor_take_rows(struct sealed_cursor *sealed_cursor,
    int64_t from_ns, struct sealed_row_rows **rows, uint32_t *first,
    uint32_t *end);
bool sealed_cursor_next_rows(struct sealed_cursor *sealed_cursor,
    struct sealed_row_rows **rows, uint32_t *first, uint32_t *end);

#endif
