/*
 * compacted_row - records of one kind and hour, stored as a chunk.
 *
 * Rows are in the order of their series blocks (key_compare_series), then of
 * (time, stream, seq, index).  What many
 * rows share is stored once: their node and track (a series block), their
 * batch, and the template of their bodies, of which there are few.  What
 * differs between bodies of one template is stored as one column for each
 * field.  Reading returns every body byte for byte.  proto/store.md,
 * "Compacted rows", describes the bytes.
 *
 * Reading is bounded like that of a chunk.  It proceeds in steps, each only
 * when it is needed: series blocks, then times and identities, then bodies.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROWS_COMPACTED_ROW_H
#define AGGREGATOR_ROWS_COMPACTED_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/chunk/chunk.h"
#include "aggregator/tables/key.h"
#include "aggregator/tables/row_block.h"
#include "proto/base/varint.h"

enum {
	COMPACTED_ROW_ROWS_MAX = 16 << 10, /* in a chunk */
	/* Of the bodies in a chunk; a larger body has a chunk of its own. */
	COMPACTED_ROW_BYTES_MAX = 2 << 20,
	/* The number of a compacted slice is a level and a counter. */
	COMPACTED_ROW_LEVEL_BITS = 28,
	COMPACTED_ROW_LEVELS = 8,
	/* Of the single slice that has all of an hour. */
	COMPACTED_ROW_LEVEL_WHOLE = COMPACTED_ROW_LEVELS - 1,
	COMPACTED_ROW_ROOM_BYTES = 32 << 20, /* of unpacked bodies */
	/* Columns of values that stay unpacked; fewer of a chunk of many rows.
	 */
	COMPACTED_ROW_KEPT = 32,
	COMPACTED_ROW_KEPT_BYTES = 4 << 20,
};

static inline uint32_t
compacted_row_level(uint32_t slice)
{
	return slice >> COMPACTED_ROW_LEVEL_BITS;
}

/* A record and its series block. */
struct compacted_row_item {
	uint32_t node, track;
	struct row_block_item record;
};
/* Compares as key_compare_series, then as row_block_compare. */
int compacted_row_compare(enum record_kind kind,
    const struct compacted_row_item *a, const struct compacted_row_item *b);

/* ---- writing ---- */

struct compacted_row_writer; /* opaque; reusable for many chunks */

struct compacted_row_writer *compacted_row_writer_new(void);
void compacted_row_writer_free(struct compacted_row_writer **writer);
/* Encode 1 to COMPACTED_ROW_ROWS_MAX items, in order.  Returns a view, valid
 * until the next call. */
struct text compacted_row_write(struct compacted_row_writer *writer,
    enum record_kind kind, const struct compacted_row_item *items,
    uint32_t count);

/* ---- reading ---- */

/* The header before the chunk.  It begins with the row count, as a row block
 * does. */
struct compacted_row_header {
	uint64_t rows;
	uint32_t node, track; /* of the first row */
	int64_t first_ns;     /* of the first row */
	int64_t least_ns, most_ns;
	struct text chunk;
};
bool compacted_row_get_header(
    struct text value, struct compacted_row_header *header);

/* The rows of one node and track. */
struct compacted_row_series_block {
	uint32_t node, track;
	uint32_t from, to; /* row numbers; `to` is exclusive */
};

/* A chunk being read.  Zero it before the first use. */
struct compacted_row_rows {
	struct compacted_row_header header;
	uint32_t count, series_blocks;
	struct compacted_row_series_block *series_block;
	int64_t *time_ns; /* valid after compacted_row_read_times */
	/* Samples, after compacted_row_read_numbers, else NULL: the values
	 * column by column, `count` in each. */
	const double *number;

	/* private */
	bool has_times, has_ids, has_bodies, bad;
	struct {
		struct buffer values;
		uint32_t column; /* 0: none */
	} kept[COMPACTED_ROW_KEPT];
	uint32_t kept_next;
	struct buffer value; /* our copy of the bytes */
	struct chunk_reader *chunk;
	struct buffer series_blocks_room, times, rows, batches, bodies, offsets,
	    values;
	struct buffer columns, numbers;
};
void compacted_row_rows_clear(struct compacted_row_rows *rows);

/* Each returns false when the chunk is damaged; all later calls then do too. */
bool compacted_row_open(struct compacted_row_rows *rows, struct text value);
bool compacted_row_read_times(struct compacted_row_rows *rows);
bool compacted_row_read_ids(struct compacted_row_rows *rows);
bool compacted_row_read_bodies(struct compacted_row_rows *rows);

/* Row `i`; call compacted_row_read_bodies first.  The body is a view, valid
 * until the next compacted_row_open. */
void compacted_row_get(const struct compacted_row_rows *rows, uint32_t i,
    struct row_block_item *item);
/* The same without the body; call compacted_row_read_ids first. */
void compacted_row_get_id(const struct compacted_row_rows *rows, uint32_t i,
    struct row_block_item *item);

/* Samples: the number of values in each row; 0 when rows differ. */
uint32_t compacted_row_values(struct compacted_row_rows *rows);
/* Value `i` of every row, if all rows have the same number of values.  `to`
 * has room for `count` of them; texts are views.  False: read the bodies
 * instead. */
bool compacted_row_read_value(struct compacted_row_rows *rows, uint32_t i,
    struct value *to, uint32_t count);

/* The same as a view, valid until some other columns were asked for; NULL: read
 * the bodies instead. */
const struct value *compacted_row_column(
    struct compacted_row_rows *rows, uint32_t i);

/* All values of the samples as doubles; NaN for a value that is no number.
 * False: read the bodies instead. */
bool compacted_row_read_numbers(struct compacted_row_rows *rows);

/* ---- private ---- */

/* Memory for `count` elements; old contents are lost. */
void *compacted_row_room(struct buffer *buffer, size_t count, size_t bytes);
/* Mark the chunk as damaged; returns false. */
bool compacted_row_set_damaged(struct compacted_row_rows *rows);

#endif
