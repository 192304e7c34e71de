/*
 * azure_blocks - the blocks of a blob that Azure Storage already stores.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_AZURE_BLOCKS_H
#define EXPORTERS_CLOUD_AZURE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

enum {
	AZURE_BLOCK_ID_BYTES = 33, /* base64 of 24 bytes, and a NUL */
	/* The limit of the service: 50,000 committed and 100,000
	 * uncommitted. */
	AZURE_BLOCKS_MAX = 150000,
};

struct azure_block {
	char id[AZURE_BLOCK_ID_BYTES];
	uint64_t bytes;
};

struct azure_blocks {
	struct azure_block
	    *at; /* ordered by id, without the blocks of other programs */
	uint32_t count, room;
};

/* Parse the answer to "Get Block List".  Zero `blocks` before, clear them
 * after. */
int azure_blocks_read(
    struct azure_blocks *blocks, struct text body, struct err *err);
void azure_blocks_clear(struct azure_blocks *blocks);
/* Is there a block with this id and size? */
bool azure_blocks_have(
    const struct azure_blocks *blocks, const char *id, uint64_t bytes);

/* The id of a part: its number and a hash of its content.  The same part is
 * recognized in a later attempt, and no other part is mistaken for it. */
void azure_block_id(
    char to[static AZURE_BLOCK_ID_BYTES], uint32_t number, struct text body);

#endif
