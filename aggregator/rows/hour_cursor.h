/*
 * hour_cursor - reads the slices of one hour, row blocks and compacted ones, in
 * the order of series blocks.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROWS_HOUR_CURSOR_H
#define AGGREGATOR_ROWS_HOUR_CURSOR_H

#include "aggregator/rows/merge.h"
#include "aggregator/rows/compacted_cursor.h"

/* A slice being read. */
struct hour_cursor_input {
	struct db_cursor *cursor; /* row blocks; NULL: compacted */
	struct text value;        /* the current row block */
	/* Compacted; NULL: row blocks. */
	struct compacted_cursor *compacted_cursor;
	struct key_row_block row_key; /* of the current row */
	bool more;                    /* the slice has a current row */
	bool in_merge;                /* compacted: in use by the merge */
};

/* The slices to read: the first and the last number of each kind. */
struct hour_cursor_choice {
	uint32_t row_blocks_from, row_blocks_to;
	uint32_t compacted_from, compacted_to;
};
extern const struct hour_cursor_choice hour_cursor_all;

struct hour_cursor {
	struct hour_cursor_input
	    *at; /* a heap, in the order of key_compare_series */
	uint32_t count, room;
	bool in_merge; /* the merge uses some of them */
};

/* Open the slices of the hour of `first`, each at its (node, track). */
void hour_cursor_open(struct hour_cursor *hour_cursor, struct db_txn *txn,
    struct compacted_cursor_cache *cache, const struct key_row_block *first,
    const struct hour_cursor_choice *choice);
/* Keeps the memory for the next hour; hour_cursor_clear frees it. */
void hour_cursor_close(struct hour_cursor *hour_cursor);
void hour_cursor_clear(struct hour_cursor *hour_cursor);

/* The lowest next (node, track) of all slices; false when all have ended. */
bool hour_cursor_series_block(
    struct hour_cursor *hour_cursor, struct key_row_block *key);
/* Add the rows of that series block to `merge` and move past it.  The merge is
 * valid until the next call of any of these functions. */
void hour_cursor_collect(struct hour_cursor *hour_cursor,
    const struct key_row_block *key, struct merge *merge, int64_t from_ns);
/* The compacted slice that alone has records of that series block, if there is
 * one; call hour_cursor_skip when done. */
struct compacted_cursor *hour_cursor_alone(
    struct hour_cursor *hour_cursor, const struct key_row_block *key);
/* Skip the series block: continue at `next`. */
void hour_cursor_skip(struct hour_cursor *hour_cursor,
    const struct key_row_block *key, const struct key_row_block *next);

/* Encode a key into `to`; returns it as a text. */
struct text hour_cursor_key(unsigned char to[static KEY_ROW_BLOCK_BYTES],
    const struct key_row_block *row_key);

#endif
