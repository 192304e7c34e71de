/*
 * pull_state - read the rows of a partition that are kept as keys and values.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/pull/pull_state.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/pull/pull_common.h"
#include "aggregator/archive/pull/pull_versions.h"
#include "aggregator/archive/question.h"
#include "aggregator/archive/rows/state_key.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"
#include "proto/clickhouse/native_read.h"

enum {
	PAGE_BYTES = 4 << 20, /* about that many in an answer */
	VALUE_BYTES_MAX = 32 << 20,
};

#define EPOCH  "281474976710656"
#define CHANGE "281474976710655"

enum { OF_KEY, OF_VALUE, OF_DELETED, OF_POS };
static const struct native_column columns[] = {
	{ "k", NATIVE_STRING },
	{ "v", NATIVE_STRING },
	{ "del", NATIVE_UINT8 },
	{ "pos", NATIVE_UINT64 },
};

/* What a replica has of a table. */
struct totals {
	bool answered;
	struct pull_sum sum[TABLES_COUNT];
	uint64_t bytes[TABLES_COUNT];
};

struct state {
	struct pull_into *into;
	unsigned shard, replica;
	unsigned table;
	struct native_reader *reader;
	struct pull_versions versions;
	struct pull_common common;
	/* Keys between pages, each with its length, in order. */
	struct buffer bounds;
	const char *range; /* SQL condition of keys, "": all */
	uint64_t rows, bytes;
};

/* ---- what replicas have ---- */

enum {
	TOTAL_TABLE,
	TOTAL_ROWS,
	TOTAL_EPOCHS,
	TOTAL_CHANGES,
	TOTAL_BYTES,
	TOTAL_NUMBERS
};

static int
read_totals(const struct state *state, unsigned replica, struct totals *totals,
    struct err *err)
{
	struct pull_into *into = state->into;
	const struct question question = { into->client, state->shard,
		replica };
	const char *database = clickhouse_database(into->client);
	uint64_t row[TOTAL_NUMBERS];
	struct text answer;
	int rc;

	*totals = (struct totals){ .answered = false };
	if (question_ask(&question, &answer, err,
		"SELECT tbl, count(), sum(intDiv(newest, " EPOCH ")), "
		"sum(bitAnd(newest, " CHANGE ")), sum(size) FROM ("
		"SELECT tbl, sipHash64(k) AS h, max(pos) AS newest, "
		"max(length(k) + length(v)) AS size FROM ("
		"SELECT tbl, k, v, pos FROM %s.state WHERE %s UNION ALL "
		"SELECT tbl, k, v, pos FROM %s.changes WHERE %s) "
		"GROUP BY tbl, h) GROUP BY tbl",
		database, into->where, database, into->where) != 0)
		return -1;
	while ((rc = question_row(
		    &question, &answer, row, TOTAL_NUMBERS, err)) > 0) {
		if (row[TOTAL_TABLE] >= TABLES_COUNT ||
		    tables_marked((unsigned)row[TOTAL_TABLE])->key_bytes == 0 ||
		    row[TOTAL_TABLE] == TABLES_ROW_BLOCKS)
			return err_set(err,
			    "archive: rows of table %llu of a store, which "
			    "this program does not know",
			    (unsigned long long)row[TOTAL_TABLE]);
		totals->sum[row[TOTAL_TABLE]] =
		    (struct pull_sum){ row[TOTAL_ROWS], row[TOTAL_EPOCHS],
			    row[TOTAL_CHANGES] };
		totals->bytes[row[TOTAL_TABLE]] = row[TOTAL_BYTES];
	}
	totals->answered = rc == 0;
	return rc;
}

/* ---- pages ---- */

/* Divide the keys of a table: those with some hashes are bounds. */
static int
find_bounds(struct state *state, uint64_t rows, uint64_t bytes, struct err *err)
{
	struct pull_into *into = state->into;
	const struct question question = { into->client, state->shard,
		state->replica };
	const char *database = clickhouse_database(into->client);
	uint64_t pages = bytes / PAGE_BYTES;
	struct text answer, line;

	state->bounds.bytes = 0;
	if (pages <= 1)
		return 0;
	if (question_ask(&question, &answer, err,
		"SELECT hex(k) FROM (SELECT DISTINCT k FROM ("
		"SELECT k FROM %s.state WHERE %s AND tbl = %u UNION ALL "
		"SELECT k FROM %s.changes WHERE %s AND tbl = %u) "
		"WHERE sipHash64(k) %% %llu = 0) ORDER BY k",
		database, into->where, state->table, database, into->where,
		state->table,
		(unsigned long long)(rows / pages > 0 ? rows / pages : 1)) != 0)
		return -1;
	while (text_next_line(&answer, &line)) {
		unsigned char room[DB_KEY_BYTES_MAX];
		uint32_t length = line.bytes / 2;

		if (line.bytes % 2 != 0 || length > sizeof(room) ||
		    !text_unhex(room, length, line))
			return err_set(err, "archive: a malformed key");
		varint_put_text(&state->bounds,
		    (struct text){ (const char *)room, length });
	}
	return 0;
}

/* Returns a new condition of the keys of a page; an empty bound is none. */
static char *
page_sql(unsigned table, struct text after, struct text upto)
{
	char low[2 * DB_KEY_BYTES_MAX + 1] = "";
	char high[2 * DB_KEY_BYTES_MAX + 1] = "";

	text_hex(low, after.at, after.bytes);
	text_hex(high, upto.at, upto.bytes);
	if (upto.bytes == 0)
		return memory_format(
		    "tbl = %u AND k > unhex('%s')", table, low);
	return memory_format("tbl = %u AND k > unhex('%s') AND "
			     "k <= unhex('%s')",
	    table, low, high);
}

/* ---- rows ---- */

static int
put_row(struct state *state, struct db_txn *txn, uint32_t i, struct err *err)
{
	unsigned char room[DB_KEY_BYTES_MAX];
	struct text k = native_read_text(state->reader, OF_KEY, i);
	struct text v = native_read_text(state->reader, OF_VALUE, i);
	uint64_t pos = native_read_uint(state->reader, OF_POS, i);
	struct state_key key = { .partition = state->into->number };
	struct text full;

	if (pos > state->into->newest_row)
		state->into->newest_row = pos;
	if (k.bytes > DB_KEY_BYTES_MAX || v.bytes > VALUE_BYTES_MAX)
		return err_set(err, "archive: a row that no store has");
	switch (pull_versions_next(&state->versions, k, pos)) {
	case PULL_NEWEST: break;
	case PULL_OLDER: return 0;
	default: return err_set(err, "archive: rows are not in order");
	}
	key.bytes = k.bytes;
	memcpy(key.rest, k.at, k.bytes);
	if (state->table == TABLES_META && pull_common_is(k))
		return pull_common_add(&state->common, k, v, pos, err);
	full = state_key_join(room, state->table, &key);
	if (full.bytes == 0)
		return err_set(err, "archive: a row that no store has");
	if (native_read_uint(state->reader, OF_DELETED, i) != 0)
		db_del(txn, state->table, full);
	else
		db_put(txn, state->table, full, v);
	state->bytes += full.bytes + v.bytes;
	state->rows++;
	return 0;
}

static int
put_answer(struct state *state, struct db_txn *txn, struct text answer,
    struct err *err)
{
	int got;

	while ((got = native_read_next(state->reader, &answer, err)) > 0)
		for (uint32_t i = 0; i < native_read_rows(state->reader); i++)
			if (put_row(state, txn, i, err) != 0)
				return -1;
	return got < 0 ? -1 : native_read_end(state->reader, err);
}

static int
read_page(
    struct state *state, struct text after, struct text upto, struct err *err)
{
	struct pull_into *into = state->into;
	const char *database = clickhouse_database(into->client);
	char *page = page_sql(state->table, after, upto);
	char *sql = memory_format(
	    "SELECT k, v, del, pos FROM ("
	    "SELECT k, v, del, pos FROM %s.state WHERE %s AND %s UNION ALL "
	    "SELECT k, v, del, pos FROM %s.changes WHERE %s AND %s) "
	    "ORDER BY k, pos DESC LIMIT 1 BY k",
	    database, into->where, page, database, into->where, page);
	struct text answer;
	struct db_txn *txn;

	free(page);
	if (pull_into_ask(
		into, state->shard, state->replica, sql, &answer, err) != 0 ||
	    db_begin(into->tables, true, &txn, err) != 0)
		return -1;
	if (put_answer(state, txn, answer, err) != 0) {
		db_abort(&txn);
		return -1;
	}
	return db_commit(&txn, err) == DB_OK ? 0 : -1;
}

/* ---- a table ---- */

/* All of it from one replica, and as much as the sum says. */
static int
read_table(struct state *state, const struct totals *totals, struct err *err)
{
	const struct pull_sum *wanted = &totals->sum[state->table];
	struct text after = { NULL, 0 }, upto;
	struct varint_reader bounds;
	char place[QUESTION_PLACE_BYTES];
	const struct question question = { state->into->client, state->shard,
		state->replica };

	state->versions.key.bytes = 0;
	state->versions.sum = (struct pull_sum){ .rows = 0 };
	pull_common_begin(&state->common);
	native_read_close(&state->reader);
	state->reader =
	    native_read_open(columns, sizeof(columns) / sizeof(columns[0]));
	if (find_bounds(
		state, wanted->rows, totals->bytes[state->table], err) != 0)
		return -1;
	bounds = varint_reader_of(buffer_text(&state->bounds));
	while (varint_left(&bounds) > 0) {
		upto = varint_get_text(&bounds);
		if (read_page(state, after, upto, err) != 0)
			return -1;
		after = upto;
	}
	if (read_page(state, after, (struct text){ NULL, 0 }, err) != 0)
		return -1;
	if (!pull_sum_is_equal(&state->versions.sum, wanted))
		return err_set(err,
		    "archive: %s answered with %llu rows of table %s, it has "
		    "%llu",
		    question_place(&question, place, sizeof(place)),
		    (unsigned long long)state->versions.sum.rows,
		    tables_names[state->table],
		    (unsigned long long)wanted->rows);
	return 0;
}

/* From a replica that has what the most complete one has. */
static int
read_from_any(struct state *state, const struct totals *totals,
    unsigned replicas, bool *used, struct err *err)
{
	const struct totals *best = NULL;

	for (unsigned r = 0; r < replicas; r++)
		if (totals[r].answered &&
		    (best == NULL ||
			pull_sum_compare(&totals[r].sum[state->table],
			    &best->sum[state->table]) > 0))
			best = &totals[r];
	if (best == NULL)
		return err->text[0] == '\0' ? err_set(err, "none answers") : -1;
	if (best->sum[state->table].rows == 0)
		return 0;
	for (state->replica = 0; state->replica < replicas; state->replica++) {
		const struct totals *one = &totals[state->replica];

		if (!one->answered ||
		    !pull_sum_is_equal(
			&one->sum[state->table], &best->sum[state->table]))
			continue;
		used[state->replica] = true;
		if (read_table(state, one, err) == 0)
			return 0;
	}
	return -1;
}

/* Does table state have versions that do not count yet?  Then those that do may
 * be gone. */
static int
has_gone_on(const struct state *state, const bool *used, unsigned replicas,
    struct err *err)
{
	char *later = epochs_later_sql(state->into->partition);
	int rc = 0;

	for (unsigned r = 0; rc == 0 && r < replicas; r++) {
		const struct question question = { state->into->client,
			state->shard, r };
		uint64_t count;

		if (!used[r])
			continue;
		if (question_numbers(&question, &count, 1, err,
			"SELECT count() FROM %s.state WHERE %s%s",
			clickhouse_database(state->into->client), later,
			state->range) != 0)
			rc = -1;
		else
			rc = count > 0;
	}
	free(later);
	return rc;
}

/* Names, and what metrics are called. */
static bool
is_for_records(unsigned table)
{
	switch (table) {
	case TABLES_NAMES:
	case TABLES_NAME_BLOCKS:
	case TABLES_ENTITIES:
	case TABLES_ENTITY_BLOCKS: return true;
	default: return false;
	}
}

static bool
is_read_later(const struct pull_into *into, unsigned table)
{
	if (into->is_mirror &&
	    (table == TABLES_ROLLUPS || table == TABLES_ROLLUPS_END))
		return true;
	return into->records_only && !is_for_records(table);
}

static int
read_tables(struct state *state, unsigned first, unsigned end, struct err *err)
{
	const struct clickhouse_shard *shard =
	    &clickhouse_cluster(state->into->client)->shard[state->shard];
	struct totals *totals =
	    memory_zero(CLICKHOUSE_REPLICAS_MAX, sizeof(*totals));
	bool used[CLICKHOUSE_REPLICAS_MAX] = { false };
	bool all = end - first > 1;
	int rc = 0;

	for (unsigned r = 0; r < shard->replicas; r++)
		if (!pull_into_is_away(state->into, state->shard, r))
			(void)pull_into_answered(state->into, state->shard, r,
			    read_totals(state, r, &totals[r], err));
	for (state->table = first; rc == 0 && state->table < end;
	     state->table++) {
		if (all && is_read_later(state->into, state->table))
			continue;
		rc = read_from_any(state, totals, shard->replicas, used, err);
		if (rc != 0)
			err_prefix(err,
			    "archive: shard %u has no replica that gives all "
			    "rows of %s",
			    state->shard + 1, state->into->partition->name);
		else if (state->table == TABLES_META)
			rc = pull_common_end(&state->common, state->into, err);
	}
	free(totals);
	return rc != 0 ? rc : has_gone_on(state, used, shard->replicas, err);
}

static int
read_range(struct state *state, unsigned first, unsigned end, struct err *err)
{
	unsigned shards = clickhouse_cluster(state->into->client)->shards;
	int rc;

	state->shard = (unsigned)(state->into->partition->part % shards);
	rc = read_tables(state, first, end, err);
	state->into->rows += state->rows;
	native_read_close(&state->reader);
	pull_versions_clear(&state->versions);
	pull_common_clear(&state->common);
	buffer_clear(&state->bounds);
	return rc;
}

int
pull_state(struct pull_into *into, struct err *err)
{
	struct state state = { .into = into, .range = "" };

	return read_range(&state, 0, TABLES_COUNT, err);
}

/* ---- rollups ---- */

enum { AT_KIND = 4, HOUR_KEY_BYTES = 5 }; /* without the partition */

/* What all keys of rows of an hour begin with. */
static void
put_hour_hex(char to[static 2 * HOUR_KEY_BYTES + 1], int32_t hour)
{
	const struct key_row_block key = { .kind = RECORD_SAMPLE,
		.hour = hour };
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];

	key_put_row_block(bytes, &key);
	*text_hex(to, bytes + AT_KIND, HOUR_KEY_BYTES) = '\0';
}

int
pull_state_rollups(struct pull_into *into, unsigned table, int32_t first,
    int32_t end, uint64_t *bytes, struct err *err)
{
	char low[2 * HOUR_KEY_BYTES + 1], high[2 * HOUR_KEY_BYTES + 1];
	struct state state = { .into = into };
	const char *where = into->where;
	char *range, *both;
	int rc;

	put_hour_hex(low, first);
	put_hour_hex(high, end);
	range = memory_format(
	    " AND tbl = %u AND k >= unhex('%s') AND k < unhex('%s')", table,
	    low, high);
	both = memory_format("%s%s", where, range);
	state.range = range;
	into->where = both;
	rc = read_range(&state, table, table + 1, err);
	into->where = where;
	*bytes += state.bytes;
	free(both);
	free(range);
	return rc;
}
