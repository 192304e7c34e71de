/*
 * kept - from which hour on an archive keeps records.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/kept.h"

#include <stdio.h>
#include <stdlib.h>

#include "aggregator/archive/question.h"
#include "aggregator/archive/schema/schema.h"
#include "aggregator/archive/schema/ttl.h"
#include "aggregator/tables/key.h"
#include "proto/base/memory.h"
#include "proto/base/search.h"
#include "proto/os/clock.h"

/* Of rows without a number after the name: all partitions. */
#define ALL UINT64_C(0)

enum { SQL_BYTES = 256, PARTS_MAX = 1 << 17 };

/* ---- what was noted ---- */

static void
add(struct kept *kept, uint64_t part, int64_t hour)
{
	*MEMORY_ADD(kept->part, kept->room, kept->parts) =
	    (struct kept_part){ part, hour };
}

/* The latest of each partition comes first. */
static int
compare(const void *a, const void *b)
{
	const struct kept_part *x = a, *y = b;

	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return (x->hour < y->hour) - (x->hour > y->hour);
}

static void
sort(struct kept *kept)
{
	uint32_t count = 0;

	if (kept->parts > 1)
		qsort(kept->part, kept->parts, sizeof(*kept->part), compare);
	for (uint32_t i = 0; i < kept->parts; i++)
		if (count == 0 ||
		    kept->part[i].part != kept->part[count - 1].part)
			kept->part[count++] = kept->part[i];
	kept->parts = count;
}

static int
read_noted(struct kept *kept, const struct question *question, struct err *err)
{
	struct text answer;
	uint64_t row[2];
	int rc;

	if (question_ask(question, &answer, err,
		"SELECT toUInt64OrZero(substring(name, 11)), "
		"max(toInt64OrZero(value)) FROM %s.meta "
		"WHERE substring(name, 1, 9) = 'kept_from' GROUP BY name",
		clickhouse_database(question->client)) != 0)
		return -1;
	while ((rc = question_row(question, &answer, row, 2, err)) > 0)
		add(kept, row[0], (int64_t)row[1]);
	sort(kept);
	return rc == 0 && kept->parts > PARTS_MAX
		   ? err_set(err, "archive: too many rows in table meta")
		   : rc;
}

/* ---- TTL ---- */

/* What the tables of records delete, as a condition. */
static int
read_deleted(
    const struct question *question, struct buffer *deleted, struct err *err)
{
	struct buffer engine = { .at = NULL };
	struct text answer, line;

	if (question_ask(question, &answer, err,
		"SELECT DISTINCT hex(engine_full) FROM system.tables "
		"WHERE database = '%s' AND name IN ('%s', '%s', '%s', '%s', "
		"'%s')",
		clickhouse_database(question->client),
		schema_tables[SCHEMA_EVENTS].name,
		schema_tables[SCHEMA_SPANS].name,
		schema_tables[SCHEMA_SAMPLES].name,
		schema_tables[SCHEMA_GAPS].name,
		schema_tables[SCHEMA_REJECTED].name) != 0)
		return -1;
	while (text_next_line(&answer, &line)) {
		engine.bytes = 0;
		if (text_unhex(
			buffer_need(&engine, line.bytes), line.bytes / 2, line))
			engine.bytes = line.bytes / 2;
		(void)ttl_read(buffer_text(&engine), deleted);
	}
	buffer_clear(&engine);
	return 0;
}

/* The server reports which is the last hour that it deletes, of all since 1970:
 * it alone knows what its functions mean. */
static int
read_ttl(struct kept *kept, const struct question *question, struct err *err)
{
	struct buffer deleted = { .at = NULL };
	uint64_t hour = 0;
	int rc = read_deleted(question, &deleted, err);

	if (rc == 0 && deleted.bytes > 0)
		rc = question_numbers(question, &hour, 1, err,
		    "SELECT max(hour + 1) FROM (SELECT toInt32(number) AS "
		    "hour, toInt64(number) * 3600000000000 AS ts FROM "
		    "system.numbers LIMIT %lld) WHERE %.*s",
		    (long long)key_hour(clock_wall_ns()), (int)deleted.bytes,
		    (const char *)deleted.at);
	if (rc == 0 && hour > 0 && (int64_t)hour > kept->ttl_hour)
		kept->ttl_hour = (int64_t)hour;
	buffer_clear(&deleted);
	return rc;
}

/* ---- both ---- */

static int
read_replica(void *arg, const struct question *question, struct err *err)
{
	return read_noted(arg, question, err) == 0
		   ? read_ttl(arg, question, err)
		   : -1;
}

int
kept_read(struct kept *kept, struct clickhouse *client, struct err *err)
{
	*kept = (struct kept){ .ttl_hour = INT64_MIN };
	if (question_each(client, read_replica, kept, err) == 0)
		return 0;
	kept_clear(kept);
	return -1;
}

void
kept_clear(struct kept *kept)
{
	free(kept->part);
	*kept = (struct kept){ .ttl_hour = INT64_MIN };
}

/* What was noted of a partition; INT64_MIN: nothing. */
static int64_t
noted(const struct kept *kept, uint64_t part)
{
	uint32_t low =
	    LOWER_BOUND(i, 0, kept->parts, kept->part[i].part < part);

	return low < kept->parts && kept->part[low].part == part
		   ? kept->part[low].hour
		   : INT64_MIN;
}

int64_t
kept_from(const struct kept *kept, uint64_t part)
{
	int64_t all = noted(kept, ALL), one = noted(kept, part);
	int64_t from = all > one ? all : one;

	return from > kept->ttl_hour ? from : kept->ttl_hour;
}

bool
kept_is_all(const struct kept *kept)
{
	return kept->parts == 0 && kept->ttl_hour == INT64_MIN;
}

int
kept_write(
    struct clickhouse *client, uint64_t part, int64_t hour, struct err *err)
{
	unsigned shards = clickhouse_cluster(client)->shards;
	char name[32] = "kept_from", sql[SQL_BYTES];
	struct kept kept;
	bool is_later;

	/* A lower number that is written later could stay in place of a higher
	 * one. */
	if (kept_read(&kept, client, err) != 0)
		return -1;
	is_later = noted(&kept, part) >= hour;
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
