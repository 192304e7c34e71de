/*
 * hour_cursor - the runs of one hour side by side, heads and compacted ones,
 * each at its place, so that they can be read as one. SPDX-License-Identifier:
 * MIT
 */
#ifndef AGGREGATOR_ROWS_HOUR_CURSOR_H
#define AGGREGATOR_ROWS_HOUR_CURSOR_H

#include "aggregator/rows/merge.h"
#include "aggregator/rows/compacted_cursor.h"

/* A run. */
struct merge_input {
	struct db_cursor *cursor;                  /* heads */
	struct text value;                         /* heads: the row at hand */
	struct compacted_cursor *compacted_cursor; /* or a compacted run */
	struct key_row_block head;                 /* of what is at hand */
	bool more; /* it is there, and of this run */
	bool lent; /* compacted: to the merge */
};

/* Which runs: first and last of each kind. */
struct hour_cursor_choice {
	uint32_t row_blocks_from, row_blocks_to;
	uint32_t compacted_from, compacted_to;
};
extern const struct hour_cursor_choice hour_cursor_all;

struct hour_cursor {
	struct merge_input *at; /* a heap by (node, track) */
	uint32_t count, room;
	bool lent; /* some of them are */
};

/* Open the runs of the hour of `first`, each at its (node, track). */
void hour_cursor_open(struct hour_cursor *hour_cursor, struct db_txn *txn,
    struct compacted_cursor_cache *cache, const struct key_row_block *first,
    const struct hour_cursor_choice *choice);
/* The room stays: hour_cursor_clear. */
void hour_cursor_close(struct hour_cursor *hour_cursor);
void hour_cursor_clear(struct hour_cursor *hour_cursor);

/* The least node and track that any run has next; false: all are at their
 * end. */
bool hour_cursor_series_block(
    struct hour_cursor *hour_cursor, struct key_row_block *key);
/* Put the rows of that series_block into `merge`, and go on behind it.  The
 * merge may be used until the next call of any of these. */
void hour_cursor_collect(struct hour_cursor *hour_cursor,
    const struct key_row_block *key, struct merge *merge, int64_t from_ns);
/* The compacted run that has all of the hour's records of that series_block,
 * when there is one and no other has any; then go on with hour_cursor_pass. */
struct compacted_cursor *hour_cursor_alone(
    struct hour_cursor *hour_cursor, const struct key_row_block *key);
/* Or leave it: go on at `next`. */
void hour_cursor_pass(struct hour_cursor *hour_cursor,
    const struct key_row_block *key, const struct key_row_block *next);

/* A key as a text in `to`. */
struct text merge_input_key(unsigned char to[static KEY_ROW_BLOCK_BYTES],
    const struct key_row_block *head);

#endif
