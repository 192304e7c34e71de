/*
 * mirror_counts - what the archive says is stored of each partition.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/mirror/mirror_counts.h"

#include <stdlib.h>

#include "aggregator/archive/pass.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"
#include "proto/clickhouse/native_read.h"

/* The word "partition": tables_counts_key without the number. */
#define COUNTS_WORD "706172746974696F6E"

enum { OF_PART, OF_VALUE, OF_DELETED, OF_POS };
static const struct native_column columns[] = {
	{ "part", NATIVE_UINT64 },
	{ "v", NATIVE_STRING },
	{ "del", NATIVE_UINT8 },
	{ "pos", NATIVE_UINT64 },
};

struct counts {
	struct clickhouse *client;
	const struct pull_claims *claims;
	uint64_t *pos;   /* of each partition: that of the newest row */
	uint32_t *order; /* the partitions by part */
	mirror_count *call;
	void *arg;
	struct native_reader *reader;
};

static bool
is_counted(const struct pull_partition *partition, uint64_t pos)
{
	for (unsigned i = 0; i < partition->epochs; i++)
		if (pos >> PASS_CHANGE_BITS == partition->epoch[i].epoch)
			return pos <= partition->epoch[i].until;
	return false;
}

/* UINT32_MAX: it is none of them. */
static uint32_t
find(const struct counts *counts, uint64_t part)
{
	const struct pull_partition *all = counts->claims->partition;
	uint32_t low = 0, high = counts->claims->partitions;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (all[counts->order[middle]].part < part)
			low = middle + 1;
		else
			high = middle;
	}
	return low < counts->claims->partitions &&
		       all[counts->order[low]].part == part
		   ? counts->order[low]
		   : UINT32_MAX;
}

static void
take_row(struct counts *counts, uint32_t i)
{
	uint64_t pos = native_read_uint(counts->reader, OF_POS, i);
	uint32_t at =
	    find(counts, native_read_uint(counts->reader, OF_PART, i));

	if (at == UINT32_MAX || pos <= counts->pos[at] ||
	    !is_counted(&counts->claims->partition[at], pos))
		return;
	counts->pos[at] = pos;
	if (native_read_uint(counts->reader, OF_DELETED, i) == 0)
		counts->call(counts->arg, at,
		    native_read_text(counts->reader, OF_VALUE, i));
}

static int
ask(struct counts *counts, unsigned shard, unsigned replica, struct err *err)
{
	const char *database = clickhouse_database(counts->client);
	char *sql = memory_format(
	    "SELECT part, v, del, pos FROM %s.state WHERE tbl = %d AND "
	    "k = unhex('" COUNTS_WORD "') UNION ALL "
	    "SELECT part, v, del, pos FROM %s.changes WHERE tbl = %d AND "
	    "k = unhex('" COUNTS_WORD "')",
	    database, TABLES_META, database, TABLES_META);
	struct text answer;
	int got = clickhouse_ask_native(
	    counts->client, shard, replica, sql, &answer, err);

	free(sql);
	if (got != 0)
		return -1;
	native_read_close(&counts->reader);
	counts->reader =
	    native_read_open(columns, sizeof(columns) / sizeof(columns[0]));
	while ((got = native_read_next(counts->reader, &answer, err)) > 0)
		for (uint32_t i = 0; i < native_read_rows(counts->reader); i++)
			take_row(counts, i);
	return got < 0 ? -1 : native_read_end(counts->reader, err);
}

static int
ask_all(struct counts *counts, struct err *err)
{
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(counts->client);

	for (unsigned s = 0; s < cluster->shards; s++) {
		bool answered = false;

		for (unsigned r = 0; r < cluster->shard[s].replicas; r++)
			answered |= ask(counts, s, r, err) == 0;
		if (!answered)
			return err_prefix(
			    err, "archive: no replica of shard %u", s + 1);
	}
	return 0;
}

static int
compare_parts(const void *a, const void *b, void *arg)
{
	const struct pull_partition *all = arg;
	uint64_t x = all[*(const uint32_t *)a].part;
	uint64_t y = all[*(const uint32_t *)b].part;

	return (x > y) - (x < y);
}

int
mirror_counts(struct clickhouse *client, const struct pull_claims *claims,
    mirror_count *call, void *arg, struct err *err)
{
	uint32_t count = claims->partitions;
	struct counts counts = { .client = client,
		.claims = claims,
		.pos = memory_zero(count + 1, sizeof(*counts.pos)),
		.order = memory_zero(count + 1, sizeof(*counts.order)),
		.call = call,
		.arg = arg };
	int rc;

	for (uint32_t i = 0; i < count; i++)
		counts.order[i] = i;
	qsort_r(counts.order, count, sizeof(*counts.order), compare_parts,
	    claims->partition);
	rc = ask_all(&counts, err);
	native_read_close(&counts.reader);
	free(counts.order);
	free(counts.pos);
	return rc;
}
