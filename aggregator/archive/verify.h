/*
 * verify - do the replicas have all rows that were sent?
 *
 * Each replica is asked for the number of rows of the positions that were sent
 * since the last commit, and for the sum of the hashes of their identities.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_VERIFY_H
#define AGGREGATOR_ARCHIVE_VERIFY_H

#include "aggregator/archive/blocks/block_sender.h"

/* The positions of the passes that were sent since the last commit. */
enum { VERIFY_POSITIONS_MAX = 1024 };
struct verify_positions {
	uint64_t at[VERIFY_POSITIONS_MAX];
	unsigned count;
};

/* The replicas that were found complete, by shard; all zeros at first.  They
 * stay complete as long as nothing more is sent, so they are asked once. */
struct verify_seen {
	bool at[CLICKHOUSE_SHARDS_MAX][CLICKHOUSE_REPLICAS_MAX];
};

/* What each shard has. */
struct verify_result {
	unsigned copies_least; /* complete replicas of the worst shard */
	unsigned wanted;       /* of the shard that needs most */
	bool is_enough; /* each shard has two, or the one that it consists of */
	unsigned shard; /* the worst one */
	bool has_err;   /* a replica of it could not be asked: */
	struct err err;
};

void verify_all(struct block_sender *sender,
    const struct verify_positions *positions, const struct schema_stage *stage,
    struct verify_seen *seen, struct verify_result *result);

#endif
