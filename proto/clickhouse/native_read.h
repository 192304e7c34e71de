/*
 * native_read - read an answer in ClickHouse's format Native, block by block.
 *
 * The answer comes in pieces of any size, as the network cuts it:
 *
 *	while ((got = native_read_next(reader, &piece, &err)) > 0)
 *		... the rows of a block ...
 *	and after the last piece native_read_end(reader, &err)
 *
 * Every byte is hostile until it is checked: columns must be those expected,
 * by number, name and type, in order; rows, bytes and texts are bounded
 * (native.h, NATIVE_TEXTS_MAX); memory grows with what came, never with what
 * was announced.  LowCardinality, Nullable and the like are refused by name:
 * queries cast to what they expect.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CLICKHOUSE_NATIVE_READ_H
#define PROTO_CLICKHOUSE_NATIVE_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/clickhouse/native.h"

enum {
	/* Texts of a block, elements of arrays included: 4 bytes of memory
	 * each. */
	NATIVE_TEXTS_MAX = 1 << 26,
};

struct native_reader;

/* `columns` stays the caller's and must live as long as the reader. */
struct native_reader *native_read_open(
    const struct native_column *columns, unsigned count);
void native_read_close(struct native_reader **reader);

/* Take bytes from the front of *piece.
 *  1: a block with rows is complete; the accessors below show it until the
 *     next call, and *piece is what was not looked at yet
 *  0: *piece is used up
 * -1: the answer is not what was expected; this and every later call fail */
int native_read_next(
    struct native_reader *reader, struct text *piece, struct err *err);
/* The answer has ended.  -1: in the middle of a block.  0: it was whole, and
 * the reader is ready for another answer. */
int native_read_end(struct native_reader *reader, struct err *err);

/* Of the present block; 0 when there is none. */
uint32_t native_read_rows(const struct native_reader *reader);

/* A value: that of row `i`, or in an array column element `i` of all elements
 * of the block.  The function must be that of the column's family. */
uint64_t native_read_uint(
    const struct native_reader *reader, unsigned column, uint32_t i);
int64_t native_read_int(
    const struct native_reader *reader, unsigned column, uint32_t i);
double native_read_float(
    const struct native_reader *reader, unsigned column, uint32_t i);
/* A view, valid until the next call of native_read_next. */
struct text native_read_text(
    const struct native_reader *reader, unsigned column, uint32_t i);
/* Number of elements of the array of a row; *first is the first one's number
 * `i` for the functions above. */
uint32_t native_read_array(const struct native_reader *reader, unsigned column,
    uint32_t row, uint32_t *first);

#endif
