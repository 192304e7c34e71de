/*
 * archive_id - which archive it is.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/schema/archive_id.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/hash/hash.h"

enum { SQL_BYTES = 256, NUMBERS_MAX = 4096 };

/* The numbers of all shards, each once. */
struct numbers {
	uint64_t at[NUMBERS_MAX];
	unsigned count;
};

static void
add(struct numbers *numbers, uint64_t number)
{
	for (unsigned i = 0; i < numbers->count; i++)
		if (numbers->at[i] == number)
			return;
	if (numbers->count < NUMBERS_MAX)
		numbers->at[numbers->count++] = number;
}

static int
read_replica(struct clickhouse *clickhouse, unsigned shard, unsigned replica,
    struct numbers *numbers, struct err *err)
{
	char sql[SQL_BYTES];
	struct text answer, line;
	uint64_t number;

	snprintf(sql, sizeof(sql),
	    "SELECT DISTINCT toUInt64OrZero(substring(name, 4)) FROM %s.meta "
	    "WHERE substring(name, 1, 3) = 'id:'",
	    clickhouse_database(clickhouse));
	if (clickhouse_ask(clickhouse, shard, replica, sql, &answer, err) != 0)
		return -1;
	while (text_next_line(&answer, &line)) {
		if (number_parse_u64(line, &number, err) != 0)
			return err_prefix(err, "archive: table meta");
		add(numbers, number);
	}
	return 0;
}

/* A replica that was replaced fetches its rows from the others. */
static int
read_shard(struct clickhouse *clickhouse, unsigned shard,
    struct numbers *numbers, struct err *err)
{
	unsigned replicas =
	    clickhouse_cluster(clickhouse)->shard[shard].replicas;
	unsigned before = numbers->count;
	unsigned order[CLICKHOUSE_REPLICAS_MAX];
	unsigned awake = clickhouse_order(clickhouse, shard, 0, order);
	bool answered = false;

	for (unsigned i = 0; i < replicas && (i < awake || !answered); i++)
		answered |= read_replica(
				clickhouse, shard, order[i], numbers, err) == 0;
	if (!answered)
		return err_prefix(
		    err, "archive: no replica of shard %u", shard + 1);
	return numbers->count > before
		   ? 0
		   : err_set(err,
			 "archive: shard %u has no id; run poolscope archive "
			 "create",
			 shard + 1);
}

int
archive_id_read(struct clickhouse *clickhouse, uint64_t *id, struct err *err)
{
	unsigned shards = clickhouse_cluster(clickhouse)->shards;
	struct numbers *numbers = memory_zero(1, sizeof(*numbers));
	int rc = 0;

	for (unsigned s = 0; s < shards && rc == 0; s++)
		rc = read_shard(clickhouse, s, numbers, err);
	*id = 0;
	for (unsigned i = 0; i < numbers->count; i++)
		*id ^= numbers->at[i];
	if (*id == 0)
		*id = 1; /* 0: a store knows none */
	free(numbers);
	return rc;
}

int
archive_id_add(struct clickhouse *clickhouse, unsigned shard, unsigned replica,
    struct err *err)
{
	char sql[SQL_BYTES];
	uint64_t number;

	hash_random_bytes(&number, sizeof(number));
	snprintf(sql, sizeof(sql),
	    "INSERT INTO %s.meta (name, value) VALUES ('id:%" PRIu64 "', '')",
	    clickhouse_database(clickhouse), number);
	return clickhouse_run(clickhouse, shard, replica, sql, err);
}
