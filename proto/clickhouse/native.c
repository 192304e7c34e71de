/*
 * native - write rows as a block of ClickHouse's format Native.
 * SPDX-License-Identifier: MIT
 */
#include "proto/clickhouse/native.h"

#include <assert.h>
#include <endian.h>

#include "proto/base/memory.h"
#include "proto/base/varint.h"
#include "proto/clickhouse/native_private.h"

struct column {
	const struct native_shape *shape;
	const char *name;
	struct buffer values, ends; /* ends: only of arrays */
	uint64_t elements;
	uint64_t ended; /* of the elements, in arrays that are complete */
	uint32_t rows;
};

struct native_block {
	unsigned count;
	size_t header_bytes; /* of all columns: names and types */
	size_t bytes;        /* of all values and ends */
	struct column columns[];
};

static const struct native_shape shapes[] = {
	[NATIVE_UINT8] = { "UInt8", NATIVE_UINT, 1, false },
	[NATIVE_UINT16] = { "UInt16", NATIVE_UINT, 2, false },
	[NATIVE_UINT32] = { "UInt32", NATIVE_UINT, 4, false },
	[NATIVE_UINT64] = { "UInt64", NATIVE_UINT, 8, false },
	[NATIVE_INT32] = { "Int32", NATIVE_INT, 4, false },
	[NATIVE_INT64] = { "Int64", NATIVE_INT, 8, false },
	[NATIVE_FLOAT64] = { "Float64", NATIVE_FLOAT, 8, false },
	[NATIVE_STRING] = { "String", NATIVE_TEXT, 0, false },
	[NATIVE_UINT8_ARRAY] = { "Array(UInt8)", NATIVE_UINT, 1, true },
	[NATIVE_UINT64_ARRAY] = { "Array(UInt64)", NATIVE_UINT, 8, true },
	[NATIVE_FLOAT64_ARRAY] = { "Array(Float64)", NATIVE_FLOAT, 8, true },
	[NATIVE_STRING_ARRAY] = { "Array(String)", NATIVE_TEXT, 0, true },
};

const struct native_shape *
native_shape(enum native_type type)
{
	assert((size_t)type < sizeof(shapes) / sizeof(shapes[0]));
	return &shapes[type];
}

enum native_type
native_type_of(const char *name)
{
	unsigned type = 0;

	while (strcmp(shapes[type].name, name) != 0)
		type++;
	return (enum native_type)type;
}

static size_t
varint_bytes(uint64_t value)
{
	unsigned char room[VARINT_BYTES];

	return (size_t)(varint_encode(room, value) - room);
}

static size_t
text_bytes(const char *text)
{
	size_t bytes = strlen(text);

	assert(bytes <= NAME_BYTES_MAX);
	return varint_bytes(bytes) + bytes;
}

struct native_block *
native_block_open(const struct native_column *columns, unsigned count)
{
	struct native_block *block;

	assert(count > 0 && count <= NATIVE_COLUMNS_MAX);
	block =
	    memory_zero(1, sizeof(*block) + count * sizeof(block->columns[0]));
	block->count = count;
	block->header_bytes = varint_bytes(count);
	for (unsigned i = 0; i < count; i++) {
		struct column *c = &block->columns[i];

		c->shape = native_shape(columns[i].type);
		c->name = columns[i].name;
		block->header_bytes +=
		    text_bytes(c->name) + text_bytes(c->shape->name);
	}
	return block;
}

void
native_block_close(struct native_block **block)
{
	if (*block == NULL)
		return;
	for (unsigned i = 0; i < (*block)->count; i++) {
		buffer_clear(&(*block)->columns[i].values);
		buffer_clear(&(*block)->columns[i].ends);
	}
	free(*block);
	*block = NULL;
}

/* Count a value or an element that takes `bytes`. */
static struct column *
add(struct native_block *block, unsigned column, enum native_family family,
    size_t bytes)
{
	struct column *c = &block->columns[column];

	assert(column < block->count && c->shape->family == family);
	if (c->shape->array)
		c->elements++;
	else
		c->rows++;
	block->bytes += bytes;
	return c;
}

/* Append the low `bytes` bytes of a number. */
static void
put_number(struct native_block *block, struct buffer *to, uint64_t value,
    unsigned bytes)
{
	uint64_t little = htole64(value);

	memcpy(buffer_need(to, sizeof(little)), &little, sizeof(little));
	to->bytes += bytes;
	block->bytes += bytes;
}

void
native_put_uint(struct native_block *block, unsigned column, uint64_t value)
{
	struct column *c = add(block, column, NATIVE_UINT, 0);

	assert(c->shape->bytes == 8 || value >> (8 * c->shape->bytes) == 0);
	put_number(block, &c->values, value, c->shape->bytes);
}

void
native_put_int(struct native_block *block, unsigned column, int64_t value)
{
	struct column *c = add(block, column, NATIVE_INT, 0);

	assert(
	    c->shape->bytes == 8 || (value >= INT32_MIN && value <= INT32_MAX));
	put_number(block, &c->values, (uint64_t)value, c->shape->bytes);
}

void
native_put_float(struct native_block *block, unsigned column, double value)
{
	struct column *c = add(block, column, NATIVE_FLOAT, 0);
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put_number(block, &c->values, bits, c->shape->bytes);
}

void
native_put_text(struct native_block *block, unsigned column, struct text value)
{
	struct column *c = add(block, column, NATIVE_TEXT,
	    varint_bytes(value.bytes) + value.bytes);

	assert(value.bytes <= NATIVE_TEXT_BYTES_MAX);
	varint_put_text(&c->values, value);
}

void
native_end_array(struct native_block *block, unsigned column)
{
	struct column *c = &block->columns[column];

	assert(column < block->count && c->shape->array);
	put_number(block, &c->ends, c->elements, sizeof(c->elements));
	c->ended = c->elements;
	c->rows++;
}

uint32_t
native_rows(const struct native_block *block)
{
	uint32_t rows = block->columns[0].rows;

	for (unsigned i = 1; i < block->count; i++)
		if (block->columns[i].rows < rows)
			rows = block->columns[i].rows;
	return rows;
}

size_t
native_bytes(const struct native_block *block)
{
	return block->header_bytes + varint_bytes(native_rows(block)) +
	       block->bytes;
}

void
native_encode(struct native_block *block, struct buffer *to)
{
	uint32_t rows = native_rows(block);
	size_t bytes = native_bytes(block), before = to->bytes;

	assert(rows <= NATIVE_ROWS_MAX && bytes <= NATIVE_BLOCK_BYTES_MAX);
	buffer_need(to, bytes + VARINT_BYTES);
	varint_put(to, block->count);
	varint_put(to, rows);
	for (unsigned i = 0; i < block->count; i++) {
		const struct column *c = &block->columns[i];

		assert(c->rows == rows && c->ended == c->elements);
		varint_put_text(to, text_of(c->name));
		varint_put_text(to, text_of(c->shape->name));
		buffer_put(to, c->ends.at, c->ends.bytes);
		buffer_put(to, c->values.at, c->values.bytes);
	}
	assert(to->bytes - before == bytes);
}

void
native_reset(struct native_block *block)
{
	for (unsigned i = 0; i < block->count; i++) {
		struct column *c = &block->columns[i];

		c->values.bytes = c->ends.bytes = 0;
		c->elements = c->ended = 0;
		c->rows = 0;
	}
	block->bytes = 0;
}
