/*
 * retain - delete old records of an archive.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/upkeep/retain.h"

#include <inttypes.h>
#include <stdio.h>

#include "aggregator/archive/kept.h"
#include "aggregator/archive/partitions.h"
#include "aggregator/archive/question.h"
#include "proto/os/clock.h"

enum { HOURS = 24, SQL_BYTES = 256, DAYS_MAX = 4096 };
#define DAY_NS (HOURS * 3600 * NS_PER_SECOND)

static const char *const tables[] = { "events", "spans", "samples", "gaps",
	"rejected", NULL };

struct retain {
	struct clickhouse *client;
	const struct clickhouse_cluster *cluster;
	const char *database;
	int64_t day; /* the first one that is kept */
	struct retain_report *report;
};

/* ---- of all partitions ---- */

/* Days of a table of which a replica of the shard has records; each replica may
 * have fetched others. */
static int
read_days(struct retain *retain, unsigned shard, const char *table,
    int64_t day[static DAYS_MAX], unsigned *days, struct err *err)
{
	bool answered = false;

	*days = 0;
	for (unsigned r = 0; r < retain->cluster->shard[shard].replicas; r++) {
		const struct question question = { retain->client, shard, r };
		struct text answer;
		uint64_t row;

		/* The partition of a part is a text. */
		if (question_ask(&question, &answer, err,
			"SELECT day FROM (SELECT DISTINCT "
			"toInt64OrZero(partition) AS day FROM system.parts "
			"WHERE active AND database = '%s' AND table = '%s') "
			"WHERE day < %" PRId64 " ORDER BY day LIMIT %u",
			retain->database, table, retain->day, DAYS_MAX) != 0)
			continue;
		answered = true;
		while (*days < DAYS_MAX &&
		       question_row(&question, &answer, &row, 1, err) > 0)
			day[(*days)++] = (int64_t)row;
	}
	return answered ? 0 : -1;
}

static int
drop_days(
    struct retain *retain, unsigned shard, const char *table, struct err *err)
{
	int64_t day[DAYS_MAX];
	char sql[SQL_BYTES];
	unsigned days;

	if (read_days(retain, shard, table, day, &days, err) != 0)
		return -1;
	for (unsigned i = 0; i < days; i++) {
		bool is_done = false;

		for (unsigned k = 0; k < i; k++)
			is_done |= day[k] == day[i];
		if (is_done)
			continue;
		snprintf(sql, sizeof(sql),
		    "ALTER TABLE %s.%s DROP PARTITION %" PRId64,
		    retain->database, table, day[i]);
		if (question_run(retain->client, shard, sql, err) != 0)
			return -1;
		retain->report->days++;
	}
	return 0;
}

static int
drop_all(struct retain *retain, struct err *err)
{
	if (kept_write(retain->client, 0, retain->day * HOURS, err) != 0)
		return -1;
	for (unsigned s = 0; s < retain->cluster->shards; s++)
		for (const char *const *table = tables; *table != NULL; table++)
			if (drop_days(retain, s, *table, err) != 0)
				return -1;
	return 0;
}

/* ---- of some partitions ---- */

static int
delete_rows(struct retain *retain, uint64_t part, struct err *err)
{
	char sql[SQL_BYTES];

	if (kept_write(retain->client, part, retain->day * HOURS, err) != 0)
		return -1;
	for (unsigned s = 0; s < retain->cluster->shards; s++)
		for (const char *const *table = tables; *table != NULL;
		     table++) {
			snprintf(sql, sizeof(sql),
			    "ALTER TABLE %s.%s DELETE WHERE part = %" PRIu64
			    " AND hour < %" PRId64,
			    retain->database, *table, part,
			    retain->day * HOURS);
			if (question_run(retain->client, s, sql, err) != 0)
				return -1;
		}
	return 0;
}

static int
delete_some(struct retain *retain, const char *pattern, struct err *err)
{
	struct partitions partitions = { .at = NULL };
	int rc = partitions_read(&partitions, retain->client, pattern, err);

	if (rc == 0 && partitions.count == 0)
		rc = err_set(err, "archive: it has no partition %s", pattern);
	for (uint32_t i = 0; rc == 0 && i < partitions.count; i++)
		rc = delete_rows(retain, partitions.at[i].part, err);
	retain->report->partitions = partitions.count;
	partitions_clear(&partitions);
	return rc;
}

int
retain_records(struct clickhouse *client, const char *pattern,
    int64_t before_ns, struct retain_report *report, struct err *err)
{
	struct retain retain = { .client = client,
		.cluster = clickhouse_cluster(client),
		.database = clickhouse_database(client),
		.day = before_ns / DAY_NS - (before_ns % DAY_NS < 0),
		.report = report };

	*report = (struct retain_report){ .before_ns = retain.day * DAY_NS };
	return pattern == NULL ? drop_all(&retain, err)
			       : delete_some(&retain, pattern, err);
}
