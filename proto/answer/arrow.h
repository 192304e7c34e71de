/*
 * arrow - columns of values as a stream of Apache Arrow.
 *
 * The format is the Arrow IPC streaming format, version 5 of its metadata: a
 * schema, then batches of rows.  A column of ARROW_NAMES has numbers into a
 * dictionary of its names; one that grew is sent again whole before the next
 * batch, never as a delta, which several readers do not know.
 *
 * Values wait in the columns until arrow_put_batch.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_ANSWER_ARROW_H
#define PROTO_ANSWER_ARROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "proto/base/buffer.h"
#include "proto/hash/string_table.h"

enum arrow_type {
	ARROW_BOOL,
	ARROW_INT64,
	ARROW_UINT64,
	ARROW_FLOAT64,
	ARROW_TIME,     /* ns since 1970, UTC */
	ARROW_DURATION, /* ns */
	ARROW_TEXT,
	ARROW_NAMES,
};

/* Initialize it with arrow_init. */
struct arrow_column {
	const char *name, *unit; /* unit NULL: none */
	enum arrow_type type;
	uint32_t rows, unknown;
	struct buffer known;  /* a bit for each row */
	struct buffer values; /* bits, numbers, or the ends of texts */
	struct buffer texts;
	struct string_table names;
	uint32_t last;       /* the name of the row before */
	uint32_t names_sent; /* UINT32_MAX: no dictionary was sent */
};

void arrow_init(struct arrow_column *column, const char *name, const char *unit,
    enum arrow_type type);
void arrow_clear(struct arrow_column *column);

/* Append one value, of the type of the column: `bits` are those of the number.
 */
void arrow_add_unknown(struct arrow_column *column);
void arrow_add_bool(struct arrow_column *column, bool value);
void arrow_add_bits(struct arrow_column *column, uint64_t bits);
/* For both types of text.  Bytes that are not UTF-8 become question marks. */
void arrow_add_text(struct arrow_column *column, struct text text);

/* `about`: the value of the member "poolscope" of the schema's metadata. */
void arrow_put_schema(FILE *file, const struct arrow_column *columns,
    uint32_t count, struct text about);
/* The rows that wait; all columns have the same number. */
void arrow_put_batch(
    FILE *file, struct arrow_column *columns, uint32_t count, uint32_t rows);
/* A stream without it ends too early. */
void arrow_put_end(FILE *file);

#endif
