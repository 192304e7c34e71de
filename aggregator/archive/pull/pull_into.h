/*
 * pull_into - the store that a partition of the archive is read into.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_PULL_PULL_INTO_H
#define AGGREGATOR_ARCHIVE_PULL_PULL_INTO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "aggregator/archive/epochs.h"
#include "aggregator/db/db.h"
#include "aggregator/tables/key.h"
#include "proto/base/buffer.h"

struct pull_into {
	struct clickhouse *client; /* not owned, as all of these */
	struct db *tables;
	const struct epochs_partition *partition;
	uint32_t number;   /* of the partition in the store */
	const char *where; /* epochs_sql */
	int32_t from_hour; /* records before this hour stay away */
	uint32_t node;     /* records of other nodes stay away; 0: of none */
	/* Partitions of stores with other keys are welcome, and rollups stay
	 * away until they are asked for. */
	bool is_mirror;
	/* Records are lacking (complete.h): go on.  NULL: that is an error. */
	void (*on_lack)(const char *sentence);
	bool records_only; /* of keys and values, what records need */
	bool is_later;     /* only what was added since an earlier reading */

	/* What all partitions of a store share, as it was in the first one:
	 * texts, keys and values by turns. */
	struct buffer common;
	const char *common_of;  /* that one's name; NULL: none yet */
	uint64_t records, rows; /* that were read */
	int64_t last_ns;        /* the newest of these records was received */
	uint64_t newest_row;    /* of the partition: its position */
	/* How often a replica did not answer: its silence costs time. */
	uint8_t silences[CLICKHOUSE_SHARDS_MAX][CLICKHOUSE_REPLICAS_MAX];
};

enum { PULL_SILENCES_MAX = 3 };
/* Is it not worth asking any more? */
static inline bool
pull_into_is_away(
    const struct pull_into *into, unsigned shard, unsigned replica)
{
	return into->silences[shard][replica] >= PULL_SILENCES_MAX;
}
/* Note what became of a question; returns whether it was answered. */
static inline bool
pull_into_answered(
    struct pull_into *into, unsigned shard, unsigned replica, int rc)
{
	if (rc != 0)
		into->silences[shard][replica]++;
	return rc == 0;
}

/* Ask a replica in format Native; `answer` is valid until the next question.
 * `sql` is freed. */
static inline int
pull_into_ask(const struct pull_into *into, unsigned shard, unsigned replica,
    char *sql, struct text *answer, struct err *err)
{
	int rc = clickhouse_ask_native(
	    into->client, shard, replica, sql, answer, err);

	free(sql);
	return rc;
}

#endif
