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

struct row {
	struct text partition, table;
	uint64_t days, rows;
};

static const struct answer_column columns[] = {
	{ "partition", "PARTITION", ANSWER_AT_TEXT(struct row, partition),
	    "account$pool; none: all" },
	{ "table", "TABLE", ANSWER_AT_TEXT(struct row, table),
	    "of the archive; none: all with records" },
	{ "days", "DAYS", ANSWER_AT_COUNT(struct row, days),
	    "days that were dropped, of each shard" },
	{ "rows", "ROWS", ANSWER_AT_COUNT(struct row, rows),
	    "what a replica of each shard had before" },
	{ .key = NULL },
};

const struct answer_table retain_tables[] = { { "deleted", columns },
	{ .name = NULL } };

static const char *const tables[] = { "events", "spans", "samples", "gaps",
	"rejected", NULL };

struct retain {
	struct clickhouse *client;
	const struct clickhouse_cluster *cluster;
	const char *database;
	int64_t day; /* the first one that is kept */
	char before[CLOCK_TEXT_BYTES];
	struct answer *answer;
	/* What is being deleted. */
	const char *table;
	uint64_t part;
	struct row row;
};

/* ---- of all partitions ---- */

struct days {
	struct {
		int64_t day;
		uint64_t rows; /* of the replica that has most */
	} at[DAYS_MAX];
	unsigned count;
};

static void
add_day(struct days *days, int64_t day, uint64_t rows)
{
	unsigned i = 0;

	while (i < days->count && days->at[i].day != day)
		i++;
	if (i == DAYS_MAX)
		return;
	if (i == days->count) {
		days->at[days->count++].day = day;
		days->at[i].rows = 0;
	}
	if (days->at[i].rows < rows)
		days->at[i].rows = rows;
}

/* Days of a table of which a replica of the shard has records; each replica may
 * have fetched others. */
static int
read_days(
    struct retain *retain, unsigned shard, struct days *days, struct err *err)
{
	bool answered = false;

	days->count = 0;
	for (unsigned r = 0; r < retain->cluster->shard[shard].replicas; r++) {
		const struct question question = { retain->client, shard, r };
		struct text answer;
		uint64_t row[2];

		/* The partition of a part is a text. */
		if (question_ask(&question, &answer, err,
			"SELECT day, sum(rows) FROM (SELECT "
			"toInt64OrZero(partition) AS day, rows FROM "
			"system.parts WHERE active AND database = '%s' AND "
			"table = '%s') WHERE day < %" PRId64
			" GROUP BY day ORDER BY day LIMIT %u",
			retain->database, retain->table, retain->day,
			DAYS_MAX) != 0)
			continue;
		answered = true;
		while (question_row(&question, &answer, row, 2, err) > 0)
			add_day(days, (int64_t)row[0], row[1]);
	}
	return answered ? 0 : -1;
}

static int
drop_days(struct retain *retain, unsigned shard, struct err *err)
{
	struct days days;
	char sql[SQL_BYTES];

	if (read_days(retain, shard, &days, err) != 0)
		return -1;
	for (unsigned i = 0; i < days.count; i++) {
		snprintf(sql, sizeof(sql),
		    "ALTER TABLE %s.%s DROP PARTITION %" PRId64,
		    retain->database, retain->table, days.at[i].day);
		if (question_run(retain->client, shard, sql, err) != 0)
			return -1;
		retain->row.days++;
		retain->row.rows += days.at[i].rows;
	}
	return 0;
}

static int
drop_all(struct retain *retain, struct err *err)
{
	uint64_t days = 0;
	int rc = kept_write(retain->client, 0, retain->day * HOURS, err);

	answer_hide_column(retain->answer, "partition");
	for (const char *const *table = tables; rc == 0 && *table != NULL;
	     table++) {
		retain->table = *table;
		retain->row = (struct row){ .table = text_of(*table) };
		for (unsigned s = 0; rc == 0 && s < retain->cluster->shards;
		     s++)
			rc = drop_days(retain, s, err);
		days += retain->row.days;
		/* What was done is printed, also if the rest failed. */
		if (rc == 0 || retain->row.days > 0)
			answer_row(retain->answer, &retain->row, NULL);
	}
	if (rc == 0)
		answer_title(retain->answer,
		    "archive %s: dropped %" PRIu64 " days of tables before %s",
		    retain->database, days, retain->before);
	return rc;
}

/* ---- of some partitions ---- */

static int
count_rows(void *arg, const struct question *question, struct err *err)
{
	struct retain *retain = arg;
	uint64_t rows;

	if (question_numbers(question, &rows, 1, err,
		"SELECT count() FROM %s.%s WHERE part = %" PRIu64
		" AND hour < %" PRId64,
		retain->database, retain->table, retain->part,
		retain->day * HOURS) != 0)
		return -1;
	retain->row.rows += rows;
	return 0;
}

static int
delete_rows(struct retain *retain, unsigned shard, struct err *err)
{
	char sql[SQL_BYTES];

	snprintf(sql, sizeof(sql),
	    "ALTER TABLE %s.%s DELETE WHERE part = %" PRIu64
	    " AND hour < %" PRId64,
	    retain->database, retain->table, retain->part, retain->day * HOURS);
	return question_any(retain->client, shard, count_rows, retain, err) == 0
		   ? question_run(retain->client, shard, sql, err)
		   : -1;
}

static int
delete_partition(
    struct retain *retain, const struct partitions_item *of, struct err *err)
{
	retain->part = of->part;
	retain->row = (struct row){ .partition = text_of(of->name),
		.days = ANSWER_NO_COUNT };
	if (kept_write(retain->client, of->part, retain->day * HOURS, err) != 0)
		return -1;
	for (unsigned s = 0; s < retain->cluster->shards; s++)
		for (const char *const *table = tables; *table != NULL;
		     table++) {
			retain->table = *table;
			if (delete_rows(retain, s, err) != 0)
				return -1;
		}
	answer_row(retain->answer, &retain->row, NULL);
	return 0;
}

static int
delete_some(struct retain *retain, const char *pattern, struct err *err)
{
	struct partitions partitions = { .at = NULL };
	int rc = partitions_read(&partitions, retain->client, pattern, err);

	answer_hide_column(retain->answer, "table");
	answer_hide_column(retain->answer, "days");
	if (rc == 0 && partitions.count == 0)
		rc = err_set(err,
		    "no partition of the archive matches %.200s: poolscope "
		    "stats pools --connect lists them",
		    pattern);
	for (uint32_t i = 0; rc == 0 && i < partitions.count; i++)
		rc = delete_partition(retain, &partitions.at[i], err);
	if (rc == 0)
		answer_title(retain->answer,
		    "archive %s: records of %u partitions before %s are being "
		    "deleted",
		    retain->database, partitions.count, retain->before);
	partitions_clear(&partitions);
	return rc;
}

int
retain_records(struct clickhouse *client, const char *pattern,
    int64_t before_ns, struct answer *answer, struct err *err)
{
	struct retain retain = { .client = client,
		.cluster = clickhouse_cluster(client),
		.database = clickhouse_database(client),
		.day = before_ns / DAY_NS - (before_ns % DAY_NS < 0),
		.answer = answer };

	clock_text(retain.before, retain.day * DAY_NS, 0);
	answer_head(answer, "database", answer_string(retain.database));
	answer_head(answer, "before", answer_time(retain.day * DAY_NS));
	return pattern == NULL ? drop_all(&retain, err)
			       : delete_some(&retain, pattern, err);
}
