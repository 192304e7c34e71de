/*
 * block_sender - rows on their way to the archive: a block for each shard and
 * table, sent when it is large enough, and what was sent since the last commit.
 *
 * The next block is made while two are on their way (block_request.h).
 * A block goes to one replica of its shard; if that one does not confirm it,
 * to the next.  The same row may therefore be there twice: rows have an
 * identity, and the archive keeps one of those that are equal.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_BLOCKS_BLOCK_SENDER_H
#define AGGREGATOR_ARCHIVE_BLOCKS_BLOCK_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/archive/blocks/block_request.h"
#include "aggregator/archive/schema/schema.h"
#include "proto/base/err.h"
#include "proto/clickhouse/client.h"
#include "proto/clickhouse/native.h"
#include "proto/record/record.h"

/* What was sent to a table of a shard. */
struct block_sender_total {
	uint64_t rows, hash; /* sum of the hashes of their identities */
	int32_t first_hour, last_hour; /* of records */
};

struct block_sender_block {
	struct native_block *block;      /* NULL: none yet */
	struct block_sender_total total; /* of the rows in the block */
};

struct block_sender_shard {
	unsigned replica; /* the one that took the last block */
	struct block_sender_block block[SCHEMA_TYPED];
	struct block_sender_total sent[SCHEMA_TYPED];
};

/* A block on its way; no rows: none, or its end was noted. */
struct block_sender_request {
	struct block_request request;
	unsigned table;
	struct block_sender_total total;
};

/* Blocks on their way at a time.  More need 16 MiB each, and are not made
 * faster than two are stored. */
enum { BLOCK_SENDER_REQUESTS = 2 };

struct block_sender {
	struct clickhouse *client; /* not owned */
	const struct clickhouse_cluster *cluster;
	unsigned shards; /* when it was opened */
	struct block_sender_shard *shard;
	struct block_sender_request request[BLOCK_SENDER_REQUESTS];
	struct native_column typed[SCHEMA_TYPED][SCHEMA_COLUMNS_MAX];
	unsigned last;  /* the one that began last */
	uint64_t bytes; /* sent, since block_sender_open */
	uint64_t rows;
	uint64_t resends; /* blocks that a replica did not confirm */
};

void block_sender_open(struct block_sender *sender, struct clickhouse *client,
    const struct clickhouse_cluster *cluster);
void block_sender_close(struct block_sender *sender);

/* The shard of what a partition has that belongs to no node. */
unsigned block_sender_home(const struct block_sender *sender, uint64_t part);

/* The block for the next row of a table (enum schema_number); the caller puts
 * one value into each column, then calls block_sender_added with the hash of
 * the row's identity. */
struct native_block *block_sender_block(
    struct block_sender *sender, unsigned shard, unsigned table);
/* Sends the block if it is large enough.  `hour`: of a record, else 0. */
int block_sender_added(struct block_sender *sender, unsigned shard,
    unsigned table, uint64_t hash, int32_t hour, struct err *err);
/* Send what is left of the rows of a stage, and wait for what is on its way.
 * -1, also of block_sender_added: a shard has no replica that takes a block;
 * call block_sender_undo. */
int block_sender_flush(struct block_sender *sender,
    const struct schema_stage *stage, struct err *err);
/* Wait for what is on its way, drop the blocks that were not sent, and restore
 * the totals of a copy of `shard`, taken when no block had rows. */
void block_sender_undo(
    struct block_sender *sender, const struct block_sender_shard *before);
/* Count from zero, and drop the blocks that were not sent: all is committed,
 * or will be sent again. */
void block_sender_forget(struct block_sender *sender);

#endif
