/*
 * latest - what was last heard of the nodes of a partition.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/read/read_private.h"

#include <stdlib.h>

#include "aggregator/tables/latest.h"
#include "proto/base/memory.h"

struct node {
	uint32_t number;
	struct latest is;
};

struct nodes {
	struct names *names;
	struct node *at;
	uint32_t count, room;
};

static int
take(void *arg, struct fetch *row, struct err *err)
{
	struct nodes *nodes = arg;
	struct node node = { .number =
				 names_number(nodes->names, fetch_text(row)) };

	(void)err;
	node.is.receive_ns = fetch_int(row);
	node.is.time_ns = fetch_int(row);
	node.is.sample_ns = fetch_int(row);
	node.is.clock.time_ns = fetch_int(row);
	node.is.clock.value = fetch_int(row);
	node.is.spool.time_ns = fetch_int(row);
	node.is.spool.value = fetch_int(row);
	node.is.life.time_ns = fetch_int(row);
	node.is.life.value = fetch_int(row);
	*MEMORY_ADD(nodes->at, nodes->room, nodes->count) = node;
	return 0;
}

static int
compare(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static void
put_rows(struct nodes *nodes, uint32_t partition, struct made *range)
{
	unsigned char key[LATEST_KEY_BYTES];
	struct buffer value = { NULL, 0, 0 };
	struct latest_row row = { .has = 0 };

	if (nodes->count > 1)
		qsort(nodes->at, nodes->count, sizeof(*nodes->at), compare);
	for (uint32_t i = 0; i < nodes->count; i++) {
		uint32_t block = nodes->at[i].number / LATEST_NODES;

		row.has |= UINT64_C(1) << nodes->at[i].number % LATEST_NODES;
		row.at[nodes->at[i].number % LATEST_NODES] = nodes->at[i].is;
		if (i + 1 < nodes->count &&
		    nodes->at[i + 1].number / LATEST_NODES == block)
			continue;
		value.bytes = 0;
		latest_encode(&row, &value);
		latest_put_key(key, partition, block);
		made_put(range, (struct text){ (char *)key, sizeof(key) },
		    buffer_text(&value));
		row.has = 0;
	}
	buffer_clear(&value);
}

int
read_latest(struct archive_read *read, struct text key, struct made *range,
    struct err *err)
{
	static const struct native_column columns[] = {
		{ "node", NATIVE_STRING },
		{ "recv", NATIVE_INT64 },
		{ "ts", NATIVE_INT64 },
		{ "sample", NATIVE_INT64 },
		{ "clock_ts", NATIVE_INT64 },
		{ "clock", NATIVE_INT64 },
		{ "spool_ts", NATIVE_INT64 },
		{ "spool", NATIVE_INT64 },
		{ "life_ts", NATIVE_INT64 },
		{ "life", NATIVE_INT64 },
	};
	struct nodes nodes = { .names = NULL };
	int rc;
	struct read_partition *of =
	    archive_read_whole(read, key, 1, range, &rc, err);
	char *sql;

	if (of == NULL)
		return rc;
	nodes.names = of->names;
	sql = memory_format(
	    "SELECT node, recv, ts, sample, clock_ts, clock, spool_ts, spool, "
	    "life_ts, life FROM %s.nodes FINAL WHERE part = %llu",
	    clickhouse_database(read->fetch.client),
	    (unsigned long long)of->part);
	rc = fetch_home(&read->fetch, SCHEMA_NODES, of->part, columns,
	    sizeof(columns) / sizeof(columns[0]), sql, take, &nodes, err);
	free(sql);
	if (rc == 0)
		put_rows(&nodes, varint_get_u32_be(key.at + 1), range);
	free(nodes.at);
	return rc;
}
