/*
 * packed_block - read any bytes as a block of rows: what can be read is written
 * to a block that has the same rows.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/packed/block.h"

#include <stdlib.h>

#include "aggregator/chunk/chunk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRONT = 8 };

static void
must(bool good)
{
	if (!good)
		abort();
}

/* The key is that of the last row, so it comes from the bytes. */
static struct text
key_of(const struct block *block)
{
	static unsigned char key[DB_KEY_BYTES_MAX];
	struct text rest = block->rest[block->count - 1];

	memset(key, 'k', FRONT);
	memcpy(key + FRONT, rest.at, rest.bytes);
	return (struct text){ (const char *)key, FRONT + rest.bytes };
}

static void
write_again(const struct block *block)
{
	static struct block *other;
	static struct chunk_writer *writer;
	static struct buffer bytes;
	struct text key = key_of(block);

	if (other == NULL) {
		other = block_new();
		writer = chunk_writer_new();
	}
	block_write(writer, block->rest, block->value, block->count, &bytes);
	must(block_read(other, FRONT, key, buffer_text(&bytes)));
	must(other->count == block->count);
	for (uint32_t i = 0; i < block->count; i++) {
		must(text_equal(other->rest[i], block->rest[i]));
		must(text_equal(other->value[i], block->value[i]));
		must(block_find(block, block->rest[i]) == i);
	}
	must(
	    block_may_have(buffer_text(&bytes), block->rest[block->count - 1]));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct block *block;
	struct text all = { (const char *)data, (uint32_t)size };
	struct text key, bytes;

	if (block == NULL)
		block = block_new();
	/* A byte with the length of the key, the key, and the block. */
	if (size < 1 || size < 1u + data[0])
		return 0;
	key = (struct text){ all.at + 1, data[0] };
	bytes = (struct text){ key.at + key.bytes, all.bytes - 1 - key.bytes };
	if (key.bytes >= FRONT)
		block_may_have(bytes, key);
	if (block_read(block, FRONT, key, bytes))
		write_again(block);
	return 0;
}
