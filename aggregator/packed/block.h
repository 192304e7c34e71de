/*
 * block - rows of one front as the value of one row.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PACKED_BLOCK_H
#define AGGREGATOR_PACKED_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/packed/packed.h"

enum {
	BLOCK_ROWS_MAX = 2048,
	BLOCK_KEY_ROOM = DB_KEY_BYTES_MAX - PACKED_FRONT_MAX,
};

struct chunk_reader;
struct chunk_writer;

/* Rows in the order of their keys. */
struct block {
	unsigned front_bytes;
	unsigned char front[PACKED_FRONT_MAX];
	uint32_t count;
	struct text rest[BLOCK_ROWS_MAX]; /* of the keys, behind the front */
	struct text value[BLOCK_ROWS_MAX];
	struct chunk_reader *reader;
	struct buffer texts;  /* all of them */
	struct buffer stored; /* the bytes that were read; empty: none */
};

struct block *block_new(void);
void block_free(struct block **block);

/* May the block with these bytes have the key with this rest?  No: it has not.
 */
bool block_may_have(struct text bytes, struct text rest);
/* Read a block; the texts are views, valid until another one is read, also when
 * the transaction has ended.  False: it is malformed. */
bool block_read(
    struct block *block, unsigned front, struct text key, struct text bytes);
/* The place of the first row that is not before `rest`. */
uint32_t block_find(const struct block *block, struct text rest);

/* Write `count` rows, at least one; the key of the block is that of the last
 * one. */
void block_write(struct chunk_writer *writer, const struct text *rest,
    const struct text *value, uint32_t count, struct buffer *to);

#endif
