/*
 * stream - blobs of bytes in a chunk, compressed where that saves space, and
 * the memory that texts read from a chunk point into.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/chunk/chunk_private.h"

#include <stdlib.h>

#include <zstd.h>

#include "proto/base/memory.h"

enum {
	COMPRESS_MIN = 24, /* bytes; zstd cannot shrink fewer */
	LEVEL = 1,
};

void
chunk_write_blob(struct chunk_writer *w, const void *at, size_t bytes)
{
	size_t compressed = 0;

	if (bytes >= COMPRESS_MIN) {
		size_t room = ZSTD_compressBound(bytes);

		w->compressed.bytes = 0;
		compressed = ZSTD_compressCCtx(w->codec,
		    buffer_need(&w->compressed, room), room, at, bytes, LEVEL);
		if (ZSTD_isError(compressed))
			memory_exhausted(room);
	}
	if (compressed == 0 || compressed >= bytes) {
		varint_put(&w->body, 0);
		buffer_put(&w->body, at, bytes);
		return;
	}
	varint_put(&w->body, compressed);
	buffer_put(&w->body, w->compressed.at, compressed);
}

/* ---- memory for texts ---- */

struct chunk_pool {
	struct buffer *at;
	uint32_t used, count;
};

struct buffer *
chunk_pool_buffer(struct chunk_reader *r)
{
	struct chunk_pool *pool = r->pool;

	if (pool == NULL)
		pool = r->pool = memory_zero(1, sizeof(*pool));
	if (pool->used == pool->count) {
		pool->count = pool->count ? 2 * pool->count : 8;
		pool->at =
		    memory_resize(pool->at, pool->count * sizeof(*pool->at));
		memset(pool->at + pool->used, 0,
		    (pool->count - pool->used) * sizeof(*pool->at));
	}
	pool->at[pool->used].bytes = 0;
	return &pool->at[pool->used++];
}

void
chunk_pool_reset(struct chunk_reader *r)
{
	if (r->pool != NULL)
		r->pool->used = 0;
	r->pooled = 0;
}

void
chunk_pool_free(struct chunk_pool **old)
{
	struct chunk_pool *pool = *old;

	*old = NULL;
	if (pool == NULL)
		return;
	for (uint32_t i = 0; i < pool->count; i++)
		buffer_clear(&pool->at[i]);
	free(pool->at);
	free(pool);
}

/* ---- blobs ---- */

enum chunk_fault
chunk_read_blob(struct chunk_reader *r, struct varint_reader *u, size_t bytes,
    struct buffer *room, const unsigned char **at)
{
	uint64_t compressed = varint_get(u);
	struct text from;

	if (compressed > bytes)
		return CHUNK_DAMAGED;
	from = varint_get_bytes(u, compressed ? compressed : bytes);
	if (u->bad)
		return CHUNK_TRUNCATED;
	*at = (const unsigned char *)from.at;
	if (compressed == 0)
		return CHUNK_OK;
	room->bytes = 0;
	*at = buffer_need(room, bytes);
	if (ZSTD_decompressDCtx(
		r->codec, room->at, bytes, from.at, from.bytes) != bytes)
		return CHUNK_DAMAGED;
	return CHUNK_OK;
}
