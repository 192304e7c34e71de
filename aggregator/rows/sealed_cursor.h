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

enum { SEALED_KEPT = 4 }; /* chunks that stay unpacked while nobody reads */

/* Unpacked chunks. */
struct sealed_chunk;
struct sealed_cache {
	struct sealed_chunk *first; /* the one used last is the first */
};
void sealed_cache_clear(struct sealed_cache *cache);

struct sealed {
	struct sealed_cache *cache;
	struct db_cursor *cursor;
	struct sealed_chunk *chunk; /* at hand, or NULL */
	struct seal_rows *rows;     /* of it */
	uint32_t band;              /* at hand, when there is more */
	uint32_t row, end;          /* what sealed_next gives next */
	struct key_head head; /* the run; node and track of the band at hand */
	bool more;
};

/* `head` says which run; it stands nowhere yet. */
struct sealed *sealed_open(struct db_txn *txn, struct sealed_cache *cache,
    const struct key_head *head);
void sealed_close(struct sealed **sealed);

/* To the first band at or behind (node, track), if there is one. */
void sealed_seek(struct sealed *sealed, uint32_t node, uint32_t track);
/* To the first one behind that. */
void sealed_leave(struct sealed *sealed, uint32_t node, uint32_t track);

/* Begin with the records of the band at hand, those from `from_ns` on: false
 * when there are none, else the time of the first.  Then one after another;
 * bodies are views, valid until the next call.  The band at hand stays that,
 * whatever chunk its records come from: go on with sealed_leave. */
bool sealed_take(struct sealed *sealed, int64_t from_ns, int64_t *first_ns);
bool sealed_next(struct sealed *sealed, struct head_item *item);

/* The same as rows of a chunk, from `*first` to before `*end`, times and
 * identities of which are unpacked. */
bool sealed_take_rows(struct sealed *sealed, int64_t from_ns,
    struct seal_rows **rows, uint32_t *first, uint32_t *end);
bool sealed_next_rows(struct sealed *sealed, struct seal_rows **rows,
    uint32_t *first, uint32_t *end);

#endif
