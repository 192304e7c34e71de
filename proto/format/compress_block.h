/*
 * compress_block - pieces of memory, each compressed as a whole: two to three
 * times as fast as a stream that does as well, and in a thread of its own, so
 * that the next piece is made meanwhile. SPDX-License-Identifier: MIT
 */
#ifndef PROTO_FORMAT_COMPRESS_BLOCK_H
#define PROTO_FORMAT_COMPRESS_BLOCK_H

#include "proto/base/text.h"

enum compress_format {
	COMPRESS_ZLIB, /* RFC 1950 */
	COMPRESS_GZIP, /* RFC 1952: a member */
};

struct compress_block; /* opaque */

struct compress_block *compress_block_new(enum compress_format format);
void compress_block_free(struct compress_block **pack);

/* Begin with a copy of these bytes; what was begun before is taken. */
void compress_block_begin(
    struct compress_block *pack, const void *bytes, size_t count);
/* Take what was begun last, when it is done: a view, valid until the next is
 * begun; empty when nothing was begun. */
struct text compress_block_take(struct compress_block *pack);

#endif
