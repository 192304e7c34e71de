/*
 * pull_into - the store that a partition of the archive is read into.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/pull/pull_into.h"

#include <stdlib.h>

int
pull_into_ask(const struct pull_into *into, unsigned shard, unsigned replica,
    char *sql, struct text *answer, struct err *err)
{
	int rc = clickhouse_ask_native(
	    into->client, shard, replica, sql, answer, err);

	free(sql);
	return rc;
}
