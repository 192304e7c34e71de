/*
 * apply - move what is committed of table `changes` to table `state`.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/apply.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "aggregator/archive/question.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/heartbeat.h"
#include "proto/os/log.h"

enum {
	/* Changes in a partition of the table; proto/archive.md. */
	PARTITION_BITS = 16,
	DROPS_MAX = 64, /* partitions at a time */
};
#define SETTLE_NS (10 * NS_PER_SECOND)

static int run(struct owners *owners, unsigned shard, unsigned replica,
    struct err *err, const char *sql, ...)
    __attribute__((format(printf, 5, 6)));

static int
run(struct owners *owners, unsigned shard, unsigned replica, struct err *err,
    const char *sql, ...)
{
	char *statement = NULL;
	size_t bytes;
	FILE *to = memory_stream(&statement, &bytes);
	va_list values;
	int rc;

	va_start(values, sql);
	vfprintf(to, sql, values);
	va_end(values);
	memory_stream_end(&to);
	heartbeat_rest();
	rc = clickhouse_run(owners->client, shard, replica, statement, err);
	heartbeat_beat();
	free(statement);
	return rc;
}

/* The newest version of each row, in a table. */
struct newest {
	uint64_t rows, hash;
};

static int
find_newest(const struct owners *owners, unsigned shard, unsigned replica,
    const char *table, uint64_t from, uint64_t to, struct newest *newest,
    struct err *err)
{
	const struct question question = { owners->client, shard, replica };
	uint64_t have[2];

	/* Hashes of keys: the keys themselves may not fit the memory. */
	if (question_numbers(&question, have, 2, err,
		"SELECT count(), sum(intHash64(bitXor(bitXor(part, h), "
		"intHash64(bitXor(newest, toUInt64(tbl)))))) FROM "
		"(SELECT part, tbl, sipHash64(k) AS h, max(pos) AS newest "
		"FROM %s.%s WHERE pos > %llu AND pos <= %llu "
		"GROUP BY part, tbl, h)",
		clickhouse_database(owners->client), table,
		(unsigned long long)from, (unsigned long long)to) != 0)
		return -1;
	*newest = (struct newest){ have[0], have[1] };
	return 0;
}

/* The newest versions in a table, if as many replicas as there should be agree
 * on them; `*replica` is one of these.  A replica that was replaced lacks
 * some until it has fetched them. */
static int
agree(struct owners *owners, unsigned shard, const char *table, uint64_t from,
    uint64_t to, struct newest *newest, unsigned *replica, struct err *err)
{
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(owners->client);
	unsigned replicas = cluster->shard[shard].replicas, copies = 0;
	unsigned wanted = question_copies(owners->client, shard);

	*newest = (struct newest){ 0, 0 };
	for (unsigned r = 0; r < replicas; r++) {
		struct newest have;

		if (find_newest(
			owners, shard, r, table, from, to, &have, err) != 0)
			continue;
		if (copies == 0 || have.rows > newest->rows) {
			*newest = have;
			*replica = r;
			copies = 0;
		}
		copies +=
		    have.rows == newest->rows && have.hash == newest->hash;
	}
	if (copies >= wanted)
		return 0;
	return err_set(err,
	    "archive: the replicas of shard %u do not agree on table %s",
	    shard + 1, table);
}

static int
await_copies(struct owners *owners, unsigned shard, const struct newest *of,
    uint64_t from, uint64_t to, struct err *err)
{
	const struct timespec step = { 0, NS_PER_SECOND / 10 };
	int64_t until = clock_monotonic_ns() + SETTLE_NS;
	struct newest have;
	unsigned replica;

	while (!atomic_load(owners->stop)) {
		bool agreed = agree(owners, shard, "state", from, to, &have,
				  &replica, err) == 0;

		if (agreed && have.rows == of->rows && have.hash == of->hash)
			return 0;
		if (clock_monotonic_ns() > until)
			break;
		nanosleep(&step, NULL);
	}
	return err_set(err,
	    "archive: the replicas of shard %u do not agree on table state",
	    shard + 1);
}

static int
apply_shard(struct owners *owners, unsigned shard, uint64_t from, uint64_t to,
    struct err *err)
{
	const char *database = clickhouse_database(owners->client);
	struct newest newest;
	unsigned replica;

	if (agree(owners, shard, "changes", from, to, &newest, &replica, err) !=
	    0)
		return -1;
	if (newest.rows == 0)
		return 0;
	/* Not what another aggregator has taken over, however late the
	 * statement comes. */
	if (run(owners, shard, replica, err,
		"INSERT INTO %s.state SELECT part, tbl, k, v, del, pos "
		"FROM %s.changes WHERE pos > %llu AND pos <= %llu AND "
		"part NOT IN (SELECT part FROM %s.owners WHERE epoch > %u OR "
		"epoch = %u AND until > 0)",
		database, database, (unsigned long long)from,
		(unsigned long long)to, database, owners->epoch,
		owners->epoch) != 0)
		return -1;
	return await_copies(owners, shard, &newest, from, to, err);
}

/* What cannot be dropped now is dropped next time. */
static void
drop_old(struct owners *owners, unsigned shard, uint64_t before)
{
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(owners->client);
	const char *database = clickhouse_database(owners->client);
	uint64_t low = pass_position(owners->epoch, 0), number[DROPS_MAX];
	unsigned numbers = 0;
	struct question question = { owners->client, shard, 0 };
	struct text answer;
	struct err err = { .text = "" };

	while (question.replica < cluster->shard[shard].replicas &&
	       question_ask(&question, &answer, &err,
		   "SELECT DISTINCT intDiv(pos - %llu, %u) FROM %s.changes "
		   "WHERE pos >= %llu AND pos < %llu LIMIT %u",
		   (unsigned long long)low, 1U << PARTITION_BITS, database,
		   (unsigned long long)low, (unsigned long long)(low + before),
		   DROPS_MAX) != 0)
		question.replica++;
	if (question.replica == cluster->shard[shard].replicas)
		return;
	while (numbers < DROPS_MAX &&
	       question_row(&question, &answer, &number[numbers], 1, &err) > 0)
		numbers++;
	for (unsigned i = 0; i < numbers; i++)
		for (unsigned r = 0; r < cluster->shard[shard].replicas; r++)
			if (run(owners, shard, r, &err,
				"ALTER TABLE %s.changes DROP PARTITION "
				"(%u, %llu)",
				database, owners->epoch,
				(unsigned long long)number[i]) == 0)
				break;
	if (err.text[0] != '\0')
		log_warn("%s", err.text);
}

int
apply_changes(
    struct owners *owners, struct checkpoint *checkpoint, struct err *err)
{
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(owners->client);
	uint64_t from = pass_position(owners->epoch, checkpoint->applied);
	uint64_t to = pass_position(owners->epoch, checkpoint->place.change);
	struct checkpoint next = *checkpoint;

	for (unsigned s = 0; s < cluster->shards; s++)
		if (apply_shard(owners, s, from, to, err) != 0)
			return -1;
	next.applied = checkpoint->place.change;
	if (checkpoint_commit(owners->client, owners->epoch, &next, err) != 0)
		return -1;
	*checkpoint = next;
	for (unsigned s = 0; s < cluster->shards; s++)
		drop_old(owners, s,
		    next.applied >> PARTITION_BITS << PARTITION_BITS);
	return 0;
}
