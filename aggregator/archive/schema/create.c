/*
 * create - make the tables of an archive, add what newer versions have, and
 * remove it.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/schema/create.h"

#include <inttypes.h>
#include <stdlib.h>

#include "aggregator/archive/schema/archive_id.h"
#include "proto/base/number.h"

enum { SQL_BYTES = 256 };

struct row {
	uint64_t shard, tables, synced;
	struct text replica;
};

#define WHICH                                                                  \
	{ "shard", "SHARD", ANSWER_AT_COUNT(struct row, shard),                \
		"its number, from 1 on" },                                     \
	{                                                                      \
		"replica", "REPLICA", ANSWER_AT_TEXT(struct row, replica),     \
		    "the name of the server"                                   \
	}

static const struct answer_column created[] = { WHICH,
	{ "created", "CREATED", ANSWER_AT_COUNT(struct row, tables),
	    "tables that it did not have; none: it is down" },
	{ "synced", NULL, ANSWER_AT_COUNT(struct row, synced),
	    "tables that are written to the disk before rows are confirmed, "
	    "and were not" },
	{ .key = NULL } };
static const struct answer_column dropped[] = { WHICH,
	{ "dropped", "DROPPED", ANSWER_AT_COUNT(struct row, tables),
	    "tables that it had; none: it is down" },
	{ .key = NULL } };

const struct answer_table create_archive_tables[] = { { "replicas", created },
	{ .name = NULL } };
const struct answer_table create_drop_tables[] = { { "replicas", dropped },
	{ .name = NULL } };

/* A verb at work on one replica after another. */
struct work {
	struct clickhouse *clickhouse;
	struct survey *survey;
	const struct schema_storage *storage;
	unsigned shard, replica;
	struct survey_replica *of; /* what this replica has */
	uint32_t version;
	struct row *done; /* of this replica */
	struct row row[CLICKHOUSE_SHARDS_MAX][CLICKHOUSE_REPLICAS_MAX];
	unsigned changed;                       /* tables */
	bool has_new_id[CLICKHOUSE_SHARDS_MAX]; /* of each shard */
	struct answer *answer;
	struct buffer sql;
};

typedef int on_replica(struct work *work, struct err *err);

static int
run(struct work *work, struct err *err)
{
	buffer_put(&work->sql, "", 1);
	return clickhouse_run(work->clickhouse, work->shard, work->replica,
	    (const char *)work->sql.at, err);
}

static struct buffer *
new_statement(struct work *work)
{
	work->sql.bytes = 0;
	return &work->sql;
}

/* Visit every replica; -1 if one is not up, or did not do it. */
static int
visit(struct work *work, on_replica *visitor, struct err *err)
{
	const struct clickhouse_cluster *cluster = work->survey->cluster;
	struct err why = { 0 };

	for (unsigned s = 0; s < cluster->shards; s++)
		for (unsigned r = 0; r < cluster->shard[s].replicas; r++) {
			work->shard = s;
			work->replica = r;
			work->of = &work->survey->replica[s][r];
			work->done = &work->row[s][r];
			work->version = cluster->shard[s].replica[r].version;
			if (!work->of->up)
				err_set(&why,
				    "replica %u of shard %u (%.100s): %.200s; "
				    "repeat this when it is back",
				    r + 1, s + 1,
				    cluster->shard[s].replica[r].host,
				    work->of->why);
			else if (visitor(work, &why) != 0 &&
				 why.code == ERR_INTERRUPTED)
				break;
		}
	return why.text[0] == '\0'
		   ? 0
		   : err_set_code(err, why.code, "%s", why.text);
}

static bool
has_format(const struct survey *survey)
{
	for (unsigned s = 0; s < survey->cluster->shards; s++)
		for (unsigned r = 0; r < CLICKHOUSE_REPLICAS_MAX; r++)
			if (survey->replica[s][r].format != 0)
				return true;
	return false;
}

static void
open_work(
    struct work *work, struct clickhouse *clickhouse, struct answer *answer)
{
	*work = (struct work){ .clickhouse = clickhouse,
		.survey = survey_open(clickhouse),
		.answer = answer };
	answer_head(
	    answer, "database", answer_string(clickhouse_database(clickhouse)));
	answer_head(
	    answer, "shards", answer_count(work->survey->cluster->shards));
}

static void
put_rows(struct work *work)
{
	const struct clickhouse_cluster *cluster = work->survey->cluster;

	for (unsigned s = 0; s < cluster->shards; s++)
		for (unsigned r = 0; r < cluster->shard[s].replicas; r++) {
			const struct clickhouse_replica *replica =
			    &cluster->shard[s].replica[r];
			struct row *row = &work->row[s][r];

			row->shard = s + 1;
			row->replica = text_of(
			    replica->up ? replica->name : replica->host);
			if (!work->survey->replica[s][r].up)
				row->tables = row->synced = ANSWER_NO_COUNT;
			answer_row(work->answer, row, NULL);
		}
}

static void
close_work(struct work *work)
{
	survey_close(&work->survey);
	buffer_clear(&work->sql);
}

/* ---- create ---- */

/* Has no replica of the shard that answers some of the tables?  What they had
 * counts as lost: one that is down may never come back. */
static bool
has_lost(const struct work *work)
{
	for (unsigned i = 0; i < SCHEMA_TABLES; i++) {
		bool is_there = false;

		for (unsigned r = 0; r < CLICKHOUSE_REPLICAS_MAX; r++)
			is_there |= work->survey->replica[work->shard][r]
					.table[i]
					.exists;
		if (!is_there)
			return true;
	}
	return false;
}

static int
create_missing(struct work *work, struct err *err)
{
	for (unsigned i = 0; i < SCHEMA_TABLES; i++) {
		if (work->of->table[i].exists)
			continue;
		schema_create(new_statement(work), &schema_tables[i],
		    clickhouse_database(work->clickhouse),
		    work->survey->cluster->keeper, work->version,
		    work->storage);
		if (run(work, err) != 0)
			return -1;
		work->done->tables++;
		work->changed++;
	}
	return 0;
}

static int
add_id(struct work *work, struct err *err)
{
	work->has_new_id[work->shard] = true;
	return archive_id_add(
	    work->clickhouse, work->shard, work->replica, err);
}

static int
create_tables(struct work *work, struct err *err)
{
	bool is_new = !work->has_new_id[work->shard] && has_lost(work);
	bool has_meta = work->of->table[SCHEMA_TABLES - 1].exists;
	char sql[SQL_BYTES];

	snprintf(sql, sizeof(sql), "CREATE DATABASE IF NOT EXISTS %s",
	    clickhouse_database(work->clickhouse));
	if (clickhouse_run(
		work->clickhouse, work->shard, work->replica, sql, err) != 0)
		return -1;
	/* Before the table is there: whoever stops in between does it again. */
	if (is_new && has_meta && add_id(work, err) != 0)
		return -1;
	if (create_missing(work, err) != 0)
		return -1;
	return is_new && !has_meta ? add_id(work, err) : 0;
}

/* One replica of each shard gets the rows, the others fetch them. */
static int
write_meta(struct work *work, struct err *err)
{
	const struct survey_replica *replicas =
	    work->survey->replica[work->shard];
	char sql[SQL_BYTES];
	bool has_id = false, has_format = false;

	for (unsigned r = 0; r < CLICKHOUSE_REPLICAS_MAX; r++) {
		has_format |= replicas[r].format != 0;
		has_id |= replicas[r].has_id;
	}
	if (!has_id && !work->has_new_id[work->shard] && add_id(work, err) != 0)
		return -1;
	if (has_format)
		return 0;
	snprintf(sql, sizeof(sql),
	    "INSERT INTO %s.meta (name, value) VALUES ('format', '%d'), "
	    "('shards', '%u')",
	    clickhouse_database(work->clickhouse), SCHEMA_FORMAT,
	    work->survey->cluster->shards);
	if (clickhouse_run(
		work->clickhouse, work->shard, work->replica, sql, err) != 0)
		return -1;
	work->of->format = SCHEMA_FORMAT;
	return 0;
}

static int
check_storage(const struct work *work, struct err *err)
{
	const struct schema_storage *storage = work->storage;

	if (work->survey->cluster->version >= CLICKHOUSE_VERSION_NEW ||
	    (storage->policy == NULL && storage->ttl_days == 0 &&
		storage->move_days == 0))
		return 0;
	return err_set(err,
	    "ClickHouse %u.%u is not asked for --ttl, --ttl-move and "
	    "--storage-policy: servers from version 22 on are; delete old "
	    "records with poolscope archive retain",
	    work->survey->cluster->version / 1000,
	    work->survey->cluster->version % 1000);
}

/* Tables of the same names that somebody else made are not touched. */
static int
check_foreign(const struct work *work, struct err *err)
{
	const struct survey *survey = work->survey;

	if (has_format(survey))
		return 0;
	for (unsigned s = 0; s < survey->cluster->shards; s++)
		for (unsigned r = 0; r < survey->cluster->shard[s].replicas;
		     r++)
			for (unsigned i = 0; i < SCHEMA_TABLES; i++)
				if (survey->replica[s][r].table[i].lacks != 0)
					return err_set(err,
					    "the database %s has a table %s "
					    "that is not an archive's; choose "
					    "another database",
					    clickhouse_database(
						work->clickhouse),
					    schema_tables[i].name);
	return 0;
}

/* A setting is one of each replica. */
static int
sync_tables(struct work *work, struct err *err)
{
	const char *database = clickhouse_database(work->clickhouse);

	for (unsigned i = 0; i < SCHEMA_TABLES; i++) {
		if (!work->of->table[i].is_unsynced)
			continue;
		schema_sync(new_statement(work), &schema_tables[i], database);
		if (run(work, err) != 0)
			return -1;
		work->done->synced++;
		answer_note(work->answer, "synced", ANSWER_NO_COUNT,
		    "archive %s: %s is written to the disk before it is "
		    "confirmed",
		    database, schema_tables[i].name);
	}
	return 0;
}

int
create_archive(struct clickhouse *clickhouse,
    const struct schema_storage *storage, struct answer *answer,
    struct err *err)
{
	const char *database = clickhouse_database(clickhouse);
	struct work work;
	int rc;

	open_work(&work, clickhouse, answer);
	work.storage = storage;
	rc = survey_check_format(work.survey, database, err);
	if (rc == 0)
		rc = check_storage(&work, err);
	if (rc == 0)
		rc = check_foreign(&work, err);
	if (rc == 0)
		rc = visit(&work, create_tables, err);
	if (rc == 0)
		rc = visit(&work, write_meta, err);
	if (rc == 0)
		rc = visit(&work, sync_tables, err);
	if (rc == 0 && work.changed > 0)
		answer_title(answer, "archive %s: created %u tables, %u shards",
		    database, work.changed, work.survey->cluster->shards);
	else if (rc == 0)
		answer_title(
		    answer, "archive %s: everything is there", database);
	if (rc == 0 && !work.survey->cluster->keeper)
		answer_note(answer, "one_copy", ANSWER_NO_COUNT,
		    "archive %s: there is one copy only: a single server "
		    "without ZooKeeper",
		    database);
	if (rc == 0 || work.changed > 0)
		put_rows(&work);
	close_work(&work);
	return rc;
}

/* ---- drop ---- */

/* Newer servers remove a table's place in ZooKeeper minutes later, unless they
 * must wait for it. */
static int
drop_table(
    struct work *work, const char *kind, const char *name, struct err *err)
{
	char sql[SQL_BYTES];

	snprintf(sql, sizeof(sql), "DROP TABLE IF EXISTS %s.%s%s%s",
	    clickhouse_database(work->clickhouse), kind, name,
	    work->version >= CLICKHOUSE_VERSION_NEW ? " SYNC" : "");
	return clickhouse_run(
	    work->clickhouse, work->shard, work->replica, sql, err);
}

/* Those that this replica has made (archive/claims.h). */
static int
drop_claims(struct work *work, struct err *err)
{
	char sql[SQL_BYTES], number[NUMBER_BYTES];
	struct text answer, line;
	uint64_t claim;

	snprintf(sql, sizeof(sql),
	    "SELECT max(toUInt32OrZero(substring(name, 7))) FROM system.tables "
	    "WHERE database = '%s' AND substring(name, 1, 6) = 'claim_'",
	    clickhouse_database(work->clickhouse));
	for (;;) {
		if (clickhouse_ask(work->clickhouse, work->shard, work->replica,
			sql, &answer, err) != 0)
			return -1;
		if (!text_next_line(&answer, &line) ||
		    number_parse_u64(line, &claim, NULL) != 0 || claim == 0)
			return 0;
		snprintf(number, sizeof(number), "%" PRIu64, claim);
		if (drop_table(work, "claim_", number, err) != 0)
			return -1;
	}
}

static int
drop_tables(struct work *work, struct err *err)
{
	for (unsigned i = 0; i < SCHEMA_TABLES; i++) {
		if (!work->of->table[i].exists)
			continue;
		if (drop_table(work, "", schema_tables[i].name, err) != 0)
			return -1;
		work->done->tables++;
		work->changed++;
	}
	return drop_claims(work, err);
}

int
create_drop(
    struct clickhouse *clickhouse, struct answer *answer, struct err *err)
{
	const char *database = clickhouse_database(clickhouse);
	struct work work;
	int rc = 0;

	open_work(&work, clickhouse, answer);
	if (!has_format(work.survey))
		rc = err_set(err, "the database %s has no archive", database);
	if (rc == 0)
		rc = visit(&work, drop_tables, err);
	if (rc == 0)
		answer_title(answer, "archive %s: dropped %u tables", database,
		    work.changed);
	if (rc == 0 || work.changed > 0)
		put_rows(&work);
	close_work(&work);
	return rc;
}
