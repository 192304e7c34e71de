/*
 * azure_blocks - the blocks of a blob that Azure Storage already stores.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/azure_blocks.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/cloud/sign.h"
#include "exporters/cloud/xml.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"

enum { HASH_BYTES = 20 };

struct reading {
	struct azure_blocks *blocks;
	struct azure_block block; /* the block being parsed */
	bool usable;
};

static int
take_block(struct reading *r, struct err *err)
{
	struct azure_blocks *blocks = r->blocks;

	if (blocks->count == AZURE_BLOCKS_MAX)
		return err_set(
		    err, "a list of more than %d blocks", AZURE_BLOCKS_MAX);
	if (r->usable && r->block.id[0] != '\0') {
		blocks->at = memory_grow(blocks->at, &blocks->room,
		    blocks->count, sizeof(*blocks->at));
		blocks->at[blocks->count++] = r->block;
	}
	r->block = (struct azure_block){ .bytes = 0 };
	r->usable = true;
	return 0;
}

static int
on_element(void *arg, const char *path, struct text value, struct err *err)
{
	static const char *const lists[] = { "BlockList/CommittedBlocks/Block",
		"BlockList/UncommittedBlocks/Block" };
	struct reading *r = arg;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		size_t bytes = strlen(lists[i]);

		if (strncmp(path, lists[i], bytes) != 0)
			continue;
		if (path[bytes] == '\0')
			return take_block(r, err);
		if (strcmp(path + bytes, "/Name") == 0) {
			/* Other programs use other ids. */
			if (value.bytes != AZURE_BLOCK_ID_BYTES - 1)
				r->usable = false;
			else
				memcpy(r->block.id, value.at, value.bytes);
		} else if (strcmp(path + bytes, "/Size") == 0) {
			if (number_parse_u64(value, &r->block.bytes, NULL) != 0)
				return err_set(
				    err, "the size of a block is not a number");
		}
	}
	return 0;
}

static int
compare(const void *left, const void *right)
{
	const struct azure_block *a = left, *b = right;

	return strcmp(a->id, b->id);
}

int
azure_blocks_read(
    struct azure_blocks *blocks, struct text body, struct err *err)
{
	struct reading r = { .blocks = blocks, .usable = true };

	if (xml_read(body, on_element, &r, err) != 0)
		return -1;
	if (blocks->count > 0)
		qsort(blocks->at, blocks->count, sizeof(*blocks->at), compare);
	return 0;
}

void
azure_blocks_clear(struct azure_blocks *blocks)
{
	free(blocks->at);
	*blocks = (struct azure_blocks){ .at = NULL };
}

/* An id may be listed as committed and as uncommitted. */
bool
azure_blocks_have(
    const struct azure_blocks *blocks, const char *id, uint64_t bytes)
{
	uint32_t from = 0, to = blocks->count;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (strcmp(blocks->at[middle].id, id) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from < blocks->count && strcmp(blocks->at[from].id, id) == 0 &&
	       blocks->at[from].bytes == bytes;
}

void
azure_block_id(
    char to[static AZURE_BLOCK_ID_BYTES], uint32_t number, struct text body)
{
	unsigned char bytes[4 + HASH_BYTES];

	for (int i = 0; i < 4; i++)
		bytes[i] = (unsigned char)(number >> (24 - 8 * i));
	crypto_generichash(bytes + 4, HASH_BYTES,
	    (const unsigned char *)body.at, body.bytes, NULL, 0);
	sodium_bin2base64(to, AZURE_BLOCK_ID_BYTES, bytes, sizeof(bytes),
	    sodium_base64_VARIANT_ORIGINAL);
}
