/*
 * pack_block - one piece of memory in zlib's format (RFC 1950).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PACK_BLOCK_H
#define EXPORTERS_PACK_BLOCK_H

#include "proto/text.h"

struct pack_block; /* opaque */

struct pack_block *pack_block_new(void);
void pack_block_free(struct pack_block **pack);

/* A view, valid until the next call. */
struct text pack_block(
    struct pack_block *pack, const void *bytes, size_t count);

#endif
