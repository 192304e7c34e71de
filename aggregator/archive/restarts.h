/*
 * restarts - has a server of the archive started again?
 *
 * Servers before version 22 do not sync what they confirm.  If all replicas of
 * a shard lose power at once, all of them may lack the last half minute.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_RESTARTS_H
#define AGGREGATOR_ARCHIVE_RESTARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/clickhouse/client.h"

/* When each server started, by the monotonic clock here; all zeros: no look.  A
 * look sets `found`, also one that fails; its reader resets it. */
struct restarts {
	int64_t began_s[CLICKHOUSE_SHARDS_MAX][CLICKHOUSE_REPLICAS_MAX];
	bool found; /* a server started again */
};

/* Look at all servers that answer.  -1: none of a shard does. */
int restarts_look(
    struct restarts *restarts, struct clickhouse *client, struct err *err);

#endif
