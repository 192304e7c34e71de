/*
 * commits - how many facts were committed.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/commits.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/insert.h"
#include "aggregator/archive/question.h"
#include "aggregator/archive/rows/position.h"
#include "proto/base/memory.h"
#include "proto/clickhouse/native.h"
#include "proto/os/clock.h"
#include "proto/record/record.h"

enum {
	COMMITTED_MAX = 1 << 17, /* keys; then a new `since` begins */
	BLOCK_ROWS = 100000,
	COUNT_REST = 50, /* times as long as the last count took */
};

static const struct native_column columns[] = {
	{ "part", NATIVE_UINT64 },
	{ "tbl", NATIVE_STRING },
	{ "hour", NATIVE_INT32 },
	{ "name", NATIVE_STRING },
	{ "shard", NATIVE_UINT32 },
	{ "since", NATIVE_UINT64 },
	{ "pos", NATIVE_UINT64 },
	{ "rows", NATIVE_UINT64 },
	{ "hash", NATIVE_UINT64 },
};

/* A key is this, and the name of a phase. */
struct front {
	uint64_t part;
	int32_t hour;
	uint8_t table, shard, is_again, unused;
};

/* ---- tables ---- */

static void
clear(struct commits_table *table)
{
	string_table_clear(&table->keys);
	free(table->of);
	*table = (struct commits_table){ .of = NULL };
	string_table_init(&table->keys);
}

static struct commits_count *
count_of(struct commits_table *table, struct text key)
{
	uint32_t before = table->keys.count;
	uint32_t number = string_table_add(&table->keys, key);

	if (table->keys.count > before) {
		table->of = memory_grow(
		    table->of, &table->room, number, sizeof(*table->of));
		table->of[number] = (struct commits_count){ .rows = 0 };
	}
	return &table->of[number];
}

void
commits_clear(struct commits *commits)
{
	clear(&commits->sent);
	clear(&commits->committed);
	clear(&commits->changed);
	commits->has_more = false;
}

void
commits_begin(struct commits *commits, uint64_t since)
{
	commits_clear(commits);
	commits->since = since;
}

void
commits_forget(struct commits *commits)
{
	clear(&commits->sent);
}

/* ---- counting ---- */

void
commits_add(struct commits *commits, unsigned shard, enum schema_number table,
    uint64_t part, int32_t hour, bool is_again, uint64_t hash)
{
	const struct front front = { part, hour, (uint8_t)table, (uint8_t)shard,
		is_again, 0 };
	struct commits_count *count = count_of(&commits->sent,
	    (struct text){ (const char *)&front, sizeof(front) });

	count->rows++;
	count->hash += hash;
}

void
commits_set_phase(struct commits *commits, uint64_t part, struct text phase,
    uint64_t form, uint64_t events)
{
	const struct front front = { .part = part, .table = SCHEMA_PHASES };
	char key[sizeof(front) + NAME_BYTES_MAX];
	struct commits_count *count;

	if (phase.bytes > NAME_BYTES_MAX)
		return;
	memcpy(key, &front, sizeof(front));
	memcpy(key + sizeof(front), phase.at, phase.bytes);
	count = count_of(&commits->sent,
	    (struct text){ key, (uint32_t)sizeof(front) + phase.bytes });
	count->rows = events;
	count->hash = form;
}

void
commits_change(struct commits *commits, unsigned shard,
    enum schema_number table, uint64_t part)
{
	const struct front front = {
		.part = part, .table = (uint8_t)table, .shard = (uint8_t)shard
	};

	(void)count_of(&commits->sent,
	    (struct text){ (const char *)&front, sizeof(front) });
}

/* ---- what was sent before ---- */

struct parts {
	uint64_t *at;
	uint32_t count, room;
};

static int
read_parts(void *arg, const struct question *question, struct err *err)
{
	struct parts *parts = arg;
	struct text answer;
	uint64_t part;
	int rc;

	if (question_ask(question, &answer, err,
		"SELECT DISTINCT part FROM %s.commits",
		clickhouse_database(question->client)) != 0)
		return -1;
	while ((rc = question_row(question, &answer, &part, 1, err)) > 0) {
		parts->at = memory_grow(
		    parts->at, &parts->room, parts->count, sizeof(*parts->at));
		parts->at[parts->count++] = part;
	}
	return rc;
}

static int
compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The partitions of which something was committed, in their order. */
static int
find_parts(struct parts *parts, struct clickhouse *client, struct err *err)
{
	int rc = question_each(client, read_parts, parts, err);

	if (parts->count > 1)
		qsort(parts->at, parts->count, sizeof(*parts->at), compare);
	return rc;
}

static bool
has_again(const struct commits_table *table)
{
	struct front front;

	for (uint32_t i = 0; i < table->keys.count; i++) {
		memcpy(&front, table->keys.names[i].at, sizeof(front));
		if (front.is_again)
			return true;
	}
	return false;
}

/* ---- commits ---- */

static void
commit_one(struct commits *commits, struct text text,
    const struct commits_count *sent, const struct parts *known)
{
	struct front front;
	char key[sizeof(front) + NAME_BYTES_MAX];
	struct commits_count *count;

	memcpy(key, text.at, text.bytes);
	memcpy(&front, key, sizeof(front));
	if (front.table > SCHEMA_PHASES) {
		(void)count_of(&commits->changed, text);
		return;
	}
	if (front.is_again &&
	    (known == NULL || (known->count > 0 &&
				  bsearch(&front.part, known->at, known->count,
				      sizeof(*known->at), compare) != NULL)))
		return;
	front.is_again = 0;
	memcpy(key, &front, sizeof(front));
	count = count_of(&commits->committed, (struct text){ key, text.bytes });
	if (front.table == SCHEMA_PHASES)
		count->rows = count->hash = 0;
	count->rows += sent->rows;
	count->hash += sent->hash;
	count->is_written = false;
	commits->has_more = true;
}

int
commits_commit(
    struct commits *commits, struct clickhouse *client, struct err *err)
{
	struct commits_table *sent = &commits->sent;
	struct parts known = { .at = NULL };
	int rc = has_again(sent) ? find_parts(&known, client, err) : 0;

	for (uint32_t i = 0; i < sent->keys.count; i++)
		commit_one(commits, sent->keys.names[i], &sent->of[i],
		    rc == 0 ? &known : NULL);
	free(known.at);
	clear(sent);
	return rc;
}

/* ---- rows that change ---- */

/* How many different rows a replica has.  -1: none answers. */
static int
count_rows(struct clickhouse *client, const struct front *of, uint64_t *rows,
    struct err *err)
{
	const struct schema_table *table = &schema_tables[of->table];
	unsigned replicas =
	    clickhouse_cluster(client)->shard[of->shard].replicas;
	int rc = -1;

	for (unsigned r = 0; r < replicas && rc != 0; r++) {
		const struct question question = { client, of->shard, r };

		rc = question_numbers(&question, rows, 1, err,
		    "SELECT count() FROM (SELECT DISTINCT %s FROM %s.%s WHERE "
		    "part = %llu)",
		    table->order, clickhouse_database(client), table->name,
		    (unsigned long long)of->part);
	}
	return rc;
}

/* When they are sent, rows that replace others look like new ones. */
static int
count_changed(
    struct commits *commits, struct clickhouse *client, struct err *err)
{
	struct commits_table *changed = &commits->changed;
	int64_t began_ns = clock_monotonic_ns();

	if (began_ns < commits->count_ns)
		return 0;
	for (uint32_t i = 0; i < changed->keys.count; i++) {
		struct text key = changed->keys.names[i];
		struct front front;
		uint64_t rows;

		memcpy(&front, key.at, sizeof(front));
		if (count_rows(client, &front, &rows, err) != 0)
			return -1;
		*count_of(&commits->committed, key) =
		    (struct commits_count){ .rows = rows };
		commits->has_more = true;
	}
	clear(changed);
	commits->count_ns = clock_monotonic_ns() +
			    COUNT_REST * (clock_monotonic_ns() - began_ns);
	return 0;
}

/* ---- writing ---- */

static void
put(struct native_block *block, struct text text,
    const struct commits_count *count, uint64_t since, uint64_t pos)
{
	struct text name = { text.at + sizeof(struct front),
		text.bytes - (uint32_t)sizeof(struct front) };
	struct front front;

	memcpy(&front, text.at, sizeof(front));
	native_put_uint(block, 0, front.part);
	native_put_text(block, 1, text_of(schema_tables[front.table].name));
	native_put_int(block, 2, front.hour);
	native_put_text(block, 3, name);
	native_put_uint(block, 4, front.shard);
	/* What is all that there is is not added. */
	native_put_uint(block, 5,
	    front.table >= SCHEMA_PHASES ? pass_position(pass_epoch(since), 0)
					 : since);
	native_put_uint(block, 6, pos);
	native_put_uint(block, 7, count->rows);
	native_put_uint(block, 8, count->hash);
}

/* Put at most BLOCK_ROWS, from `*at` on. */
static void
put_rows(struct commits *commits, struct native_block *block, uint32_t *at,
    uint64_t pos)
{
	struct commits_table *table = &commits->committed;

	for (; *at < table->keys.count && native_rows(block) < BLOCK_ROWS;
	     ++*at)
		if (!table->of[*at].is_written)
			put(block, table->keys.names[*at], &table->of[*at],
			    commits->since, pos);
}

int
commits_write(struct commits *commits, struct clickhouse *client, uint64_t pos,
    struct err *err)
{
	unsigned shard = pass_epoch(pos) % clickhouse_cluster(client)->shards;
	struct commits_table *table = &commits->committed;
	uint32_t at = 0;
	int rc = count_changed(commits, client, err);

	while (commits->has_more && rc == 0 && at < table->keys.count) {
		struct native_block *block = native_block_open(
		    columns, sizeof(columns) / sizeof(columns[0]));

		put_rows(commits, block, &at, pos);
		if (native_rows(block) > 0)
			rc = insert_block(client, shard, "commits", block,
			    question_copies(client, shard), err);
		native_block_close(&block);
	}
	if (rc != 0)
		return -1;
	commits->has_more = false;
	if (table->keys.count > COMMITTED_MAX) {
		commits_begin(commits, pos);
		return 0;
	}
	for (uint32_t i = 0; i < table->keys.count; i++)
		table->of[i].is_written = true;
	return 0;
}
