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
	unsigned order[CLICKHOUSE_REPLICAS_MAX], copies = 0;
	unsigned replicas = clickhouse_cluster(client)->shard[shard].replicas;
	struct buffer encoded = { NULL, 0, 0 };
	struct err why = { .text = "" };

	native_encode(block, &encoded);
	(void)clickhouse_order(client, shard, 0, order);
	for (unsigned i = 0; i < replicas && copies < wanted; i++) {
		heartbeat_rest();
		copies += clickhouse_insert(client, shard, order[i], table,
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
