/*
 * chunk - rows of records as packed columns.
 *
 * A chunk is a list of columns.  Each column has a type, a count of its own,
 * and the encoding that suits its values best.  Reading returns exactly the
 * values that were written, including every bit of a double.  Each column can
 * be unpacked alone, so a query for one metric pays for one column.
 * proto/store.md, "Column chunks", describes the bytes.
 *
 * Reading is bounded: damaged bytes give an enum chunk_fault and never take
 * more memory than the limits below.  A chunk has no checksum of its own,
 * because each value of the store has one.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_CHUNK_CHUNK_H
#define AGGREGATOR_CHUNK_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "proto/record/record.h"

enum {
	CHUNK_ROWS_MAX = 65536,         /* in a column */
	CHUNK_COLUMNS_MAX = 8192,       /* in a chunk */
	CHUNK_TEXT_BYTES_MAX = 8 << 20, /* all texts of a column, unpacked */
	CHUNK_BYTES_MAX = 64 << 20,     /* size of a chunk */
};

/* Stored on disk: never change a number. */
enum chunk_type {
	CHUNK_INT = 1,   /* any int64_t */
	CHUNK_FLOAT = 2, /* any double, bit for bit */
	CHUNK_TEXT = 3,  /* any bytes */
	CHUNK_VALUE = 4, /* struct value; types may differ from row to row */
};

/* ---- writing ---- */

struct chunk_writer; /* opaque; reusable for many chunks in sequence */

struct chunk_writer *chunk_writer_new(void);
void chunk_writer_free(struct chunk_writer **writer);

/* Append a column of at most CHUNK_ROWS_MAX values.  All texts of a column
 * together have at most CHUNK_TEXT_BYTES_MAX bytes.  Both limits are asserted;
 * the caller splits its rows to fit. */
void chunk_begin(struct chunk_writer *writer);
void chunk_put_int(
    struct chunk_writer *writer, const int64_t *values, uint32_t count);
void chunk_put_float(
    struct chunk_writer *writer, const double *values, uint32_t count);
void chunk_put_text(
    struct chunk_writer *writer, const struct text *values, uint32_t count);
void chunk_put_value(
    struct chunk_writer *writer, const struct value *values, uint32_t count);
/* Returns the chunk: a view, valid until the next chunk_begin. */
struct text chunk_end(struct chunk_writer *writer);

/* ---- reading ---- */

enum chunk_fault {
	CHUNK_OK,
	CHUNK_TRUNCATED, /* shorter or longer than its lengths */
	CHUNK_VERSION,   /* unknown format version */
	CHUNK_LIMIT,     /* exceeds a limit */
	CHUNK_METHOD,    /* unknown encoding */
	CHUNK_DAMAGED,   /* any other damage */
};

struct chunk_reader; /* opaque; reusable for many chunks in sequence */

struct chunk_reader *chunk_reader_new(void);
void chunk_reader_free(struct chunk_reader **reader);

/* Check the column list.  `chunk` must outlive the last chunk_get. */
enum chunk_fault chunk_open(struct chunk_reader *reader, struct text chunk);
uint32_t chunk_columns(const struct chunk_reader *reader);
enum chunk_type chunk_type(const struct chunk_reader *reader, uint32_t column);
uint32_t chunk_count(const struct chunk_reader *reader, uint32_t column);

/* Unpack a column of that type (any other type gives CHUNK_DAMAGED) into `to`,
 * which has room for the column's count.  Texts are views, valid until the
 * next chunk_open.  After a fault the contents of `to` are undefined. */
enum chunk_fault chunk_get_int(
    struct chunk_reader *reader, uint32_t column, int64_t *to);
enum chunk_fault chunk_get_float(
    struct chunk_reader *reader, uint32_t column, double *to);
enum chunk_fault chunk_get_text(
    struct chunk_reader *reader, uint32_t column, struct text *to);
enum chunk_fault chunk_get_value(
    struct chunk_reader *reader, uint32_t column, struct value *to);

#endif
