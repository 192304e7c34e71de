/*
 * native_rows - the rows of the block that a reader has.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>

#include "proto/base/varint.h"
#include "proto/clickhouse/native_private.h"
#include "proto/clickhouse/native_read.h"

uint32_t
native_read_rows(const struct native_reader *r)
{
	return r->step == READ_COMPLETE ? r->rows : 0;
}

static const struct native_read_column *
value_of(const struct native_reader *r, unsigned column,
    enum native_family family, uint32_t i)
{
	const struct native_read_column *c = &r->columns[column];

	assert(r->step == READ_COMPLETE && column < r->count);
	assert(c->shape->family == family && i < c->elements);
	return c;
}

/* The value's bytes as the low ones of a number. */
static uint64_t
bits_of(const struct native_reader *r, const struct native_read_column *c,
    uint32_t i)
{
	uint64_t little = 0;

	memcpy(&little,
	    r->bytes.at + r->block + c->values + (size_t)i * c->shape->bytes,
	    c->shape->bytes);
	return le64toh(little);
}

uint64_t
native_read_uint(const struct native_reader *r, unsigned column, uint32_t i)
{
	return bits_of(r, value_of(r, column, NATIVE_UINT, i), i);
}

int64_t
native_read_int(const struct native_reader *r, unsigned column, uint32_t i)
{
	const struct native_read_column *c = value_of(r, column, NATIVE_INT, i);
	uint64_t bits = bits_of(r, c, i);

	return c->shape->bytes == 4 ? (int32_t)bits : (int64_t)bits;
}

double
native_read_float(const struct native_reader *r, unsigned column, uint32_t i)
{
	uint64_t bits = bits_of(r, value_of(r, column, NATIVE_FLOAT, i), i);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

struct text
native_read_text(const struct native_reader *r, unsigned column, uint32_t i)
{
	const struct native_read_column *c =
	    value_of(r, column, NATIVE_TEXT, i);
	const unsigned char *block = r->bytes.at + r->block;
	struct varint_reader text = { block + c->texts[i], block + r->at,
		false };

	return varint_get_text(&text);
}

uint32_t
native_read_array(const struct native_reader *r, unsigned column, uint32_t row,
    uint32_t *first)
{
	const struct native_read_column *c = &r->columns[column];
	const unsigned char *ends = r->bytes.at + r->block + c->ends;
	size_t at = (size_t)row * sizeof(uint64_t);

	assert(r->step == READ_COMPLETE && column < r->count);
	assert(c->shape->array && row < r->rows);
	*first = row > 0
		     ? (uint32_t)native_number_at(ends + at - sizeof(uint64_t))
		     : 0;
	return (uint32_t)native_number_at(ends + at) - *first;
}
