/*
 * packed_private - shared by the files of packed.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PACKED_PACKED_PRIVATE_H
#define AGGREGATOR_PACKED_PACKED_PRIVATE_H

#include "aggregator/packed/block.h"

enum { GATHER_MAX = 2048 };

struct packed {
	struct block *block;
	struct chunk_writer *writer;
	struct buffer value;                 /* the block being written */
	unsigned char key[DB_KEY_BYTES_MAX]; /* of the block that was found */
	uint32_t key_bytes;
	/* Of a pass: single rows, as (key, value) one after the other, and
	 * these and the rows of a block in order. */
	struct buffer texts;
	struct gathered {
		uint32_t key_bytes, value_bytes;
	} gathered[GATHER_MAX];
	uint32_t count;
	struct text rest[GATHER_MAX + BLOCK_ROWS_MAX];
	struct text value_of[GATHER_MAX + BLOCK_ROWS_MAX];
};

/* Find the block that has the key if any has; its key is packed->key. */
bool packed_find_block(struct packed *packed, struct db_txn *txn,
    struct packed_table table, struct text key, struct text *bytes);
/* Read the block that was found; false: it is malformed, which is noted. */
bool packed_read_block(struct packed *packed, struct db_txn *txn,
    struct packed_table table, struct text bytes);
struct text packed_block_key(const struct packed *packed);
bool packed_same_front(struct packed_table table, struct text a, struct text b);
struct text packed_rest(struct packed_table table, struct text key);
/* The key of a row. */
struct text packed_row_key(unsigned char to[static DB_KEY_BYTES_MAX],
    struct packed_table table, const unsigned char *front, struct text rest);
/* Put rows as one block. */
void packed_put_block(struct packed *packed, struct db_txn *txn,
    struct packed_table table, const unsigned char *front,
    const struct text *rest, const struct text *value, uint32_t count);

#endif
