/*
 * native_private - what writer and reader of the format Native share.
 *
 * A block is: varint number of columns, varint number of rows, then each
 * column: name and type as texts, then its values without anything between
 * them.  Numbers are little-endian, a text is a varint of its bytes and the
 * bytes.  An array column has first a UInt64 for each row, the number of
 * elements up to the end of that row's array, then all elements.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CLICKHOUSE_NATIVE_PRIVATE_H
#define PROTO_CLICKHOUSE_NATIVE_PRIVATE_H

#include <endian.h>
#include <stdbool.h>

#include "proto/clickhouse/native.h"

enum native_family { NATIVE_UINT, NATIVE_INT, NATIVE_FLOAT, NATIVE_TEXT };

struct native_shape {
	const char *name;          /* as the server writes it */
	enum native_family family; /* of the values or elements */
	unsigned bytes;            /* of a value or element; 0 for texts */
	bool array;
};

/* Aborts when there is no such type. */
const struct native_shape *native_shape(enum native_type type);

/* ---- reading: native_read.c fills, native_rows.c shows ---- */

enum native_read_step {
	READ_COLUMNS,
	READ_ROWS,
	READ_NAME,
	READ_TYPE,
	READ_ENDS,
	READ_NUMBERS,
	READ_TEXTS,
	READ_COMPLETE,
};

struct native_read_column {
	const struct native_shape *shape;
	const char *name;
	uint64_t elements;   /* of an array column, or rows */
	size_t ends, values; /* where they begin in the block */
	uint32_t *texts;     /* where each begins in the block */
	uint32_t room;       /* of texts */
};

struct native_reader {
	struct buffer bytes; /* the block, and what came after it */
	size_t block;        /* where the block begins in them */
	size_t at;           /* up to here of the block was looked at */
	enum native_read_step step;
	bool refused;
	unsigned count, column; /* columns; the one that is read */
	uint32_t rows;
	uint32_t seen;  /* texts of the column that is read */
	uint64_t texts; /* of all columns up to that */
	struct native_read_column columns[];
};

static inline uint64_t
native_number_at(const void *from)
{
	uint64_t little;

	memcpy(&little, from, sizeof(little));
	return le64toh(little);
}

#endif
