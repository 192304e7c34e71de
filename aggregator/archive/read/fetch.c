/*
 * fetch - rows of the archive.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/read/fetch.h"

#include <stdlib.h>

#include "aggregator/archive/question.h"
#include "aggregator/archive/rows/typed.h"
#include "proto/base/memory.h"
#include "proto/os/heartbeat.h"

static int
read_rows(struct fetch *fetch, struct text answer, fetch_row *call, void *arg,
    struct err *err)
{
	int got;

	while ((got = native_read_next(fetch->reader, &answer, err)) > 0)
		for (fetch->row = 0;
		     fetch->row < native_read_rows(fetch->reader);
		     fetch->row++) {
			fetch->column = 0;
			if (call(arg, fetch, err) != 0)
				return -1;
		}
	return got < 0 ? -1 : native_read_end(fetch->reader, err);
}

/* What all replicas of a shard lack. */
struct lack {
	struct err err; /* "": nothing that is known */
	uint64_t most;
	unsigned replica; /* that has most */
};

/* Returns 0 if the replica has answered. */
static int
ask_one(struct fetch *fetch, const struct question *of, const char *sql,
    struct text *answer, struct lack *lack, struct err *err)
{
	uint64_t found = 0;
	int has = 1;

	if (fetch->must != NULL)
		has = fetch->has(fetch->has_arg, fetch->must, of->shard,
		    of->replica, &found, err);
	if (has == 0 && (lack->err.text[0] == '\0' || found > lack->most)) {
		lack->err = *err;
		lack->most = found;
		lack->replica = of->replica;
	}
	return has == 1 ? clickhouse_ask_native(of->client, of->shard,
			      of->replica, sql, answer, err)
			: -1;
}

static int
ask_shard(struct fetch *fetch, unsigned shard, const char *sql,
    struct text *answer, struct err *err)
{
	unsigned order[CLICKHOUSE_REPLICAS_MAX];
	unsigned replicas =
	    clickhouse_cluster(fetch->client)->shard[shard].replicas;
	struct lack lack = { .most = 0 };
	int rc = -1;

	heartbeat_rest();
	(void)clickhouse_order(
	    fetch->client, shard, fetch->first[shard], order);
	for (unsigned i = 0; i < replicas && rc != 0; i++) {
		const struct question of = { fetch->client, shard, order[i] };

		rc = ask_one(fetch, &of, sql, answer, &lack, err);
	}
	/* What one lacks says more than that others do not answer. */
	if (rc != 0 && lack.err.text[0] != '\0') {
		*err = lack.err;
		if (fetch_may_lack(fetch, fetch->must->table, err))
			rc = clickhouse_ask_native(fetch->client, shard,
			    lack.replica, sql, answer, err);
	}
	heartbeat_beat();
	return rc;
}

bool
fetch_may_lack(
    struct fetch *fetch, enum schema_number table, const struct err *why)
{
	if (fetch->on_lack != NULL && !fetch->is_reported[table])
		fetch->on_lack(why->text);
	fetch->is_reported[table] = true;
	return fetch->on_lack != NULL;
}

/* The same, unless the answer is kept; `kept` is to be released. */
static int
ask_once(struct fetch *fetch, unsigned shard, const char *sql,
    struct answer **kept, struct text *answer, struct err *err)
{
	enum answers_result result;

	*kept = NULL;
	if (fetch->answers == NULL || fetch->version == 0)
		return ask_shard(fetch, shard, sql, answer, err);
	heartbeat_rest();
	result = answers_take(fetch->answers, fetch->version, shard,
	    text_of(sql), FETCH_WAIT_NS, kept, err);
	heartbeat_beat();
	if (result == ANSWERS_ASK &&
	    ask_shard(fetch, shard, sql, answer, err) != 0) {
		answers_fail(fetch->answers, kept, err);
		return -1;
	}
	if (result == ANSWERS_ASK)
		answers_put(fetch->answers, *kept, *answer);
	if (result == ANSWERS_KEPT)
		*answer = answer_text(*kept);
	return result != ANSWERS_FAILED ? 0 : -1;
}

static int
fetch_shard(struct fetch *fetch, unsigned shard,
    const struct native_column *columns, unsigned count, const char *sql,
    fetch_row *call, void *arg, struct err *err)
{
	struct answer *kept;
	struct text answer;
	int rc = ask_once(fetch, shard, sql, &kept, &answer, err);

	if (rc != 0)
		return err_prefix(err, "archive: shard %u", shard + 1);
	fetch->reader = native_read_open(columns, count);
	rc = read_rows(fetch, answer, call, arg, err);
	native_read_close(&fetch->reader);
	answers_release(fetch->answers, &kept);
	return rc;
}

int
fetch_all(struct fetch *fetch, const struct native_column *columns,
    unsigned count, const char *sql, fetch_row *call, void *arg,
    struct err *err)
{
	unsigned shards = clickhouse_cluster(fetch->client)->shards;

	for (unsigned s = 0; s < shards; s++)
		if (fetch_shard(
			fetch, s, columns, count, sql, call, arg, err) != 0)
			return -1;
	return 0;
}

struct each {
	struct fetch *fetch;
	const struct native_column *columns;
	unsigned count;
	const char *sql;
	fetch_row *call;
	void *arg;
};

static int
read_replica(void *arg, const struct question *question, struct err *err)
{
	const struct each *each = arg;
	struct text answer;
	int rc;

	heartbeat_rest();
	rc = clickhouse_ask_native(question->client, question->shard,
	    question->replica, each->sql, &answer, err);
	heartbeat_beat();
	if (rc != 0)
		return -1;
	each->fetch->reader = native_read_open(each->columns, each->count);
	rc = read_rows(each->fetch, answer, each->call, each->arg, err);
	native_read_close(&each->fetch->reader);
	return rc;
}

int
fetch_each(struct fetch *fetch, const struct native_column *columns,
    unsigned count, const char *sql, fetch_row *call, void *arg,
    struct err *err)
{
	struct each each = { fetch, columns, count, sql, call, arg };
	unsigned shards = clickhouse_cluster(fetch->client)->shards;

	for (unsigned s = 0; s < shards; s++)
		if (question_shard(
			fetch->client, s, read_replica, &each, err) != 0)
			return err_prefix(err, "archive: shard %u", s + 1);
	return 0;
}

int
fetch_home(struct fetch *fetch, enum schema_number table, uint64_t part,
    const struct native_column *columns, unsigned count, const char *sql,
    fetch_row *call, void *arg, struct err *err)
{
	unsigned shards = clickhouse_cluster(fetch->client)->shards;
	const struct fetch_must must = { table, part, 0 };

	const struct fetch_must *before = fetch->must;
	int rc;

	fetch->must = &must;
	rc = fetch_shard(fetch, (unsigned)(part % shards), columns, count, sql,
	    call, arg, err);
	fetch->must = before;
	return rc;
}

static char *
select_sql(const struct fetch *fetch, const struct schema_table *table,
    const char *where)
{
	char *columns = typed_columns_sql(table);
	char *sql = memory_format("SELECT %s FROM %s.%s WHERE %s", columns,
	    clickhouse_database(fetch->client), table->name, where);

	free(columns);
	return sql;
}

int
fetch_typed(struct fetch *fetch, const struct schema_table *table,
    const char *where, fetch_row *call, void *arg, struct err *err)
{
	struct native_column columns[SCHEMA_COLUMNS_MAX];
	unsigned count = typed_columns(table, columns);
	char *sql = select_sql(fetch, table, where);
	int rc = fetch_all(fetch, columns, count, sql, call, arg, err);

	free(sql);
	return rc;
}

/* ---- columns ---- */

uint64_t
fetch_uint(struct fetch *row)
{
	return native_read_uint(row->reader, row->column++, row->row);
}

int64_t
fetch_int(struct fetch *row)
{
	return native_read_int(row->reader, row->column++, row->row);
}

struct text
fetch_text(struct fetch *row)
{
	return native_read_text(row->reader, row->column++, row->row);
}

static bool
get_texts(struct fetch *row, struct text *to, uint32_t *count)
{
	uint32_t first;

	*count = native_read_array(row->reader, row->column, row->row, &first);
	if (*count > RECORD_ATTRIBUTES_MAX)
		return false;
	for (uint32_t i = 0; i < *count; i++)
		to[i] = native_read_text(row->reader, row->column, first + i);
	row->column++;
	return true;
}

bool
fetch_attributes(struct fetch *row, struct archive_row *to)
{
	to->keys = row->keys;
	to->texts = row->texts;
	if (!get_texts(row, row->keys, &to->key_count))
		return false;
	to->types = fetch_text(row);
	return get_texts(row, row->texts, &to->text_count);
}

static bool
take_values(struct fetch *row, struct archive_row *to)
{
	uint32_t first, first_big;
	unsigned v = row->column + 1, big = row->column + 2;

	to->types = fetch_text(row);
	to->number_count = native_read_array(row->reader, v, row->row, &first);
	to->big_count =
	    native_read_array(row->reader, big, row->row, &first_big);
	if (to->number_count > RECORD_VALUES_MAX ||
	    to->big_count > RECORD_VALUES_MAX)
		return false;
	for (uint32_t k = 0; k < to->number_count; k++)
		row->numbers[k] = native_read_float(row->reader, v, first + k);
	for (uint32_t k = 0; k < to->big_count; k++)
		row->big[k] = native_read_uint(row->reader, big, first_big + k);
	to->numbers = row->numbers;
	to->big = row->big;
	row->column += 3;
	return true;
}

static bool
take_body(struct fetch *row, enum record_kind kind, struct archive_row *to)
{
	switch (kind) {
	case RECORD_EVENT:
		to->source = fetch_text(row);
		to->name = fetch_text(row);
		to->key = fetch_text(row);
		return fetch_attributes(row, to);
	case RECORD_SPAN:
		to->end_ns = fetch_int(row);
		to->name = fetch_text(row);
		to->key = fetch_text(row);
		return fetch_attributes(row, to);
	case RECORD_SAMPLE: return take_values(row, to);
	case RECORD_GAP:
		to->end_ns = fetch_int(row);
		to->source = fetch_text(row);
		to->name = fetch_text(row);
		to->count = fetch_uint(row);
		return true;
	default:
		to->name = fetch_text(row);
		to->count = fetch_uint(row);
		to->body = fetch_text(row);
		to->key = fetch_text(row);
		return true;
	}
}

bool
fetch_record(struct fetch *row, enum record_kind kind, struct archive_row *to)
{
	*to = (struct archive_row){ .part = fetch_uint(row) };
	to->hour = (int32_t)fetch_int(row);
	to->node = fetch_text(row);
	if (kind == RECORD_SAMPLE || kind == RECORD_SPAN)
		to->track = fetch_text(row);
	to->time_ns = fetch_int(row);
	to->session = fetch_text(row);
	to->seq = fetch_uint(row);
	to->index = (uint32_t)fetch_uint(row);
	to->receive_ns = fetch_int(row);
	to->pos = fetch_uint(row);
	return take_body(row, kind, to);
}
