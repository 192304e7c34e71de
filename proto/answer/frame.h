/*
 * frame - the columns of a data frame: typed values of a batch of rows.
 *
 * Values wait in the columns until a format has written them (arrow.h,
 * parquet.h).  Numbers are in the order of the machine.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_ANSWER_FRAME_H
#define PROTO_ANSWER_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/buffer.h"
#include "proto/hash/string_table.h"

enum frame_type {
	FRAME_BOOL,
	FRAME_INT64,
	FRAME_UINT64,
	FRAME_FLOAT64,
	FRAME_TIME,     /* ns since 1970, UTC */
	FRAME_DURATION, /* ns */
	FRAME_TEXT,
	FRAME_NAMES, /* texts of which there are few */
};

/* Initialize it with frame_init. */
struct frame_column {
	const char *name, *unit; /* unit NULL: none */
	enum frame_type type;
	uint32_t rows, unknown;
	struct buffer known;  /* a bit for each row; empty: all are known */
	struct buffer values; /* of a type: bits; numbers; the ends of texts,
				 with a 0 in front; numbers of names */
	struct buffer texts;
	struct string_table names;
	uint32_t last;  /* the name of the row before */
	uint32_t *next; /* by name: what followed it, when it came last */
	uint32_t next_room;
	uint32_t names_sent; /* arrow: UINT32_MAX: no dictionary was sent */
};

void frame_init(struct frame_column *column, const char *name, const char *unit,
    enum frame_type type);
void frame_clear(struct frame_column *column);
/* Forget the rows.  The names stay, with their numbers. */
void frame_forget_rows(struct frame_column *column);
/* Forget the names, too. */
void frame_forget_names(struct frame_column *column);

/* Append one value, of the type of the column. */
void frame_add_unknown(struct frame_column *column);
void frame_add_bool(struct frame_column *column, bool value);
/* For both types of text.  Bytes that are not UTF-8 become question marks. */
void frame_add_text(struct frame_column *column, struct text text);

/* Private, of frame_add_number. */
void frame_add_known_bit(struct frame_column *column, bool is_known);

/* `bits` are those of the number. */
static inline void
frame_add_number(struct frame_column *column, uint64_t bits)
{
	memcpy(buffer_need(&column->values, sizeof(bits)), &bits, sizeof(bits));
	column->values.bytes += sizeof(bits);
	if (column->unknown > 0)
		frame_add_known_bit(column, true);
	column->rows++;
}

/* Is the value of this row known? */
static inline bool
frame_is_known(const struct frame_column *column, uint32_t row)
{
	return column->unknown == 0 ||
	       (column->known.at[row / 8] >> row % 8 & 1) != 0;
}

#endif
