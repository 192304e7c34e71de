/*
 * block - rows of one front as the value of one row.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/packed/block.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/chunk/chunk.h"
#include "proto/base/memory.h"
#include "proto/base/search.h"
#include "proto/base/varint.h"
#include "proto/hash/crc32c.h"

enum { MARK_BYTES = 2, COLUMNS = 2 };

struct block *
block_new(void)
{
	struct block *block = memory_zero(1, sizeof(*block));

	block->reader = chunk_reader_new();
	return block;
}

void
block_free(struct block **block)
{
	if (*block == NULL)
		return;
	chunk_reader_free(&(*block)->reader);
	buffer_clear(&(*block)->texts);
	buffer_clear(&(*block)->stored);
	free(*block);
	*block = NULL;
}

/* ---- marks: who asks for a key that no block has, and most do, need not
 * unpack the block ---- */

static unsigned
mark_of(struct text rest)
{
	return crc32c(0, rest.at, rest.bytes) & 0xffff;
}

static unsigned
get_mark(const unsigned char *marks, uint32_t i)
{
	return marks[MARK_BYTES * i] | (unsigned)marks[MARK_BYTES * i + 1] << 8;
}

static bool
get_marks(struct varint_reader *u, uint32_t *count, struct text *marks)
{
	*count = (uint32_t)varint_get_max(u, BLOCK_ROWS_MAX);
	*marks = varint_get_bytes(u, MARK_BYTES * *count);
	return !u->bad && *count > 0;
}

bool
block_may_have(struct text bytes, struct text rest)
{
	struct varint_reader u = varint_reader_of(bytes);
	unsigned mark = mark_of(rest);
	struct text marks;
	uint32_t count;

	if (!get_marks(&u, &count, &marks))
		return true; /* who reads it notices */
	for (uint32_t i = 0; i < count; i++)
		if (get_mark((const unsigned char *)marks.at, i) == mark)
			return true;
	return false;
}

/* ---- reading ---- */

static bool
has_order(const struct block *block, struct text last)
{
	for (uint32_t i = 0; i < block->count; i++) {
		if (block->rest[i].bytes > BLOCK_KEY_ROOM ||
		    block->value[i].bytes > PACKED_ROW_BYTES ||
		    (i > 0 &&
			text_compare(block->rest[i - 1], block->rest[i]) >= 0))
			return false;
	}
	return text_equal(block->rest[block->count - 1], last);
}

static bool
has_marks(const struct block *block, struct text marks)
{
	const unsigned char *at = (const unsigned char *)marks.at;

	for (uint32_t i = 0; i < block->count; i++)
		if (get_mark(at, i) != mark_of(block->rest[i]))
			return false;
	return true;
}

static bool
read_columns(struct block *block, struct text chunk)
{
	struct chunk_reader *r = block->reader;

	if (chunk_open(r, chunk) != CHUNK_OK || chunk_columns(r) != COLUMNS)
		return false;
	for (uint32_t i = 0; i < COLUMNS; i++)
		if (chunk_count(r, i) != block->count)
			return false;
	return chunk_get_text(r, 0, block->rest) == CHUNK_OK &&
	       chunk_get_text(r, 1, block->value) == CHUNK_OK;
}

/* The bytes of a block may go with the transaction. */
static void
keep_texts(struct block *block, struct text *column)
{
	for (uint32_t i = 0; i < block->count; i++) {
		struct text from = column[i];

		column[i].at =
		    (const char *)block->texts.at + block->texts.bytes;
		buffer_put_text(&block->texts, from);
	}
}

static void
keep(struct block *block)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < block->count; i++)
		bytes += block->rest[i].bytes + block->value[i].bytes;
	block->texts.bytes = 0;
	buffer_need(&block->texts, bytes + 1);
	keep_texts(block, block->rest);
	keep_texts(block, block->value);
}

/* Most ask for one row of a block after the other. */
static bool
is_same(const struct block *block, struct text bytes)
{
	return block->stored.bytes > 0 && block->stored.bytes == bytes.bytes &&
	       memcmp(block->stored.at, bytes.at, bytes.bytes) == 0;
}

static bool
read_rows(struct block *block, struct text last, struct text bytes)
{
	struct varint_reader u = varint_reader_of(bytes);
	struct text marks;

	return get_marks(&u, &block->count, &marks) &&
	       read_columns(block, varint_get_bytes(&u, varint_left(&u))) &&
	       has_order(block, last) && has_marks(block, marks);
}

bool
block_read(
    struct block *block, unsigned front, struct text key, struct text bytes)
{
	struct text last = { key.at + front, key.bytes - front };
	bool is_known;

	assert(front <= PACKED_FRONT_MAX);
	if (key.bytes <= front)
		return false;
	is_known = is_same(block, bytes) &&
		   text_equal(block->rest[block->count - 1], last);
	if (!is_known) {
		block->stored.bytes = 0;
		if (!read_rows(block, last, bytes)) {
			block->count = 0;
			return false;
		}
		keep(block);
		buffer_put_text(&block->stored, bytes);
	}
	block->front_bytes = front;
	memcpy(block->front, key.at, front);
	return true;
}

uint32_t
block_find(const struct block *block, struct text rest)
{
	return LOWER_BOUND(
	    i, 0, block->count, text_compare(block->rest[i], rest) < 0);
}

/* ---- writing ---- */

void
block_write(struct chunk_writer *writer, const struct text *rest,
    const struct text *value, uint32_t count, struct buffer *to)
{
	struct text chunk;

	assert(count > 0 && count <= BLOCK_ROWS_MAX);
	to->bytes = 0;
	varint_put(to, count);
	for (uint32_t i = 0; i < count; i++) {
		unsigned mark = mark_of(rest[i]);
		unsigned char bytes[MARK_BYTES] = { mark & 0xff,
			(unsigned char)(mark >> 8) };

		buffer_put(to, bytes, sizeof(bytes));
	}
	chunk_begin(writer);
	chunk_put_text(writer, rest, count);
	chunk_put_text(writer, value, count);
	chunk = chunk_end(writer);
	buffer_put(to, chunk.at, chunk.bytes);
}
