/*
 * compacted_row - records of one kind and hour as a chunk, and back.
 *
 * Rows lie in the order (node, track, time, stream, seq, index).  What many
 * have in common stands once: who they are of (series_blocks), which batch
 * brought them, and the shape of their bodies, of which there are few; what
 * differs between bodies of one shape is a column of the chunk for each place.
 * Bodies come back byte for byte.  The bytes are proto/store.md, "Compacted
 * rows".
 *
 * Reading is bounded as that of a chunk is, and goes as far as is asked for:
 * the series_blocks, then times and identities, then bodies.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROWS_COMPACTED_ROW_H
#define AGGREGATOR_ROWS_COMPACTED_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/chunk/chunk.h"
#include "aggregator/tables/row_block.h"
#include "proto/base/varint.h"

enum {
	COMPACTED_ROW_ROWS_MAX = 16 << 10, /* of a chunk */
	COMPACTED_ROW_BYTES_MAX =
	    2 << 20, /* of its bodies; a larger one is alone */
	COMPACTED_ROW_LEVEL_BITS = 28, /* a compacted run is level and number */
	COMPACTED_ROW_LEVELS = 8,
	COMPACTED_ROW_LEVEL_WHOLE =
	    COMPACTED_ROW_LEVELS - 1,       /* has all of an hour, once */
	COMPACTED_ROW_ROOM_BYTES = 32 << 20 /* of bodies that are read */
};

/* A record and where it lies. */
struct compacted_row_item {
	uint32_t node, track;
	struct row_block_item head;
};
/* By (node, track), then as row_block_compare. */
int compacted_row_compare(
    const struct compacted_row_item *a, const struct compacted_row_item *b);

/* ---- writing ---- */

struct compacted_row_writer; /* opaque; one for many chunks */

struct compacted_row_writer *compacted_row_writer_new(void);
void compacted_row_writer_free(struct compacted_row_writer **writer);
/* 1 to COMPACTED_ROW_ROWS_MAX items in order.  View, valid until the next call.
 */
struct text compacted_row_write(struct compacted_row_writer *writer,
    enum record_kind kind, const struct compacted_row_item *items,
    uint32_t count);

/* ---- reading ---- */

/* What stands before the chunk.  The count comes first, as in a head row. */
struct compacted_row_head {
	uint64_t rows;
	uint32_t node, track; /* of the first row */
	int64_t first_ns;     /* of the first row */
	int64_t least_ns, most_ns;
	struct text chunk;
};
bool compacted_row_get_head(struct text value, struct compacted_row_head *head);

/* The rows of one node and track. */
struct compacted_row_series_block {
	uint32_t node, track;
	uint32_t from, to; /* row numbers */
};

/* A chunk being read; zero it before the first use. */
struct compacted_row_rows {
	struct compacted_row_head head;
	uint32_t count, series_blocks;
	struct compacted_row_series_block *series_block;
	int64_t *time_ns; /* these from compacted_row_read_ids on */
	/* Of samples, from compacted_row_read_numbers on, else NULL: column
	 * after column, each with `count`. */
	const double *number;

	/* inside */
	bool has_ids, has_bodies, bad;
	struct buffer value; /* the bytes, ours */
	struct chunk_reader *chunk;
	struct buffer series_blocks_room, times, rows, batches, bodies, offsets,
	    values;
	struct buffer columns, numbers;
};
void compacted_row_rows_clear(struct compacted_row_rows *rows);

/* Each false when the chunk cannot be understood, then and from then on. */
bool compacted_row_open(struct compacted_row_rows *rows, struct text value);
bool compacted_row_read_ids(struct compacted_row_rows *rows);
bool compacted_row_read_bodies(struct compacted_row_rows *rows);

/* Row `i`, after compacted_row_read_bodies; the body is a view, valid until the
 * next compacted_row_open. */
void compacted_row_get(const struct compacted_row_rows *rows, uint32_t i,
    struct row_block_item *item);
/* The same without the body, after compacted_row_read_ids. */
void compacted_row_get_id(const struct compacted_row_rows *rows, uint32_t i,
    struct row_block_item *item);

/* Samples: how many values each row has, when all have as many; else 0. */
uint32_t compacted_row_values(struct compacted_row_rows *rows);
/* Value `i` of every row, when all rows have as many values: room for
 * `count` of them; texts are views.  False: read the bodies. */
bool compacted_row_read_value(struct compacted_row_rows *rows, uint32_t i,
    struct value *to, uint32_t count);

/* All values of samples as doubles, NaN for what is none.  False: read the
 * bodies. */
bool compacted_row_read_numbers(struct compacted_row_rows *rows);

/* ---- inside ---- */

/* Room for `count` things, from the front. */
void *compacted_row_room(struct buffer *buffer, size_t count, size_t bytes);
/* It cannot be understood: false. */
bool compacted_row_spoil(struct compacted_row_rows *rows);

#endif
