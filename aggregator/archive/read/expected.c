/*
 * expected - what replicas must have of a partition.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/read/expected.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/commits.h"
#include "aggregator/archive/question.h"
#include "aggregator/archive/rows/position.h"
#include "aggregator/archive/rows/typed.h"
#include "aggregator/tables/key.h"
#include "proto/base/memory.h"
#include "proto/base/search.h"
#include "proto/os/clock.h"

enum { NAME_BYTES = 24, WAYS_BYTES = 320, DAY_HOURS = 24 };

/* ---- reading ---- */

/* How far the rows of an epoch count (0: all), and whose it is. */
struct end {
	uint64_t epoch, until, store;
};

struct reading {
	struct expected *to;
	uint64_t part;
	const char *tables; /* in SQL */
	struct end *end;
	uint32_t ends, end_room;
};

static int
read_ends(
    struct reading *reading, const struct question *question, struct err *err)
{
	struct text answer;
	uint64_t row[3];
	int rc;

	if (question_ask(question, &answer, err,
		"SELECT epoch, max(until), max(who) FROM %s.owners WHERE "
		"part = %llu GROUP BY epoch",
		clickhouse_database(question->client),
		(unsigned long long)reading->part) != 0)
		return -1;
	while ((rc = question_row(question, &answer, row, 3, err)) > 0) {
		*MEMORY_ADD(reading->end, reading->end_room, reading->ends) =
		    (struct end){ row[0], row[1], row[2] };
	}
	return rc;
}

/* A partition has one row, also where a commit lacks its count (look.c). */
static int
read_rows(void *arg, const struct question *question, struct err *err)
{
	struct reading *reading = arg;
	struct expected *to = reading->to;
	struct text answer;
	uint64_t row[8];
	int rc;

	if (read_ends(reading, question, err) != 0 ||
	    question_ask(question, &answer, err,
		"SELECT indexOf([%s], tbl), hour, shard, "
		"sipHash64(if(tbl = 'phases', name, '')), since, pos, "
		"if(name != '' AND tbl = 'partitions', 1, rows), hash FROM "
		"%s.commits WHERE part = %llu AND (name = '' OR tbl IN "
		"('phases', 'partitions'))",
		reading->tables, clickhouse_database(question->client),
		(unsigned long long)reading->part) != 0)
		return -1;
	while ((rc = question_row(question, &answer, row, 8, err)) > 0) {
		if (row[0] == 0)
			continue;
		if (row[0] > SCHEMA_TYPED || !key_is_hour((int64_t)row[1]) ||
		    row[2] >= clickhouse_cluster(question->client)->shards)
			return err_set(
			    err, "archive: a malformed row of table commits");
		*MEMORY_ADD(to->at, to->room, to->count) =
		    (struct expected_rows){
			    .table = (uint32_t)row[0] - 1,
			    .hour = (int32_t)row[1],
			    .shard = (uint32_t)row[2],
			    .name = row[3],
			    .since = row[4],
			    .pos = row[5],
			    .rows = row[6],
			    .hash = row[7],
		    };
	}
	return rc;
}

#define ORDER(member)                                                          \
	if (x->member != y->member)                                            \
	return x->member < y->member ? -1 : 1

static int
compare_places(const void *a, const void *b)
{
	const struct expected_rows *x = a, *y = b;

	ORDER(table);
	ORDER(hour);
	ORDER(shard);
	ORDER(name);
	return 0;
}

/* Of one `since` the newest comes first. */
static int
compare_all(const void *a, const void *b)
{
	const struct expected_rows *x = a, *y = b;
	int order = compare_places(a, b);

	if (order != 0)
		return order;
	ORDER(store);
	ORDER(since);
	return (x->pos < y->pos) - (x->pos > y->pos);
}

/* Written after the epoch had ended: whoever goes on has sent these rows, too.
 */
static bool
is_late(const struct reading *reading, const struct expected_rows *row)
{
	for (uint32_t i = 0; i < reading->ends; i++)
		if (reading->end[i].epoch == pass_epoch(row->pos) &&
		    reading->end[i].until != 0 &&
		    row->pos > reading->end[i].until)
			return true;
	return false;
}

/* Epochs of one store have the numbers of its changes. */
static void
find_stores(struct reading *reading)
{
	for (uint32_t i = 0; i < reading->to->count; i++) {
		struct expected_rows *row = &reading->to->at[i];

		row->store = pass_epoch(row->pos);
		for (uint32_t e = 0; e < reading->ends; e++)
			if (reading->end[e].epoch == pass_epoch(row->pos))
				row->store = reading->end[e].store;
	}
}

/* Facts of one store that were counted together. */
struct counted {
	uint64_t store, to; /* up to this change */
	uint64_t rows;
};

/* Add facts to those of the same place.  A store that did not see its last
 * commit, because the only replica that had it was away, has counted again what
 * that one counted: of these two the greater number was there. */
static void
add_rows(struct expected_rows *to, struct counted *last,
    const struct expected_rows *row)
{
	if (row->store == last->store && pass_change(row->since) < last->to) {
		to->is_least = true;
		if (row->rows > last->rows) {
			to->rows += row->rows - last->rows;
			last->rows = row->rows;
		}
		if (pass_change(row->pos) > last->to)
			last->to = pass_change(row->pos);
		return;
	}
	*last =
	    (struct counted){ row->store, pass_change(row->pos), row->rows };
	to->rows += row->rows;
	to->hash += row->hash;
}

/* The newest of each `since`; their sums for each place.  Of phases the rows
 * stay apart: which one counts depends on the form. */
static void
sum(struct reading *reading)
{
	struct expected *to = reading->to;
	struct counted last_rows = { .rows = 0 };
	uint64_t since = 0;
	uint32_t kept = 0;

	find_stores(reading);
	if (to->count > 1)
		qsort(to->at, to->count, sizeof(*to->at), compare_all);
	for (uint32_t i = 0; i < to->count; i++) {
		const struct expected_rows row = to->at[i];
		struct expected_rows *last =
		    kept > 0 ? &to->at[kept - 1] : NULL;
		bool is_same =
		    i > 0 && last != NULL && compare_places(last, &row) == 0;

		if ((is_same && row.since == since) || is_late(reading, &row))
			continue;
		since = row.since;
		if (!is_same || row.table == SCHEMA_PHASES) {
			last_rows = (struct counted){ row.store,
				pass_change(row.pos), row.rows };
			to->at[kept++] = row;
			continue;
		}
		if (row.table > SCHEMA_PHASES) {
			if (row.rows > last->rows)
				last->rows = row.rows;
			continue;
		}
		add_rows(last, &last_rows, &row);
	}
	to->count = kept;
}

static bool
is_lost(const struct expected_rows *rows)
{
	return rows->table == SCHEMA_PHASES && rows->hour == COMMITS_LOST;
}

/* Nobody knows how many events there are of a phase of which the store could
 * not read all. */
static void
forget_lost(struct expected *to)
{
	for (uint32_t i = 0; i < to->count; i++) {
		const struct expected_rows *lost = &to->at[i];

		if (!is_lost(lost))
			continue;
		for (uint32_t j = i + 1; j < to->count; j++)
			if (to->at[j].table == SCHEMA_PHASES &&
			    to->at[j].name == lost->name &&
			    to->at[j].hash == lost->hash)
				to->at[j].rows = 0;
	}
}

/* What was found to be there is not counted again. */
static void
keep_seen(struct expected *to, const struct expected *from)
{
	for (uint32_t i = 0; i < to->count; i++) {
		struct expected_rows *row = &to->at[i];
		const struct expected_rows *old =
		    row->table == SCHEMA_PHASES
			? NULL
			: expected_of(from, row->table, row->hour, row->shard);

		if (old != NULL && old->rows == row->rows &&
		    old->hash == row->hash)
			memcpy(row->seen, old->seen, sizeof(row->seen));
	}
}

int
expected_read(struct expected *expected, struct clickhouse *client,
    uint64_t part, struct err *err)
{
	struct expected before = *expected;
	struct reading reading = { .to = expected, .part = part };
	char tables[SCHEMA_TYPED * NAME_BYTES];
	size_t bytes = 0;
	int rc;

	*expected = (struct expected){ .at = NULL };
	for (unsigned i = 0; i < SCHEMA_TYPED; i++)
		bytes +=
		    (size_t)snprintf(tables + bytes, sizeof(tables) - bytes,
			"%s'%s'", i > 0 ? ", " : "", schema_tables[i].name);
	reading.tables = tables;
	rc = question_each(client, read_rows, &reading, err);
	if (rc == 0) {
		sum(&reading);
		forget_lost(expected);
		keep_seen(expected, &before);
	}
	expected_clear(&before);
	free(reading.end);
	expected->is_read = rc == 0;
	return rc;
}

void
expected_take(
    struct expected *expected, const struct expected_rows *at, uint32_t count)
{
	struct expected before = *expected;

	*expected = (struct expected){ .is_read = true,
		.at = memory_copy(at, count * sizeof(*at)),
		.count = count,
		.room = count };
	keep_seen(expected, &before);
	expected_clear(&before);
}

void
expected_clear(struct expected *expected)
{
	free(expected->at);
	*expected = (struct expected){ .at = NULL };
}

/* ---- asking ---- */

/* The first one of a place or behind it. */
static uint32_t
find(const struct expected *expected, const struct expected_rows *place)
{
	return LOWER_BOUND(
	    i, 0, expected->count, compare_places(&expected->at[i], place) < 0);
}

int32_t
expected_hour(
    const struct expected *expected, enum schema_number table, int32_t from)
{
	const struct expected_rows place = { .table = table, .hour = from };
	uint32_t i = find(expected, &place);

	return i < expected->count && expected->at[i].table == table
		   ? expected->at[i].hour
		   : INT32_MAX;
}

struct expected_rows *
expected_of(const struct expected *expected, enum schema_number table,
    int32_t hour, unsigned shard)
{
	const struct expected_rows place = {
		.table = table, .hour = hour, .shard = shard
	};
	uint32_t i = find(expected, &place);

	return i < expected->count && expected->at[i].table == table &&
		       expected->at[i].hour == hour &&
		       expected->at[i].shard == shard
		   ? &expected->at[i]
		   : NULL;
}

bool
expected_is_damaged(const struct expected *expected)
{
	for (uint32_t i = 0; i < expected->count; i++)
		if (is_lost(&expected->at[i]))
			return true;
	return false;
}

uint64_t
expected_events(
    const struct expected *expected, struct text phase, uint64_t form)
{
	const struct expected_rows place = { .table = SCHEMA_PHASES,
		.name = typed_hash(phase) };
	uint64_t events = 0;

	for (uint32_t i = find(expected, &place);
	     i < expected->count &&
	     compare_places(&expected->at[i], &place) == 0;
	     i++)
		if (expected->at[i].hash == form &&
		    expected->at[i].rows > events)
			events = expected->at[i].rows;
	return events;
}

/* ---- a replica ---- */

/* What is to be done.  A day of records that was dropped by SQL looks like one
 * that is lost. */
static const char *
put_ways(char to[static WAYS_BYTES], const struct expected_rows *rows)
{
	char day[CLOCK_TEXT_BYTES], next[CLOCK_TEXT_BYTES];
	int64_t of = rows->hour / DAY_HOURS - (rows->hour % DAY_HOURS < 0);

	/* The day is not all in the range of a time. */
	if (rows->table >= SCHEMA_PHASES || !key_is_hour(of * DAY_HOURS) ||
	    !key_is_hour((of + 1) * DAY_HOURS))
		return "see poolscope archive verify";
	clock_utc_text(day, of * DAY_HOURS * KEY_HOUR_NS, 0);
	clock_utc_text(next, (of + 1) * DAY_HOURS * KEY_HOUR_NS, 0);
	snprintf(to, WAYS_BYTES,
	    "poolscope archive verify --repair has the aggregator send again "
	    "what its store has; if the day %.10s was dropped on purpose, "
	    "poolscope archive retain --before %.10s notes it, and deletes "
	    "what is older",
	    day, next);
	return to;
}

static void
lack(const struct expected_rows *rows, const struct question *question,
    uint64_t has, struct err *err)
{
	const char *name = clickhouse_cluster(question->client)
			       ->shard[question->shard]
			       .replica[question->replica]
			       .name;
	char hour[CLOCK_TEXT_BYTES], ways[WAYS_BYTES];

	err_set(err,
	    "%s%s has %llu of %llu committed rows of table %s"
	    "%s%s: they were deleted or lost; %s",
	    name[0] != 0 ? "replica " : "the server", name,
	    (unsigned long long)has, (unsigned long long)rows->rows,
	    schema_tables[rows->table].name,
	    schema_is_by_hour(rows->table) ? ", hour " : "",
	    schema_is_by_hour(rows->table)
		? clock_utc_text(hour, rows->hour * KEY_HOUR_NS, 0)
		: "",
	    put_ways(ways, rows));
}

/* How many different rows a replica has, and of facts the sum of their hashes:
 * one that is there twice must not hide one that is not. */
static int
count(const struct expected_rows *rows, const struct question *question,
    const char *where, uint64_t has[static 2], struct err *err)
{
	const struct schema_table *table = &schema_tables[rows->table];
	bool is_fact = rows->table < SCHEMA_PHASES;
	char *hash =
	    is_fact ? typed_hash_sql(table) : memory_string("toUInt64(0)");
	char *key =
	    is_fact ? typed_identity_sql(table) : memory_string(table->order);
	int rc = question_numbers(question, has, 2, err,
	    "SELECT count(), sum(%s) FROM (SELECT DISTINCT %s FROM %s)", hash,
	    key, where);

	free(key);
	free(hash);
	return rc;
}

int
expected_is_there(struct expected_rows *rows, struct clickhouse *client,
    uint64_t part, unsigned replica, uint64_t *found, struct err *err)
{
	const struct question question = { client, rows->shard, replica };
	bool is_by_hour = schema_is_by_hour(rows->table);
	char *where = memory_format("%s.%s WHERE part = %llu%s",
	    clickhouse_database(client), schema_tables[rows->table].name,
	    (unsigned long long)part, is_by_hour ? " AND hour = " : "");
	uint64_t has[2] = { 0, 0 }, seen;
	int rc;

	if (is_by_hour) {
		char *front = where;

		where = memory_format("%s%d", front, rows->hour);
		free(front);
	}
	rc = question_numbers(
	    &question, has, 1, err, "SELECT count() FROM %s", where);
	seen = has[0];
	if (rc == 0 && has[0] >= rows->rows && has[0] != rows->seen[replica])
		rc = count(rows, &question, where, has, err);
	free(where);
	if (rc != 0)
		return -1;
	if (found != NULL)
		*found = has[0];
	if (has[0] < rows->rows ||
	    (seen != rows->seen[replica] && has[0] == rows->rows &&
		!rows->is_least && has[1] != rows->hash)) {
		lack(rows, &question, has[0], err);
		return 0;
	}
	rows->seen[replica] = seen;
	return 1;
}
