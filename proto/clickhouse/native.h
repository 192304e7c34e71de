/*
 * native - write rows as a block of ClickHouse's format Native.
 *
 * A block is one insert: POST it as the body of "INSERT INTO t (columns)
 * FORMAT Native".  It holds whole columns, so rows are collected by column
 * first.  Floats keep every bit, NaN payloads and -0.0 too; texts are bytes
 * without a character set, NUL included.
 *
 * A wrong column, type or order of calls is a bug of the caller and ends the
 * process.
 *
 *	native_put_uint(block, 0, 7);
 *	native_put_text(block, 1, text_of("x"));   -- column 1 is an array
 *	native_put_text(block, 1, text_of("y"));
 *	native_end_array(block, 1);                -- the row is complete
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CLICKHOUSE_NATIVE_H
#define PROTO_CLICKHOUSE_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/buffer.h"
#include "proto/base/text.h"

enum native_type {
	NATIVE_UINT8,
	NATIVE_UINT16,
	NATIVE_UINT32,
	NATIVE_UINT64,
	NATIVE_INT32,
	NATIVE_INT64,
	NATIVE_FLOAT64,
	NATIVE_STRING,
	NATIVE_UINT8_ARRAY,
	NATIVE_UINT64_ARRAY,
	NATIVE_FLOAT64_ARRAY,
	NATIVE_STRING_ARRAY,
};

enum {
	/* A server divides an insert of more rows into several parts, and
	 * then stores all of it or a piece of it. */
	NATIVE_ROWS_MAX = 1048449,
	NATIVE_BLOCK_BYTES_MAX = 256 << 20,
	NATIVE_TEXT_BYTES_MAX = 64 << 20, /* of a text */
	NATIVE_COLUMNS_MAX = 64,
};

/* Of the name that the server has for it; there must be such a type. */
enum native_type native_type_of(const char *name);

/* The name is that of the table's column, at most NAME_BYTES_MAX bytes. */
struct native_column {
	const char *name;
	enum native_type type;
};

/* Rows that are collected by column; used again after native_reset. */
struct native_block;

/* `columns` stays the caller's and must live as long as the block. */
struct native_block *native_block_open(
    const struct native_column *columns, unsigned count);
void native_block_close(struct native_block **block);

/* Append a value to a column: the next row's value, or, in an array column,
 * the next element of the next row's array.  The columns of a row may come in
 * any order.  The type must be one of the column's family (uint, int, float or
 * text), and the value within its range. */
void native_put_uint(
    struct native_block *block, unsigned column, uint64_t value);
void native_put_int(struct native_block *block, unsigned column, int64_t value);
void native_put_float(
    struct native_block *block, unsigned column, double value);
/* Copies the text, at most NATIVE_TEXT_BYTES_MAX bytes. */
void native_put_text(
    struct native_block *block, unsigned column, struct text value);
/* The array of the next row consists of the elements put since the last end;
 * none is an empty array. */
void native_end_array(struct native_block *block, unsigned column);

/* Rows of which every column has its value. */
uint32_t native_rows(const struct native_block *block);
/* Bytes that native_encode would append, exactly; constant time.  The caller
 * keeps rows and bytes within NATIVE_ROWS_MAX and NATIVE_BLOCK_BYTES_MAX. */
size_t native_bytes(const struct native_block *block);

/* Append the block to `to`; every column must have as many rows.  The rows
 * stay until native_reset, which keeps the memory. */
void native_encode(struct native_block *block, struct buffer *to);
void native_reset(struct native_block *block);

#endif
