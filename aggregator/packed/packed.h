/*
 * packed - a table of small rows, most of which rest: those are packed into
 * blocks.
 *
 * A row costs an LMDB page 10 bytes, its checksum 4, its key, and half of a
 * page where rows come in another order than that of their keys.  So the table
 * is two: `rows` has what changes, `blocks` has what rests, many rows in each
 * row.  A key is in one of them, never in both: a row that is in a block is
 * taken out of it before it is put or deleted.  Both are changed in one
 * transaction of the only writer, so there is nothing to plan, and nothing
 * that an interrupted packing leaves behind.
 *
 * The first bytes of a key are its front; a block has rows of one front. Blocks
 * do not overlap.  proto/store.md, "Blocks of rows", describes the bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PACKED_PACKED_H
#define AGGREGATOR_PACKED_PACKED_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "proto/base/buffer.h"

enum {
	PACKED_FRONT_MAX = 8,
	PACKED_BYTES = 24 << 10,    /* of the rows of a block, about */
	PACKED_ROW_BYTES = 8 << 10, /* a larger row is never packed */
};

/* The two tables, and how many bytes of a key are its front. */
struct packed_table {
	unsigned rows, blocks, front;
};

struct packed; /* opaque: the memory of one thread */
struct packed *packed_new(void);
void packed_free(struct packed **packed);

/* As db_get; `value` is valid until the next call with this `packed`, and in a
 * transaction that writes until the next put. */
bool packed_get(struct packed *packed, struct db_txn *txn,
    struct packed_table table, struct text key, struct text *value);
/* The same, with the memory of the transaction: `value` is valid until its end.
 */
bool packed_keep(struct db_txn *txn, struct packed_table table, struct text key,
    struct text *value);
/* As db_put and db_del. */
void packed_put(struct packed *packed, struct db_txn *txn,
    struct packed_table table, struct text key, struct text value);
bool packed_del(struct packed *packed, struct db_txn *txn,
    struct packed_table table, struct text key);
/* Make the block that has `key` rows again, if one has it: for a walk that will
 * change many of them. */
void packed_unpack(struct packed *packed, struct db_txn *txn,
    struct packed_table table, struct text key);

/* The same with some blocks, from the key `from` on: for work that will ask for
 * most rows, in another order than that of their keys.  True: there are more,
 * from the key that `from` has now. */
bool packed_unpack_some(struct packed *packed, struct db_txn *txn,
    struct packed_table table, struct buffer *from);

/* A walk in the order of keys.  `found` and `value` are valid until the next
 * call.  After a change of the tables, other than of the row that was found
 * last, seek again. */
struct packed_cursor;
struct packed_cursor *packed_cursor_open(
    struct db_txn *txn, struct packed_table table);
void packed_cursor_close(struct packed_cursor **cursor);
bool packed_seek(struct packed_cursor *cursor, struct text key,
    struct text *found, struct text *value);
bool packed_next(
    struct packed_cursor *cursor, struct text *found, struct text *value);
/* The same backwards, from the last key that is less than `key`. */
bool packed_seek_before(struct packed_cursor *cursor, struct text key,
    struct text *found, struct text *value);
bool packed_previous(
    struct packed_cursor *cursor, struct text *found, struct text *value);

/* Does a row rest?  What does not rest is not packed. */
typedef bool packed_rests(void *arg, struct text key, struct text value);

/* Call `call` with each row of a block; `key` and `bytes` are those of the
 * block.  Returns what the last call did; damage is counted. */
typedef int packed_row(
    void *arg, struct text key, struct text value, struct err *err);
int packed_each(struct packed *packed, struct db_txn *txn,
    struct packed_table table, struct text key, struct text bytes,
    packed_row *call, void *arg, struct err *err);

struct packed_pass {
	struct packed_table table;
	packed_rests *rests;
	void *arg;
	/* Pack all that rests, also where that are few rows.  Otherwise the
	 * last block is a full one, and a block is written again when a
	 * quarter of its number of rows have come into its range. */
	bool all;
	unsigned char front[PACKED_FRONT_MAX];
	struct buffer from; /* the rest of the next key; empty: the first */
};
/* Check all blocks; `report` gets a sentence for each that is wrong. */
void packed_verify(struct packed *packed, struct db_txn *txn,
    struct packed_table table, void (*report)(void *arg, const char *sentence),
    void *arg);

/* Pack rows of one front from `pass->from` on, in a part of a transaction.
 * True: there are more. */
bool packed_pack(
    struct packed *packed, struct db_txn *txn, struct packed_pass *pass);

#endif
