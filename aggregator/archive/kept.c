/*
 * kept - from which hour on an archive keeps records.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/kept.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "aggregator/archive/question.h"
#include "proto/base/memory.h"

/* Of rows without a number after the name: all partitions. */
#define ALL UINT64_C(0)

enum { SQL_BYTES = 256, PARTS_MAX = 1 << 17 };

static int
add(struct kept *kept, uint64_t part, int64_t hour, struct err *err)
{
	for (uint32_t i = 0; i < kept->parts; i++)
		if (kept->part[i].part == part) {
			if (kept->part[i].hour < hour)
				kept->part[i].hour = hour;
			return 0;
		}
	if (kept->parts == PARTS_MAX)
		return err_set(err, "archive: too many rows in table meta");
	kept->part = memory_grow(
	    kept->part, &kept->room, kept->parts, sizeof(*kept->part));
	kept->part[kept->parts++] = (struct kept_part){ part, hour };
	return 0;
}

static int
read_replica(void *arg, const struct question *question, struct err *err)
{
	struct kept *kept = arg;
	struct text answer;
	uint64_t row[2];
	int rc;

	/* An hour more: no two clocks are the same. */
	if (question_ask(question, &answer, err,
		"SELECT toUInt64OrZero(substring(name, 11)), "
		"max(if(name = 'kept_days', 24 * (intDiv(toUInt32(now()) + "
		"3600, 86400) - toInt64OrZero(value)), toInt64OrZero(value))) "
		"FROM %s.meta WHERE substring(name, 1, 9) IN ('kept_from', "
		"'kept_days') GROUP BY name",
		clickhouse_database(question->client)) != 0)
		return -1;
	while ((rc = question_row(question, &answer, row, 2, err)) > 0)
		if (add(kept, row[0], (int64_t)row[1], err) != 0)
			return -1;
	return rc;
}

int
kept_read(struct kept *kept, struct clickhouse *client, struct err *err)
{
	*kept = (struct kept){ .parts = 0 };
	if (question_each(client, read_replica, kept, err) == 0)
		return 0;
	kept_clear(kept);
	return -1;
}

void
kept_clear(struct kept *kept)
{
	free(kept->part);
	*kept = (struct kept){ .parts = 0 };
}

int64_t
kept_from(const struct kept *kept, uint64_t part)
{
	int64_t from = INT64_MIN;

	for (uint32_t i = 0; i < kept->parts; i++)
		if ((kept->part[i].part == ALL || kept->part[i].part == part) &&
		    kept->part[i].hour > from)
			from = kept->part[i].hour;
	return from;
}

/* A lower number that is written later could stay in place of a higher one. */
static bool
is_kept_later(const struct kept *kept, uint64_t part, int64_t hour)
{
	for (uint32_t i = 0; i < kept->parts; i++)
		if (kept->part[i].part == part && kept->part[i].hour >= hour)
			return true;
	return false;
}

int
kept_write(
    struct clickhouse *client, uint64_t part, int64_t hour, struct err *err)
{
	unsigned shards = clickhouse_cluster(client)->shards;
	char name[32] = "kept_from", sql[SQL_BYTES];
	struct kept kept;
	bool is_later;

	if (kept_read(&kept, client, err) != 0)
		return -1;
	is_later = is_kept_later(&kept, part, hour);
	kept_clear(&kept);
	if (is_later)
		return 0;
	if (part != ALL)
		snprintf(name, sizeof(name), "kept_from:%llu",
		    (unsigned long long)part);
	snprintf(sql, sizeof(sql),
	    "INSERT INTO %s.meta (name, value) VALUES ('%s', '%lld')",
	    clickhouse_database(client), name, (long long)hour);
	for (unsigned s = 0; s < shards; s++)
		if (question_run(client, s, sql, err) != 0)
			return -1;
	return 0;
}
