/*
 * sender - rows on their way to the archive: a block for each shard and table,
 * sent when it is large enough, and what was sent since the checkpoint.
 *
 * A block goes to one replica of its shard; if that one does not confirm it,
 * to the next.  The same row may therefore be there twice: rows have an
 * identity, and the archive keeps one of those that are equal.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_SENDER_H
#define AGGREGATOR_ARCHIVE_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/clickhouse/client.h"
#include "proto/clickhouse/native.h"
#include "proto/record/record.h"

/* Tables of the archive: those of the kinds of records come first, each under
 * the number of its kind. */
enum {
	SENDER_NAMES = RECORD_KINDS,
	SENDER_CHANGES,
	SENDER_TABLES,
};

/* What was sent to a table of a shard. */
struct sender_total {
	uint64_t rows, hash; /* sum of the hashes of their identities */
	int32_t first_hour, last_hour; /* of records */
};

struct sender_block {
	struct native_block *block; /* NULL: none yet */
	struct sender_total total;  /* of the rows in the block */
};

struct sender_shard {
	unsigned replica; /* the one that took the last block */
	struct sender_block block[SENDER_TABLES];
	struct sender_total sent[SENDER_TABLES];
};

struct sender {
	struct clickhouse *client; /* not owned */
	const struct clickhouse_cluster *cluster;
	unsigned shards; /* when it was opened */
	struct sender_shard *shard;
	struct buffer encoded;
	uint64_t bytes; /* sent, since sender_open */
	uint64_t rows;
	uint64_t resends; /* blocks that a replica did not confirm */
};

void sender_open(struct sender *sender, struct clickhouse *client,
    const struct clickhouse_cluster *cluster);
void sender_close(struct sender *sender);

/* The table in the archive. */
const char *sender_table(unsigned table);
/* The shard of the records of a node of a partition, in an archive of that
 * many; that of everything else of the partition. */
unsigned sender_shard_in(unsigned shards, uint64_t part, uint32_t node);
unsigned sender_home(const struct sender *sender, uint64_t part);

/* The block for the next row of a table; the caller puts one value into each
 * column, then calls sender_added with the hash of the row's identity. */
struct native_block *sender_block(
    struct sender *sender, unsigned shard, unsigned table);
/* Sends the block if it is large enough.  `hour`: of a record, else 0. */
int sender_added(struct sender *sender, unsigned shard, unsigned table,
    uint64_t hash, int32_t hour, struct err *err);
/* Send what is left.  -1: a shard has no replica that takes it. */
int sender_flush(struct sender *sender, struct err *err);
/* Drop the blocks that were not sent, and restore the totals of a copy of
 * `shard`, taken when no block had rows. */
void sender_undo(struct sender *sender, const struct sender_shard *before);
/* Count from zero: all that was sent is committed, or will be sent again.
 */
void sender_forget(struct sender *sender);

#endif
