/*
 * chunk_core - the chunk's inside, shared by the files that pack one type
 * each: chunk_int.c, chunk_float.c, chunk_text.c.
 *
 * Every column comes down to streams of integers and to blobs of bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CHUNK_CORE_H
#define PROTO_CHUNK_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/chunk.h"
#include "proto/pack.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

enum {
	CHUNK_FORMAT = 1,
	CHUNK_BACK = 8, /* a column may lean on one of so many before it */
};

/* An array that grows and keeps its room. */
struct chunk_ints {
	int64_t *at;
	uint32_t room;
};
int64_t *chunk_ints_room(struct chunk_ints *ints, uint32_t count);

/* A column of integers that later ones may lean on. */
struct chunk_back {
	struct chunk_ints values;
	uint32_t count, column;
};

struct chunk_writer {
	struct buffer whole; /* the chunk */
	struct buffer list;  /* type, count, bytes of each column */
	struct buffer body;  /* the columns */
	uint32_t columns;
	struct chunk_back back[CHUNK_BACK]; /* column number modulo that */
	struct ZSTD_CCtx_s *codec;

	struct chunk_ints ints, more, residual; /* of a stream at hand */
	struct chunk_ints wholes, ulps;         /* of a column of doubles */
	struct buffer symbols, bits, squeezed, blob;
	struct buffer values;      /* of one type, among mixed ones */
	struct chunk_words *words; /* chunk_text.c */
};

struct chunk_column {
	uint8_t type;
	uint32_t count, bytes;
	const unsigned char *at;
};
static inline struct unpack
chunk_column_unpack(const struct chunk_column *column)
{
	return (struct unpack){ column->at, column->at + column->bytes, false };
}

/* Symbols of a stream of integers (chunk_int.c). */
struct chunk_symbols {
	uint64_t base[256];
	uint8_t bits[256];
};
void chunk_symbols_init(struct chunk_symbols *table);

struct chunk_reader {
	struct chunk_symbols table;
	struct chunk_column *column;
	uint32_t columns, room;
	struct ZSTD_DCtx_s *codec;
	struct chunk_ints ints, more, residual, wholes, ulps;
	struct buffer symbols, bits, values;
	struct chunk_pool *pool; /* blobs that texts point into */
	uint64_t pooled;         /* bytes of the column at hand */
	struct chunk_ints lean;  /* a column that another leans on */
};

/* ---- streams: the count is known to both sides ---- */

/* `lean`: the column of CHUNK_INT may be written as a difference to an earlier
 * one. */
void chunk_write_ints(
    struct chunk_writer *w, const int64_t *values, uint32_t count, bool lean);
/* `column`: the number of the column when it may lean, else UINT32_MAX. */
enum chunk_fault chunk_read_ints(struct chunk_reader *r, struct unpack *u,
    int64_t *to, uint32_t count, uint32_t column);

void chunk_write_floats(
    struct chunk_writer *w, const double *values, uint32_t count);
enum chunk_fault chunk_read_floats(
    struct chunk_reader *r, struct unpack *u, double *to, uint32_t count);

void chunk_write_texts(
    struct chunk_writer *w, const struct text *values, uint32_t count);
enum chunk_fault chunk_read_texts(
    struct chunk_reader *r, struct unpack *u, struct text *to, uint32_t count);
void chunk_words_free(struct chunk_words **words);

/* Bytes, squeezed with zstd where that pays. */
void chunk_write_blob(struct chunk_writer *w, const void *at, size_t bytes);
/* Returns a view: into the chunk, or into `room`, which grows. */
enum chunk_fault chunk_read_blob(struct chunk_reader *r, struct unpack *u,
    size_t bytes, struct buffer *room, const unsigned char **at);

/* Room that lives until the next chunk_open. */
struct buffer *chunk_pool_buffer(struct chunk_reader *r);
void chunk_pool_reset(struct chunk_reader *r);
void chunk_pool_free(struct chunk_pool **pool);

#endif
