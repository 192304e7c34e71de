/*
 * wire_columns - samples of one node and metric group as columns of doubles.
 *
 * A query with run > 1 and without step_ns (struct wire_query) gets samples in
 * this form: records of kind sample with a name and `count` samples.
 * value_bytes has the times of all samples, then the first number of each, then
 * the second ...  NaN is an unknown value, and integers beyond 2^53 are
 * rounded: this form is for computation.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_WIRE_COLUMNS_H
#define PROTO_WIRE_COLUMNS_H

#include <endian.h>
#include <string.h>

#include "proto/wire/wire.h"

enum {
	WIRE_CELL_BYTES = 8,
	WIRE_CELLS_MAX = 8192, /* of a record: times and numbers */
};

struct wire_columns {
	const char *at;
	uint32_t samples;
	uint32_t columns; /* of numbers */
};

/* For a record of a checked page.  False: the record is not of this form, or
 * has the wrong number of bytes. */
bool wire_columns_init(
    struct wire_columns *columns, const struct record *record);

/* A cell, little-endian; column 0 holds the times. */
static inline uint64_t
wire_cell(const char *at)
{
	uint64_t cell;

	memcpy(&cell, at, sizeof(cell));
	return le64toh(cell);
}

static inline void
wire_put_cell(char *at, uint64_t cell)
{
	cell = htole64(cell);
	memcpy(at, &cell, sizeof(cell));
}

static inline int64_t
wire_column_time(const struct wire_columns *columns, uint32_t sample)
{
	return (int64_t)wire_cell(
	    columns->at + WIRE_CELL_BYTES * (size_t)sample);
}

static inline double
wire_column_number(
    const struct wire_columns *columns, uint32_t column, uint32_t sample)
{
	size_t cell = (column + (size_t)1) * columns->samples + sample;
	uint64_t bits = wire_cell(columns->at + WIRE_CELL_BYTES * cell);
	double number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

#endif
