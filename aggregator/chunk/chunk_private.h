/*
 * chunk_private - the internals of a chunk, shared by the files that each
 * encode one type: integers.c, doubles.c, texts.c.
 *
 * Every column is reduced to streams of integers and blobs of bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_CHUNK_CHUNK_PRIVATE_H
#define AGGREGATOR_CHUNK_CHUNK_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/chunk/chunk.h"
#include "proto/base/varint.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

enum {
	CHUNK_FORMAT = 1,
	/* A column may be stored as the difference to one of this many columns
	 * before it. */
	CHUNK_REFERENCES = 8,
};

/* An array that grows and keeps its memory. */
struct chunk_ints {
	int64_t *at;
	uint32_t room;
};
int64_t *chunk_ints_room(struct chunk_ints *ints, uint32_t count);

/* An integer column that later columns may be stored as a difference to. */
struct chunk_reference {
	struct chunk_ints values;
	uint32_t count, column;
};

struct chunk_writer {
	struct buffer whole; /* the chunk */
	struct buffer list;  /* type, count, bytes of each column */
	struct buffer body;  /* the columns */
	uint32_t columns;
	/* Index: column number modulo CHUNK_REFERENCES. */
	struct chunk_reference back[CHUNK_REFERENCES];
	struct ZSTD_CCtx_s *codec;

	struct chunk_ints ints, more, residual; /* of the current stream */
	struct chunk_ints wholes, ulps;         /* of a column of doubles */
	struct buffer symbols, bits, compressed, blob;
	struct buffer values;      /* those of one type in a mixed column */
	struct chunk_words *words; /* texts.c */
	struct chunk_same *same;   /* texts_same.c */
};

struct chunk_column {
	uint8_t type;
	uint32_t count, bytes;
	const unsigned char *at;
};
static inline struct varint_reader
chunk_column_unpack(const struct chunk_column *column)
{
	return (struct varint_reader){ column->at, column->at + column->bytes,
		false };
}

/* Symbols of a stream of integers (integers.c). */
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
	struct chunk_ints ints, residual, wholes, ulps;
	struct buffer symbols, bits, values;
	struct chunk_pool *pool;     /* blobs that texts point into */
	uint64_t pooled;             /* bytes used by the current column */
	struct chunk_ints reference; /* the column that another one refers to */
	/* The same of texts, and its number + 1; 0: none. */
	struct text *texts;
	uint32_t texts_count, texts_column;
};

/* ---- encodings ---- */

/* The first byte of a stream of integers (integers.c). */
enum {
	CHUNK_PREDICT = 3,   /* mask: CHUNK_PLAIN, CHUNK_DELTA, CHUNK_DELTA2 */
	CHUNK_CONSTANT = 4,  /* all values are equal; the first one follows */
	CHUNK_DIVIDED = 8,   /* a divisor follows */
	CHUNK_REFERS = 16,   /* the distance to the reference column follows */
	CHUNK_NEGATIVE = 32, /* subtract from the reference, do not add to it */
	CHUNK_KNOWN = 63,    /* mask: all of them */
};
enum chunk_predict { CHUNK_PLAIN, CHUNK_DELTA, CHUNK_DELTA2, CHUNK_PREDICTS };

enum {
	CHUNK_SMALL = 64, /* smaller numbers are a symbol of their own */
	CHUNK_SMALL_BITS = 6,
	CHUNK_SYMBOLS = CHUNK_SMALL + 2 * (64 - CHUNK_SMALL_BITS),
};

static inline int64_t
chunk_minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t
chunk_plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline unsigned
chunk_bit_length(uint64_t value)
{
	return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

/* The first byte of a stream of texts (texts.c). */
enum chunk_text { CHUNK_BYTES, CHUNK_WORDS, CHUNK_TEMPLATES, CHUNK_SAME };

enum {
	/* In a template: a number; a number padded with zeros to the width in
	 * the next byte. */
	CHUNK_NUMBER = 1,
	CHUNK_PADDED = 2,
	CHUNK_FIELDS = 16, /* in a template */
	CHUNK_DIGITS = 18, /* in a number */
	CHUNK_MIXED = 255, /* mixed column: a stream of types follows */
};
/* The number of fields in a template. */
unsigned chunk_fields(struct text template);

/* ---- streams: writer and reader both know the count ---- */

/* `refer`: the stream is a column of type CHUNK_INT and may be written as the
 * difference to an earlier one. */
void chunk_write_ints(
    struct chunk_writer *w, const int64_t *values, uint32_t count, bool refer);
/* `column`: its number if it may refer to an earlier one, else UINT32_MAX. */
enum chunk_fault chunk_read_ints(struct chunk_reader *r,
    struct varint_reader *u, int64_t *to, uint32_t count, uint32_t column);

void chunk_write_floats(
    struct chunk_writer *w, const double *values, uint32_t count);
enum chunk_fault chunk_read_floats(struct chunk_reader *r,
    struct varint_reader *u, double *to, uint32_t count);

/* `refer`, `column`: as for integers. */
void chunk_write_texts(struct chunk_writer *w, const struct text *values,
    uint32_t count, bool refer);
enum chunk_fault chunk_read_texts(struct chunk_reader *r,
    struct varint_reader *u, struct text *to, uint32_t count, uint32_t column);
void chunk_words_free(struct chunk_words **words);
/* Write a stream of texts that is not one of CHUNK_SAME or CHUNK_WORDS. */
void chunk_write_no_words(
    struct chunk_writer *w, const struct text *values, uint32_t count);
/* Write a column as texts of an earlier one, if it is that.  If it is not, and
 * no template fits, it is an earlier one from now on. */
bool chunk_write_same(
    struct chunk_writer *w, const struct text *values, uint32_t count);
void chunk_note_texts(
    struct chunk_writer *w, const struct text *values, uint32_t count);
void chunk_same_reset(struct chunk_writer *w);
void chunk_same_free(struct chunk_same **same);

/* Write bytes, compressed with zstd if that makes them smaller. */
void chunk_write_blob(struct chunk_writer *w, const void *at, size_t bytes);
/* Read `bytes` bytes.  `*at` is a view into the chunk or into `room`, which
 * grows. */
enum chunk_fault chunk_read_blob(struct chunk_reader *r,
    struct varint_reader *u, size_t bytes, struct buffer *room,
    const unsigned char **at);

/* A buffer that stays valid until the next chunk_open. */
struct buffer *chunk_pool_buffer(struct chunk_reader *r);
void chunk_pool_reset(struct chunk_reader *r);
void chunk_pool_free(struct chunk_pool **pool);

#endif
