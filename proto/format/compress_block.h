/*
 * compress_block - pieces of memory, each compressed as a whole: two to three
 * times as fast as a stream that does as well, and in a thread of its own, so
 * that the next piece is made meanwhile. SPDX-License-Identifier: MIT
 */
#ifndef PROTO_FORMAT_COMPRESS_BLOCK_H
#define PROTO_FORMAT_COMPRESS_BLOCK_H

#include "proto/base/text.h"

enum pack_format {
	PACK_ZLIB, /* RFC 1950 */
	PACK_GZIP, /* RFC 1952: a member */
};

struct pack_block; /* opaque */

struct pack_block *pack_block_new(enum pack_format format);
void pack_block_free(struct pack_block **pack);

/* Begin with a copy of these bytes; what was begun before is taken. */
void pack_block_begin(struct pack_block *pack, const void *bytes, size_t count);
/* Take what was begun last, when it is done: a view, valid until the next is
 * begun; empty when nothing was begun. */
struct text pack_block_take(struct pack_block *pack);

#endif
