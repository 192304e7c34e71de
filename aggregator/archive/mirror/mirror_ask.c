/*
 * mirror_ask - which hours the archive has, and of how many samples.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/mirror/mirror_private.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/question.h"
#include "aggregator/archive/rows/record_columns.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"

#define HOUR_ZERO 0x80000000u

struct ask {
	struct mirror *mirror;
	uint8_t kind;
	char *sql;
	mirror_ask_hour *call;
	void *arg;
	/* mirror_ask_samples: those of the shard. */
	int32_t first, hours;
	uint64_t *samples;
};

static int
take(struct ask *ask, const uint64_t *row, struct err *err)
{
	int64_t at;

	if (ask->samples == NULL) {
		ask->call(ask->arg, ask->kind, (int32_t)row[0]);
		return 0;
	}
	at = (int64_t)row[0] - ask->first;
	if (at < 0 || at >= ask->hours)
		return err_set(err, "archive: an hour that was not asked for");
	if (row[1] > ask->samples[at])
		ask->samples[at] = row[1];
	return 0;
}

static int
ask_replica(struct ask *ask, unsigned shard, unsigned replica, struct err *err)
{
	const struct question question = { ask->mirror->client, shard,
		replica };
	unsigned numbers = ask->samples == NULL ? 1 : 2;
	struct text answer;
	uint64_t row[2];
	int rc;

	if (question_ask(&question, &answer, err, "%s", ask->sql) != 0)
		return -1;
	while ((rc = question_row(&question, &answer, row, numbers, err)) > 0)
		if (take(ask, row, err) != 0)
			return -1;
	return rc;
}

/* All replicas that answer: one that lacks something must not be the judge. */
static int
ask_shard(struct ask *ask, unsigned shard, struct err *err)
{
	struct mirror *mirror = ask->mirror;
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(mirror->client);
	bool answered = false;

	for (unsigned r = 0; r < cluster->shard[shard].replicas; r++)
		if (!pull_into_is_away(&mirror->into, shard, r))
			answered |= pull_into_answered(&mirror->into, shard, r,
			    ask_replica(ask, shard, r, err));
	return answered ? 0
			: err_prefix(err,
			      "archive: shard %u has no replica that gives all "
			      "of %s",
			      shard + 1, mirror->into.partition->name);
}

static const char *
database(const struct mirror *mirror)
{
	return clickhouse_database(mirror->client);
}

/* The first time all rows, also those that do not count yet: they are fewer
 * columns to read, and rollups may have replaced some that do count. */
static char *
rows_sql(const struct mirror *mirror)
{
	const struct pull_into *into = &mirror->into;

	return into->is_later ? memory_string(into->where)
			      : memory_format("part = %llu",
				    (unsigned long long)into->partition->part);
}

static char *
rollup_hours_sql(const struct mirror *mirror, unsigned table)
{
	char *where = rows_sql(mirror);
	char *sql = memory_format(
	    "SELECT DISTINCT reinterpretAsUInt32(reverse(substring(k, 2, 4))) "
	    "FROM (SELECT k FROM %s.state WHERE %s AND tbl = %u UNION ALL "
	    "SELECT k FROM %s.changes WHERE %s AND tbl = %u)",
	    database(mirror), where, table, database(mirror), where, table);

	free(where);
	return sql;
}

static void
call_decoded(void *arg, uint8_t kind, int32_t hour)
{
	const struct ask *ask = arg;

	ask->call(ask->arg, kind, (int32_t)((uint32_t)hour ^ HOUR_ZERO));
}

int
mirror_ask_hours(struct mirror *mirror, uint8_t kind, mirror_ask_hour *call,
    void *arg, struct err *err)
{
	unsigned shards = clickhouse_cluster(mirror->client)->shards;
	struct ask ask = {
		.mirror = mirror, .kind = kind, .call = call, .arg = arg
	};
	struct ask decoded = ask;
	char *where;
	int rc = 0;

	if (kind > ABSENT_ROLLUP) {
		decoded.sql = rollup_hours_sql(
		    mirror, tables_rollup(kind - ABSENT_ROLLUP));
		decoded.call = call_decoded;
		decoded.arg = &ask;
		rc = ask_shard(&decoded,
		    (unsigned)(mirror->into.partition->part % shards), err);
		free(decoded.sql);
		return rc;
	}
	where = rows_sql(mirror);
	ask.sql = memory_format("SELECT DISTINCT hour FROM %s.%s WHERE %s",
	    database(mirror), archive_table((enum record_kind)kind), where);
	free(where);
	for (unsigned s = 0; rc == 0 && s < shards; s++)
		rc = ask_shard(&ask, s, err);
	free(ask.sql);
	return rc;
}

int
mirror_ask_samples(struct mirror *mirror, int32_t first, int32_t hours,
    uint64_t *samples, struct err *err)
{
	unsigned shards = clickhouse_cluster(mirror->client)->shards;
	struct ask ask = { .mirror = mirror,
		.first = first,
		.hours = hours,
		.samples = memory_zero((size_t)hours, sizeof(*samples)) };
	int rc = 0;

	ask.sql = memory_format(
	    "SELECT hour, count() FROM %s.%s WHERE part = %llu AND "
	    "hour >= %d AND hour < %d GROUP BY hour",
	    database(mirror), archive_table(RECORD_SAMPLE),
	    (unsigned long long)mirror->into.partition->part, first,
	    first + hours);
	memset(samples, 0, (size_t)hours * sizeof(*samples));
	for (unsigned s = 0; rc == 0 && s < shards; s++) {
		memset(ask.samples, 0, (size_t)hours * sizeof(*samples));
		rc = ask_shard(&ask, s, err);
		for (int32_t i = 0; i < hours; i++)
			samples[i] += ask.samples[i];
	}
	free(ask.samples);
	free(ask.sql);
	return rc;
}
