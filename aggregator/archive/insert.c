/*
 * insert - write a block of rows to the archive.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/insert.h"

#include "proto/os/heartbeat.h"

int
insert_block(struct clickhouse *client, unsigned shard, const char *table,
    struct native_block *block, unsigned wanted, struct err *err)
{
	const struct clickhouse_cluster *cluster = clickhouse_cluster(client);
	unsigned copies = 0;
	struct buffer encoded = { NULL, 0, 0 };
	struct err why = { .text = "" };

	native_encode(block, &encoded);
	for (unsigned r = 0;
	     r < cluster->shard[shard].replicas && copies < wanted; r++) {
		heartbeat_rest();
		copies += clickhouse_insert(client, shard, r, table,
			      buffer_text(&encoded), &why) == 0;
		heartbeat_beat();
	}
	buffer_clear(&encoded);
	return copies == wanted
		   ? 0
		   : err_set(err,
			 "archive: %u of %u replicas of shard %u took a row of "
			 "table %s: %.300s",
			 copies, wanted, shard + 1, table, why.text);
}
