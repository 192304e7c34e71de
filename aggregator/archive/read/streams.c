/*
 * streams - what a store that is made of the archive accepts next, and what was
 * imported: no question needs them.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/read/read_private.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/question.h"
#include "aggregator/archive/rows/position.h"
#include "aggregator/tables/key.h"
#include "aggregator/tables/stream_row.h"
#include "proto/base/memory.h"

struct rows {
	struct names *names;
	struct read_covered *covered; /* NULL: nothing is left out */
	struct made *range;
	uint32_t partition;
};

/* ---- what a restore leaves out ---- */

/* An epoch counts up to its last commit, and not beyond the end that the next
 * owner of the partition gave it. */
static int
take_owner(void *arg, const struct question *question, struct err *err)
{
	struct read_covered *covered = arg;
	struct commits_ends *ends = &covered->ends;
	struct text answer;
	uint64_t row[2];
	int rc;

	if (question_ask(question, &answer, err,
		"SELECT epoch, max(until) FROM %s.owners WHERE part = %llu "
		"GROUP BY epoch",
		clickhouse_database(question->client),
		(unsigned long long)covered->part) != 0)
		return -1;
	while ((rc = question_row(question, &answer, row, 2, err)) > 0) {
		struct commits_end end = { .epoch = (uint32_t)row[0],
			.place =
			    commits_place(covered->all, (uint32_t)row[0]) };
		uint32_t i = 0;

		if (row[1] != 0 && pass_change(row[1]) < end.place.change)
			end.place.change = pass_change(row[1]);
		while (i < ends->count && ends->at[i].epoch != end.epoch)
			i++;
		if (i == ends->count) {
			MEMORY_GROW(ends->at, ends->room, i);
			ends->at[ends->count++] = end;
		} else if (end.place.change < ends->at[i].place.change)
			ends->at[i] = end;
	}
	return rc;
}

int
read_covered_find(
    struct read_covered *covered, struct clickhouse *client, struct err *err)
{
	return question_each(client, take_owner, covered, err);
}

/* Is a position in what was committed? */
static bool
is_committed(const struct read_covered *covered, uint64_t pos)
{
	return pass_change(pos) <=
	       commits_place(&covered->ends, pass_epoch(pos)).change;
}

bool
read_is_left(
    struct read_covered *covered, uint32_t session, uint64_t seq, uint64_t pos)
{
	if (covered == NULL ||
	    (session < covered->room && seq <= covered->last_seq[session]) ||
	    is_committed(covered, pos))
		return false;
	covered->left++;
	return true;
}

static int
take_count(void *arg, struct fetch *row, struct err *err)
{
	bool *is_there = arg;

	(void)err;
	*is_there |= fetch_uint(row) > 0;
	return 0;
}

int
read_ahead(struct archive_read *read, uint32_t *ahead, struct err *err)
{
	static const enum schema_number tables[] = { SCHEMA_STREAMS,
		SCHEMA_SUMS, SCHEMA_RUNS, SCHEMA_GROUPS, SCHEMA_PARTITIONS };
	enum { TABLES = sizeof(tables) / sizeof(*tables) };
	static const struct native_column columns[] = { { "n",
	    NATIVE_UINT64 } };
	const struct read_covered *covered = read->covered;
	int rc = 0;

	for (unsigned t = 0; t < TABLES && rc == 0; t++) {
		char *sql = NULL;
		bool is_there = false;
		size_t bytes;
		FILE *to = memory_stream(&sql, &bytes);

		fprintf(to,
		    "SELECT count() AS n FROM %s.%s FINAL WHERE part = %llu "
		    "AND NOT (0",
		    clickhouse_database(read->fetch.client),
		    schema_tables[tables[t]].name,
		    (unsigned long long)covered->part);
		for (uint32_t i = 0; i < covered->ends.count; i++) {
			const struct commits_end *end = &covered->ends.at[i];

			fprintf(to, " OR (pos >= %llu AND pos <= %llu)",
			    (unsigned long long)pass_position(end->epoch, 0),
			    (unsigned long long)pass_position(
				end->epoch, end->place.change));
		}
		fputc(')', to);
		memory_stream_end(&to);
		rc = fetch_home(&read->fetch, tables[t], covered->part, columns,
		    1, sql, take_count, &is_there, err);
		*ahead |= (uint32_t)is_there << tables[t];
		free(sql);
	}
	return rc;
}

/* ---- streams ---- */

static void
cover(struct rows *rows, struct text session, uint64_t last_seq)
{
	struct read_covered *covered = rows->covered;
	uint32_t number;

	if (covered == NULL)
		return;
	number = names_session(rows->names, session);
	MEMORY_GROW_ZERO(covered->last_seq, covered->room, number);
	covered->last_seq[number] = last_seq;
}

static int
take_stream(void *arg, struct fetch *row, struct err *err)
{
	struct rows *rows = arg;
	unsigned char key[STREAM_ROW_KEY_BYTES], value[STREAM_ROW_BYTES_MAX];
	struct text session = fetch_text(row);
	struct stream_row of = { .node = fetch_text(row) };

	of.last_seq = fetch_uint(row);
	of.hash = fetch_uint(row);
	of.receive_ns = fetch_int(row);
	of.owner = fetch_uint(row);
	of.derived = fetch_uint(row) != 0;
	if (session.bytes != sizeof(struct session_id) ||
	    of.node.bytes > NAME_BYTES_MAX || of.last_seq == 0)
		return err_set(err, "archive: a malformed stream");
	cover(rows, session, of.last_seq);
	varint_put_u32_be(key, rows->partition);
	memcpy(key + 4, session.at, session.bytes);
	made_put(rows->range, (struct text){ (char *)key, sizeof(key) },
	    stream_row_encode(value, &of));
	return 0;
}

/* All rows of a home table. */
static int
read_all(struct archive_read *read, struct text key, struct made *range,
    const struct native_column *columns, unsigned count, const char *format,
    fetch_row *take, struct err *err)
{
	struct rows rows = { .range = range, .covered = read->covered };
	int rc;
	struct read_partition *of =
	    archive_read_whole(read, key, 0, range, &rc, err);
	char *sql;

	if (of == NULL)
		return rc;
	rows.names = of->names;
	rows.partition = varint_get_u32_be(key.at);
	sql = memory_format("SELECT %s FROM %s.%s FINAL WHERE part = %llu",
	    format, clickhouse_database(read->fetch.client),
	    range->table == TABLES_STREAMS ? "streams" : "known",
	    (unsigned long long)of->part);
	rc = fetch_home(&read->fetch,
	    range->table == TABLES_STREAMS ? SCHEMA_STREAMS : SCHEMA_KNOWN,
	    of->part, columns, count, sql, take, &rows, err);
	free(sql);
	if (rc == 0)
		made_sort(range);
	return rc;
}

int
read_streams(struct archive_read *read, struct text key, struct made *range,
    struct err *err)
{
	static const struct native_column columns[] = {
		{ "session", NATIVE_STRING },
		{ "node", NATIVE_STRING },
		{ "seq", NATIVE_UINT64 },
		{ "hash", NATIVE_UINT64 },
		{ "recv", NATIVE_INT64 },
		{ "owner", NATIVE_UINT64 },
		{ "derived", NATIVE_UINT8 },
	};

	return read_all(read, key, range, columns,
	    sizeof(columns) / sizeof(columns[0]),
	    "session, node, seq, hash, recv, owner, derived", take_stream, err);
}

/* ---- what was imported ---- */

static int
take_known(void *arg, struct fetch *row, struct err *err)
{
	struct rows *rows = arg;
	struct key_once of = { .partition = rows->partition };
	unsigned char key[KEY_ONCE_BYTES], value[16];
	uint32_t bytes = 0;
	struct text hash, session, rest;

	of.hour = (int32_t)fetch_int(row);
	hash = fetch_text(row);
	session = fetch_text(row);
	rest = fetch_text(row);
	/* Its record is not there, either: it may be imported again. */
	if (rows->covered != NULL &&
	    !is_committed(rows->covered, fetch_uint(row)))
		return 0;
	if (hash.bytes != sizeof(of.hash) ||
	    rest.bytes > sizeof(value) - sizeof(uint32_t))
		return err_set(
		    err, "archive: a malformed identity of what was imported");
	memcpy(of.hash, hash.at, hash.bytes);
	key_put_once(key, &of);
	if (session.bytes > 0) {
		varint_put_u32_be(value, names_session(rows->names, session));
		bytes = sizeof(uint32_t);
	}
	if (rest.bytes > 0)
		memcpy(value + bytes, rest.at, rest.bytes);
	made_put(rows->range, (struct text){ (char *)key, sizeof(key) },
	    (struct text){ (char *)value, bytes + rest.bytes });
	return 0;
}

int
read_known(struct archive_read *read, struct text key, struct made *range,
    struct err *err)
{
	static const struct native_column columns[] = {
		{ "hour", NATIVE_INT32 },
		{ "hash", NATIVE_STRING },
		{ "session", NATIVE_STRING },
		{ "value", NATIVE_STRING },
		{ "pos", NATIVE_UINT64 },
	};

	return read_all(read, key, range, columns,
	    sizeof(columns) / sizeof(columns[0]),
	    "hour, hash, session, value, pos", take_known, err);
}
