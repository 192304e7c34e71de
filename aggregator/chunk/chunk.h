/*
 * chunk - rows of records as columns, packed.
 *
 * A chunk is a list of columns; each has a type, a count of its own and one
 * way of packing chosen for what is in it.  What comes out is what went in,
 * to the last bit of every double.  A column is unpacked by itself, so that
 * who wants one metric pays for one.  The bytes are proto/store.md,
 * "Column chunks".
 *
 * Reading is bounded: bytes from outside make an enum chunk_fault, never more
 * memory than the limits below.  There is no checksum: a value of the store
 * has its own.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_CHUNK_CHUNK_H
#define AGGREGATOR_CHUNK_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "proto/record/record.h"

enum {
	CHUNK_ROWS_MAX = 65536,         /* of a column */
	CHUNK_COLUMNS_MAX = 8192,       /* of a chunk */
	CHUNK_TEXT_BYTES_MAX = 8 << 20, /* of the texts of a column, unpacked */
	CHUNK_BYTES_MAX = 64 << 20,     /* of a chunk */
};

/* The numbers are at rest: never change one. */
enum chunk_type {
	CHUNK_INT = 1,   /* int64_t, any */
	CHUNK_FLOAT = 2, /* double, any bits */
	CHUNK_TEXT = 3,  /* bytes, any */
	CHUNK_VALUE = 4, /* struct value, types mixed as they come */
};

/* ---- writing ---- */

struct chunk_writer; /* opaque; one for many chunks, one after another */

struct chunk_writer *chunk_writer_new(void);
void chunk_writer_free(struct chunk_writer **writer);

/* Columns of at most CHUNK_ROWS_MAX each; texts of at most
 * CHUNK_TEXT_BYTES_MAX together (asserted: the caller cuts before). */
void chunk_begin(struct chunk_writer *writer);
void chunk_put_int(
    struct chunk_writer *writer, const int64_t *values, uint32_t count);
void chunk_put_float(
    struct chunk_writer *writer, const double *values, uint32_t count);
void chunk_put_text(
    struct chunk_writer *writer, const struct text *values, uint32_t count);
void chunk_put_value(
    struct chunk_writer *writer, const struct value *values, uint32_t count);
/* The chunk: a view, valid until the next chunk_begin. */
struct text chunk_end(struct chunk_writer *writer);

/* ---- reading ---- */

enum chunk_fault {
	CHUNK_OK,
	CHUNK_TRUNCATED, /* ends too early, or too late */
	CHUNK_VERSION,   /* of another format */
	CHUNK_LIMIT,     /* says more than a limit */
	CHUNK_METHOD,    /* packed in a way that is not known */
	CHUNK_DAMAGED,   /* anything else */
};

struct chunk_reader; /* opaque; one for many chunks, one after another */

struct chunk_reader *chunk_reader_new(void);
void chunk_reader_free(struct chunk_reader **reader);

/* Check the list of columns.  `chunk` must stay until the last chunk_get. */
enum chunk_fault chunk_open(struct chunk_reader *reader, struct text chunk);
uint32_t chunk_columns(const struct chunk_reader *reader);
enum chunk_type chunk_type(const struct chunk_reader *reader, uint32_t column);
uint32_t chunk_count(const struct chunk_reader *reader, uint32_t column);

/* Unpack a column of that type (else CHUNK_DAMAGED) into room for its count.
 * Texts are views, valid until the next chunk_open.  After a fault what is in
 * `to` means nothing. */
enum chunk_fault chunk_get_int(
    struct chunk_reader *reader, uint32_t column, int64_t *to);
enum chunk_fault chunk_get_float(
    struct chunk_reader *reader, uint32_t column, double *to);
enum chunk_fault chunk_get_text(
    struct chunk_reader *reader, uint32_t column, struct text *to);
enum chunk_fault chunk_get_value(
    struct chunk_reader *reader, uint32_t column, struct value *to);

#endif
