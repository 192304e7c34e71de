/*
 * commits - what two replicas have of each store: up to where, and how much.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/commits.h"

#include <stdio.h>
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
	COUNT_REST = 50,         /* times as long as the last count took */
};
/* A commit waits no longer for counts; the next one has the others. */
#define COUNT_NS NS_PER_SECOND
/* `tbl` of the row that says how far the commit goes. */
#define PLACE "commit"
/* `name` of the rows that say which counts a commit lacks. */
#define UNCOUNTED "uncounted"

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
	{ "row", NATIVE_UINT64 },
	{ "entry", NATIVE_UINT64 },
	{ "at_ns", NATIVE_INT64 },
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
		MEMORY_GROW(table->of, table->room, number);
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
	clear(&commits->tried);
}

void
commits_repeat(struct commits *commits)
{
	commits->is_whole = true;
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

static void
set_phase(struct commits *commits, uint64_t part, int32_t hour,
    struct text phase, uint64_t form, uint64_t events)
{
	const struct front front = {
		.part = part, .hour = hour, .table = SCHEMA_PHASES
	};
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
commits_set_phase(struct commits *commits, uint64_t part, struct text phase,
    uint64_t form, uint64_t events)
{
	set_phase(commits, part, 0, phase, form, events);
}

void
commits_lose_phase(
    struct commits *commits, uint64_t part, struct text phase, uint64_t form)
{
	set_phase(commits, part, COMMITS_LOST, phase, form, 0);
}

static void
change(struct commits_table *to, unsigned shard, unsigned table, uint64_t part,
    int32_t hour)
{
	const struct front front = { .part = part,
		.hour = hour,
		.table = (uint8_t)table,
		.shard = (uint8_t)shard };

	(void)count_of(
	    to, (struct text){ (const char *)&front, sizeof(front) });
}

void
commits_change(struct commits *commits, unsigned shard,
    enum schema_number table, uint64_t part, int32_t hour)
{
	change(&commits->sent, shard, table, part, hour);
}

/* ---- what was sent before ---- */

/* The partitions of which something was committed, in their order. */
struct parts {
	const struct commits *commits;
	uint64_t *at;
	uint32_t count, room;
};

static void
add_part(struct parts *parts, uint64_t part)
{
	*MEMORY_ADD(parts->at, parts->room, parts->count) = part;
}

/* A commit that is repeated may be there already: rows of its `since` are those
 * that are known here.  If it has grown beyond a block, so are those from the
 * last place on.  Of one that ended before its place, nothing counts. */
static int
read_parts(void *arg, const struct question *question, struct err *err)
{
	const char *database = clickhouse_database(question->client);
	struct parts *parts = arg;
	struct text answer;
	uint64_t part;
	int rc;

	if (question_ask(question, &answer, err,
		"SELECT DISTINCT part FROM %s.commits WHERE since NOT IN "
		"(%llu, %llu) AND "
		"tbl IN ('events', 'spans', 'samples', 'gaps', 'rejected') "
		"AND pos IN (SELECT pos FROM %s.commits WHERE part = 0)",
		database, (unsigned long long)parts->commits->since,
		(unsigned long long)parts->commits->pos, database) != 0)
		return -1;
	while ((rc = question_row(question, &answer, &part, 1, err)) > 0)
		add_part(parts, part);
	return rc;
}

static int
compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static struct front
front_of(const struct commits_table *table, uint32_t number)
{
	struct front front;

	memcpy(&front, table->keys.names[number].at, sizeof(front));
	return front;
}

static bool
has_again(const struct commits_table *table)
{
	for (uint32_t i = 0; i < table->keys.count; i++)
		if (front_of(table, i).is_again)
			return true;
	return false;
}

static int
find_parts(struct parts *parts, struct clickhouse *client, struct err *err)
{
	const struct commits_table *committed = &parts->commits->committed;

	if (!has_again(&parts->commits->sent))
		return 0;
	if (question_each(client, read_parts, parts, err) != 0)
		return -1;
	for (uint32_t i = 0; i < committed->keys.count; i++)
		if (front_of(committed, i).table < SCHEMA_PHASES)
			add_part(parts, front_of(committed, i).part);
	if (parts->count > 1)
		qsort(parts->at, parts->count, sizeof(*parts->at), compare);
	return 0;
}

/* ---- the counts of a commit ---- */

/* If it ends between its blocks, whoever starts again from the last place
 * counts the same from there, and the rows of the `since` before must be as
 * they were.  But what was tried is perhaps there from that `since`: it is
 * repeated with the place. */
static bool
is_apart(const struct commits *commits, struct text key)
{
	uint32_t number;

	return commits->sent.keys.count >= NATIVE_ROWS_MAX &&
	       !string_table_find(&commits->tried.keys, key, &number);
}

/* Add what was sent of a key to what was committed of it. */
static void
add_sent(struct commits *commits, uint32_t number, const struct parts *known,
    struct commits_table *next)
{
	const struct commits_count *sent = &commits->sent.of[number];
	struct text text = commits->sent.keys.names[number];
	struct front front = front_of(&commits->sent, number);
	char room[sizeof(front) + NAME_BYTES_MAX];
	struct text key = { room, text.bytes };
	struct commits_count *count;
	uint32_t before, was;

	if (front.table > SCHEMA_PHASES) {
		*count_of(&commits->changed, text) =
		    (struct commits_count){ .rows = 0 };
		return;
	}
	if (front.is_again && known->count > 0 &&
	    bsearch(&front.part, known->at, known->count, sizeof(*known->at),
		compare) != NULL)
		return;
	memcpy(room, text.at, text.bytes);
	front.is_again = 0;
	memcpy(room, &front, sizeof(front));
	before = next->keys.count;
	count = count_of(next, key);
	if (next->keys.count > before) {
		if (is_apart(commits, key))
			count->is_apart = true;
		else if (front.table != SCHEMA_PHASES &&
			 string_table_find(&commits->committed.keys, key, &was))
			*count = commits->committed.of[was];
	}
	count->rows += sent->rows;
	count->hash += sent->hash;
}

/* What was committed of keys of which nothing was sent since. */
static void
add_committed(struct commits *commits, struct commits_table *next)
{
	const struct commits_table *committed = &commits->committed;

	for (uint32_t i = 0; i < committed->keys.count; i++) {
		uint32_t before = next->keys.count;
		struct commits_count *count =
		    count_of(next, committed->keys.names[i]);

		if (next->keys.count > before)
			*count = committed->of[i];
	}
}

/* ---- rows that change ---- */

struct counting {
	struct front of;
	uint64_t since;
	uint64_t rows;
};

/* What is all that there is is not added, so it has one `since`. */
static uint64_t
since_of_all(uint64_t since)
{
	return pass_position(pass_epoch(since), 0);
}

/* How many were committed.  None is ever removed: fewer are a loss, and must
 * not count as all that there is. */
static int
read_counted(void *arg, const struct question *question, struct err *err)
{
	struct counting *counting = arg;
	const struct front *of = &counting->of;
	uint64_t rows;

	if (question_numbers(question, &rows, 1, err,
		"SELECT max(rows) FROM %s.commits WHERE part = %llu AND "
		"tbl = '%s' AND hour = %d AND name = '' AND shard = %u AND "
		"since = %llu",
		clickhouse_database(question->client),
		(unsigned long long)of->part, schema_tables[of->table].name,
		of->hour, of->shard, (unsigned long long)counting->since) != 0)
		return -1;
	if (rows > counting->rows)
		counting->rows = rows;
	return 0;
}

/* How many different rows a replica has; the most count, because one that was
 * replaced may have new rows before the old ones. */
static int
count_rows(void *arg, const struct question *question, struct err *err)
{
	struct counting *counting = arg;
	uint64_t rows;
	const struct front *of = &counting->of;
	const struct schema_table *table = &schema_tables[of->table];
	char hour[32] = "";

	if (schema_is_by_hour(of->table))
		snprintf(hour, sizeof(hour), " AND hour = %d", of->hour);
	if (question_numbers(question, &rows, 1, err,
		"SELECT count() FROM (SELECT DISTINCT %s FROM %s.%s WHERE "
		"part = %llu%s)",
		table->order, clickhouse_database(question->client),
		table->name, (unsigned long long)of->part, hour) != 0)
		return -1;
	if (rows > counting->rows)
		counting->rows = rows;
	return 0;
}

/* When they are sent, rows that replace others look like new ones. */
static int
count_changed(struct commits *commits, struct clickhouse *client,
    unsigned shard, struct err *err)
{
	struct commits_table *changed = &commits->changed;
	int64_t began_ns = clock_monotonic_ns(), took_ns = 0;

	if (began_ns < commits->count_ns)
		return 0;
	for (uint32_t i = 0; i < changed->keys.count && took_ns < COUNT_NS;
	     i++) {
		struct counting counting = { .of = front_of(changed, i),
			.since = since_of_all(commits->since) };

		if (changed->of[i].is_counted)
			continue;
		if (question_shard(
			client, shard, read_counted, &counting, err) != 0 ||
		    question_shard(client, counting.of.shard, count_rows,
			&counting, err) != 0)
			return -1;
		changed->of[i].rows = counting.rows;
		changed->of[i].is_counted = true;
		took_ns = clock_monotonic_ns() - began_ns;
	}
	commits->count_ns = began_ns + (COUNT_REST + 1) * took_ns;
	return 0;
}

static void
forget_counted(struct commits_table *changed)
{
	struct commits_table before = *changed;

	*changed = (struct commits_table){ .of = NULL };
	string_table_init(&changed->keys);
	for (uint32_t i = 0; i < before.keys.count; i++)
		if (!before.of[i].is_counted)
			count_of(changed, before.keys.names[i])->is_noted =
			    true;
	clear(&before);
}

bool
commits_are_due(const struct commits *commits)
{
	return commits->changed.keys.count > 0 &&
	       clock_monotonic_ns() >= commits->count_ns;
}

/* ---- writing ---- */

static void
put_place(struct native_block *block, uint64_t pos,
    const struct pass_place *place, int64_t at_ns)
{
	unsigned at = 9;

	native_put_uint(block, at++, place->row);
	native_put_uint(block, at++, place->entry);
	native_put_int(block, at, at_ns);
	native_put_uint(block, 6, pos);
}

static void
put_count(struct native_block *block, struct text text,
    const struct commits_count *count, uint64_t since)
{
	struct text name = { text.at + sizeof(struct front),
		text.bytes - (uint32_t)sizeof(struct front) };
	struct front front;

	memcpy(&front, text.at, sizeof(front));
	if (front.table > SCHEMA_PHASES && !count->is_counted)
		name = text_of(UNCOUNTED);
	native_put_uint(block, 0, front.part);
	native_put_text(block, 1, text_of(schema_tables[front.table].name));
	native_put_int(block, 2, front.hour);
	native_put_text(block, 3, name);
	native_put_uint(block, 4, front.shard);
	native_put_uint(block, 5,
	    front.table >= SCHEMA_PHASES ? since_of_all(since) : since);
	native_put_uint(block, 7, count->rows);
	native_put_uint(block, 8, count->hash);
}

static void
put_end(struct native_block *block, uint64_t pos)
{
	native_put_uint(block, 0, 0);
	native_put_text(block, 1, text_of(PLACE));
	native_put_int(block, 2, 0);
	native_put_text(block, 3, text_of(""));
	native_put_uint(block, 4, 0);
	/* No commit replaces another one: one that comes late must not. */
	native_put_uint(block, 5, pos);
	native_put_uint(block, 7, 0);
	native_put_uint(block, 8, 0);
}

struct writing {
	struct commits *commits;
	struct clickhouse *client;
	unsigned shard;
	uint64_t pos;
	const struct pass_place *place;
	int64_t at_ns;
	struct native_block *block;
};

static int
flush(struct writing *writing, struct err *err)
{
	int rc = 0;

	if (native_rows(writing->block) > 0)
		rc = insert_block(writing->client, writing->shard, "commits",
		    writing->block,
		    question_copies(writing->client, writing->shard), err);
	native_reset(writing->block);
	return rc;
}

static int
send_counts(struct writing *writing, const struct commits_table *table,
    bool apart, struct err *err)
{
	const struct commits *commits = writing->commits;
	int rc = 0;

	for (uint32_t i = 0; i < table->keys.count && rc == 0; i++) {
		if (table->of[i].is_apart != apart ||
		    (table->of[i].is_noted && !table->of[i].is_counted))
			continue;
		put_count(writing->block, table->keys.names[i], &table->of[i],
		    apart ? commits->pos : commits->since);
		put_place(writing->block, writing->pos, writing->place,
		    writing->at_ns);
		if (native_rows(writing->block) == NATIVE_ROWS_MAX)
			rc = flush(writing, err);
	}
	return rc;
}

static uint32_t
count_together(const struct commits_table *next)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < next->keys.count; i++)
		count += !next->of[i].is_apart;
	return count;
}

/* The last block has the place, and all facts that are not apart. */
static int
send_commit(
    struct writing *writing, const struct commits_table *next, struct err *err)
{
	int rc;

	writing->block =
	    native_block_open(columns, sizeof(columns) / sizeof(columns[0]));
	writing->at_ns = clock_wall_ns();
	rc = send_counts(writing, &writing->commits->changed, false, err);
	if (rc == 0)
		rc = send_counts(writing, next, true, err);
	if (rc == 0 && native_rows(writing->block) + count_together(next) >=
			   NATIVE_ROWS_MAX)
		rc = flush(writing, err);
	if (rc == 0)
		rc = send_counts(writing, next, false, err);
	if (rc == 0) {
		put_end(writing->block, writing->pos);
		put_place(writing->block, writing->pos, writing->place,
		    writing->at_ns);
		rc = flush(writing, err);
	}
	native_block_close(&writing->block);
	return rc;
}

static void
begin_since(struct commits *commits)
{
	clear(&commits->committed);
	commits->since = commits->pos;
}

static void
take(struct commits *commits, const struct commits_table *next, uint64_t pos)
{
	bool is_full = commits->sent.keys.count >= NATIVE_ROWS_MAX ||
		       next->keys.count > COMMITTED_MAX;

	for (uint32_t i = 0; i < next->keys.count && !is_full; i++)
		*count_of(&commits->committed, next->keys.names[i]) =
		    next->of[i];
	commits_forget(commits);
	forget_counted(&commits->changed);
	clear(&commits->tried);
	commits->is_whole = false;
	commits->pos = pos;
	if (is_full || commits->committed.keys.count > COMMITTED_MAX)
		begin_since(commits);
}

/* Of one that is beyond a block, only what was tried before can be there from
 * `since`. */
static void
note_tried(struct commits *commits, struct commits_table *next)
{
	struct commits_table before = commits->tried;

	if (commits->sent.keys.count >= NATIVE_ROWS_MAX)
		return;
	commits->tried = *next;
	*next = before;
}

int
commits_write(struct commits *commits, struct clickhouse *client,
    uint32_t epoch, const struct pass_place *place, struct err *err)
{
	struct writing writing = { .commits = commits,
		.client = client,
		.shard = epoch % clickhouse_cluster(client)->shards,
		.pos = pass_position(epoch, place->change),
		.place = place };
	struct commits_table next = { .of = NULL };
	struct parts known = { .commits = commits };
	int rc;

	rc = find_parts(&known, client, err);
	string_table_init(&next.keys);
	for (uint32_t i = 0; rc == 0 && i < commits->sent.keys.count; i++)
		add_sent(commits, i, &known, &next);
	free(known.at);
	if (commits->is_whole)
		add_committed(commits, &next);
	if (rc == 0)
		rc = count_changed(commits, client, writing.shard, err);
	if (rc == 0) {
		rc = send_commit(&writing, &next, err);
		if (rc == 0)
			take(commits, &next, writing.pos);
		else
			note_tried(commits, &next);
	}
	clear(&next);
	return rc;
}

/* ---- beginning ---- */

/* What was to be counted by a commit after the last one of an epoch. */
struct resuming {
	struct commits *commits;
	uint64_t since;
	unsigned table;
};

static int
read_uncounted(void *arg, const struct question *question, struct err *err)
{
	const struct resuming *resuming = arg;
	struct text answer;
	uint64_t row[3];
	int rc;

	if (question_ask(question, &answer, err,
		"SELECT part, hour, shard FROM %s.commits WHERE tbl = '%s' AND "
		"since = %llu GROUP BY part, hour, shard HAVING max(if(name = "
		"'" UNCOUNTED "', pos, 0)) > max(if(name = '', pos, 0))",
		clickhouse_database(question->client),
		schema_tables[resuming->table].name,
		(unsigned long long)resuming->since) != 0)
		return -1;
	while ((rc = question_row(question, &answer, row, 3, err)) > 0)
		if (row[2] < clickhouse_cluster(question->client)->shards)
			change(&resuming->commits->changed, (unsigned)row[2],
			    resuming->table, row[0], (int32_t)row[1]);
	return rc;
}

int
commits_begin(struct commits *commits, uint64_t since, uint32_t last,
    struct clickhouse *client, struct err *err)
{
	struct resuming resuming = { commits, pass_position(last, 0),
		SCHEMA_PHASES + 1 };
	unsigned shard = last % clickhouse_cluster(client)->shards;

	commits_clear(commits);
	commits->since = commits->pos = 0;
	for (; last != 0 && resuming.table < SCHEMA_TYPED; resuming.table++)
		if (question_shard(
			client, shard, read_uncounted, &resuming, err) != 0)
			return -1;
	commits->since = commits->pos = since;
	return 0;
}

/* ---- reading ---- */

static struct commits_end *
find_end(const struct commits_ends *ends, uint32_t epoch)
{
	for (uint32_t i = 0; i < ends->count; i++)
		if (ends->at[i].epoch == epoch)
			return &ends->at[i];
	return NULL;
}

static void
take_end(struct commits_ends *ends, const struct commits_end *new)
{
	struct commits_end *end = find_end(ends, new->epoch);

	if (end == NULL) {
		*MEMORY_ADD(ends->at, ends->room, ends->count) = *new;
	} else if (new->place.change > end->place.change)
		*end = *new;
	else
		end->copies += new->place.change == end->place.change;
}

static int
read_ends(void *arg, const struct question *question, struct err *err)
{
	struct text answer;
	uint64_t row[4];
	int rc;

	if (question_ask(question, &answer, err,
		"SELECT max(pos), max(row), max(entry), max(at_ns) FROM "
		"%s.commits WHERE part = 0 GROUP BY intDiv(pos, %llu)",
		clickhouse_database(question->client),
		1ULL << PASS_CHANGE_BITS) != 0)
		return -1;
	while ((rc = question_row(question, &answer, row, 4, err)) > 0) {
		const struct commits_end end = { pass_epoch(row[0]),
			{ pass_change(row[0]), (uint32_t)row[1], row[2] },
			(int64_t)row[3], 1 };

		take_end(arg, &end);
	}
	return rc;
}

int
commits_read(
    struct commits_ends *ends, struct clickhouse *client, struct err *err)
{
	*ends = (struct commits_ends){ .at = NULL };
	if (question_each(client, read_ends, ends, err) == 0)
		return 0;
	free(ends->at);
	*ends = (struct commits_ends){ .at = NULL };
	return -1;
}

struct pass_place
commits_place(const struct commits_ends *ends, uint32_t epoch)
{
	const struct commits_end *end = find_end(ends, epoch);

	return end != NULL ? end->place : (struct pass_place){ .change = 0 };
}
