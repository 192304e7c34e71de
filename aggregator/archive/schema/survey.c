/*
 * survey - what the replicas of an archive have, and what they lack.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/schema/survey.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/base/number.h"

enum { SQL_BYTES = 1024, DOWN_BYTES = 256 };

/* One replica that is being looked at. */
struct look {
	struct clickhouse *clickhouse;
	unsigned shard, replica;
	struct survey_replica *to;
};

/* 0 for what is not a number: no count of a server is one of its rows. */
static uint64_t
take_number(struct text *line)
{
	uint64_t number = 0;

	return number_parse_u64(text_next_cell(line), &number, NULL) == 0
		   ? number
		   : 0;
}

static int
find_table(struct text name)
{
	for (int i = 0; i < SCHEMA_TABLES; i++)
		if (text_equal(name, text_of(schema_tables[i].name)))
			return i;
	return -1;
}

typedef void on_row(
    const struct look *look, struct text name, struct text rest);

static int
ask(const struct look *look, const char *format, on_row *row, struct err *err)
{
	char sql[SQL_BYTES];
	struct text answer, line;

	/* Each question has one place for the name of the database. */
	snprintf(sql, sizeof(sql), "%s%s%s", format,
	    clickhouse_database(look->clickhouse), "'");
	if (clickhouse_ask(look->clickhouse, look->shard, look->replica, sql,
		&answer, err) != 0)
		return -1;
	while (text_next_line(&answer, &line)) {
		struct text name = text_next_cell(&line);

		row(look, name, line);
	}
	return 0;
}

static void
on_column(const struct look *look, struct text name, struct text rest)
{
	int at = find_table(name);
	struct text column = text_next_cell(&rest);
	struct survey_table *table;

	if (at < 0)
		return;
	table = &look->to->table[at];
	if (!table->exists)
		table->lacks =
		    (UINT32_C(1) << schema_columns(&schema_tables[at])) - 1;
	table->exists = true;
	for (unsigned i = 0; i < schema_columns(&schema_tables[at]); i++)
		if (text_equal(
			column, text_of(schema_tables[at].column[i].name)) &&
		    text_equal(rest, text_of(schema_tables[at].column[i].type)))
			table->lacks &= ~(UINT32_C(1) << i);
}

static void
on_parts(const struct look *look, struct text name, struct text rest)
{
	int at = find_table(name);

	if (at < 0)
		return;
	look->to->table[at].rows = take_number(&rest);
	look->to->table[at].bytes = take_number(&rest);
}

static void
on_replica(const struct look *look, struct text name, struct text rest)
{
	int at = find_table(name);

	if (at < 0)
		return;
	look->to->table[at].read_only = take_number(&rest) != 0;
	look->to->table[at].queue = take_number(&rest);
	look->to->table[at].delay_s = take_number(&rest);
	look->to->table[at].fetches = take_number(&rest);
	look->to->table[at].wait_s = take_number(&rest);
}

static void
on_engine(const struct look *look, struct text name, struct text rest)
{
	struct buffer engine = { .at = NULL };
	int at = find_table(name);

	if (at >= 0 && text_unhex(buffer_need(&engine, rest.bytes),
			   rest.bytes / 2, rest)) {
		engine.bytes = rest.bytes / 2;
		look->to->table[at].ttl = ttl_read(buffer_text(&engine), NULL);
	}
	buffer_clear(&engine);
}

/* The setting of a table, else that of the server. */
#define HAS(setting)                                                           \
	"(position(create_table_query, '" setting " = 1') > 0 OR "             \
	"position(create_table_query, '" setting " = ') = 0 AND "              \
	"(SELECT max(value = '1') FROM system.merge_tree_settings "            \
	"WHERE name = '" setting "'))"

static void
on_synced(const struct look *look, struct text name, struct text rest)
{
	int at = find_table(name);

	if (at >= 0)
		look->to->table[at].is_unsynced = take_number(&rest) == 0;
}

static int
read_synced(const struct look *look, struct err *err)
{
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(look->clickhouse);

	if (cluster->shard[look->shard].replica[look->replica].version <
	    CLICKHOUSE_VERSION_NEW)
		return 0;
	return ask(look,
	    "SELECT name, " HAS("fsync_after_insert") " AND " HAS(
		"fsync_part_directory") " FROM system.tables WHERE database "
					"= '",
	    on_synced, err);
}

/* Inserted twice, a row of meta may be there twice. */
static int
read_meta(const struct look *look, struct err *err)
{
	char sql[SQL_BYTES];
	struct text answer, line;

	snprintf(sql, sizeof(sql),
	    "SELECT max(if(name = 'format', toUInt64OrZero(value), 0)), "
	    "max(if(name = 'shards', toUInt64OrZero(value), 0)), "
	    "max(substring(name, 1, 3) = 'id:') FROM %s.meta",
	    clickhouse_database(look->clickhouse));
	if (clickhouse_ask(look->clickhouse, look->shard, look->replica, sql,
		&answer, err) != 0)
		return -1;
	if (text_next_line(&answer, &line)) {
		look->to->format = take_number(&line);
		look->to->shards = take_number(&line);
		look->to->has_id = take_number(&line) != 0;
	}
	return 0;
}

static void
look_at(const struct look *look)
{
	struct err err = { 0 };
	int rc;

	rc = ask(look,
	    "SELECT table, name, type FROM system.columns WHERE database = '",
	    on_column, &err);
	if (rc == 0)
		rc = ask(look,
		    "SELECT table, rows, bytes FROM (SELECT table, database, "
		    "sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM "
		    "system.parts WHERE active GROUP BY table, database) "
		    "WHERE database = '",
		    on_parts, &err);
	if (rc == 0)
		rc = ask(look,
		    "SELECT table, is_readonly, queue_size, absolute_delay, "
		    "inserts_in_queue, if(inserts_in_queue = 0, 0, "
		    "toUInt32(now()) - toUInt32(inserts_oldest_time)) "
		    "FROM system.replicas WHERE database = '",
		    on_replica, &err);
	if (rc == 0)
		rc = ask(look,
		    "SELECT name, hex(engine_full) FROM system.tables WHERE "
		    "database = '",
		    on_engine, &err);
	if (rc == 0)
		rc = read_synced(look, &err);
	if (rc == 0 && look->to->table[SCHEMA_TABLES - 1].exists)
		rc = read_meta(look, &err);
	look->to->up = rc == 0;
	if (rc != 0)
		snprintf(look->to->why, sizeof(look->to->why), "%s", err.text);
}

struct survey *
survey_open(struct clickhouse *clickhouse)
{
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(clickhouse);
	struct survey *survey = memory_zero(1, sizeof(*survey));

	survey->cluster = cluster;
	for (unsigned s = 0; s < cluster->shards; s++)
		for (unsigned r = 0; r < cluster->shard[s].replicas; r++) {
			struct look look = { clickhouse, s, r,
				&survey->replica[s][r] };

			if (cluster->shard[s].replica[r].up)
				look_at(&look);
			else
				snprintf(look.to->why, sizeof(look.to->why),
				    "it does not answer");
		}
	return survey;
}

void
survey_close(struct survey **survey)
{
	free(*survey);
	*survey = NULL;
}

unsigned
survey_copies(const struct survey *survey, unsigned shard, unsigned table)
{
	unsigned copies = 0;

	for (unsigned r = 0; r < survey->cluster->shard[shard].replicas; r++) {
		const struct survey_replica *replica =
		    &survey->replica[shard][r];
		const struct survey_table *of = &replica->table[table];

		copies += replica->up && of->exists && !of->read_only &&
			  of->fetches == 0;
	}
	return copies;
}

int
survey_check_format(
    const struct survey *survey, const char *database, struct err *err)
{
	const struct clickhouse_cluster *cluster = survey->cluster;

	for (unsigned s = 0; s < cluster->shards; s++)
		for (unsigned r = 0; r < cluster->shard[s].replicas; r++) {
			const struct survey_replica *replica =
			    &survey->replica[s][r];

			if (replica->format > SCHEMA_FORMAT)
				return err_set(err,
				    "the archive %s has format %" PRIu64
				    ", this program knows formats up to %d; "
				    "use a newer poolscope",
				    database, replica->format, SCHEMA_FORMAT);
			if (replica->format != 0 &&
			    replica->format < SCHEMA_FORMAT)
				return err_set(err,
				    "the archive %s has format %" PRIu64
				    ", an older one than %d, and cannot be "
				    "used: make one in another database with "
				    "poolscope archive create, to which "
				    "aggregators send what their stores have",
				    database, replica->format, SCHEMA_FORMAT);
			if (replica->shards != 0 &&
			    replica->shards != cluster->shards)
				return err_set(err,
				    "the archive %s was made for %" PRIu64
				    " shards, the cluster has %u; records are "
				    "where the old number puts them",
				    database, replica->shards, cluster->shards);
		}
	return 0;
}

static bool
has_format(const struct survey *survey)
{
	for (unsigned s = 0; s < survey->cluster->shards; s++)
		for (unsigned r = 0; r < survey->cluster->shard[s].replicas;
		     r++)
			if (survey->replica[s][r].format != 0)
				return true;
	return false;
}

/* Where its table is, the row of meta may be on its way from another
 * replica. */
static bool
lacks_archive(const struct survey *survey, const struct survey_replica *replica)
{
	return replica->up && replica->format == 0 &&
	       !(replica->table[SCHEMA_TABLES - 1].exists &&
		   has_format(survey));
}

static int
check_replica(const struct survey *survey, unsigned shard, unsigned number,
    const char *database, struct err *err)
{
	const struct survey_replica *replica = &survey->replica[shard][number];
	const char *host = survey->cluster->shard[shard].replica[number].host;

	if (lacks_archive(survey, replica))
		return err_set(err,
		    "the database %s of %.200s has no archive; run poolscope "
		    "archive create",
		    database, host);
	for (unsigned i = 0; i < SCHEMA_TABLES; i++)
		if (replica->table[i].exists && replica->table[i].lacks != 0)
			return err_set(err,
			    "table %s.%s of %.200s lacks a column, or has one "
			    "of another type; make an archive in another "
			    "database",
			    database, schema_tables[i].name, host);
	return 0;
}

/* Those that are down may have what the others lack. */
static int
refuse_missing(const struct survey *survey, unsigned shard,
    const char *database, const char *table, struct err *err)
{
	const struct clickhouse_shard *of = &survey->cluster->shard[shard];
	char down[DOWN_BYTES] = "";
	size_t at = 0;

	for (unsigned r = 0; r < of->replicas && at < sizeof(down); r++)
		if (!survey->replica[shard][r].up)
			at += (size_t)snprintf(down + at, sizeof(down) - at,
			    "%s%s", at > 0 ? ", " : "", of->replica[r].host);
	if (at > 0)
		return err_set(err,
		    "no replica of shard %u that answers has table %s.%s: "
		    "start those that do not answer (%s) before you run "
		    "poolscope archive create",
		    shard + 1, database, table, down);
	return err_set(err,
	    "no replica of shard %u has table %s.%s: run poolscope archive "
	    "create, then aggregators send again what their stores have",
	    shard + 1, database, table);
}

/* A table that one replica lacks is read from another one. */
static int
check_shard(const struct survey *survey, unsigned shard, const char *database,
    struct err *err)
{
	for (unsigned i = 0; i < SCHEMA_TABLES; i++) {
		bool is_there = false, is_up = false;

		for (unsigned r = 0; r < survey->cluster->shard[shard].replicas;
		     r++) {
			const struct survey_replica *replica =
			    &survey->replica[shard][r];

			is_up |= replica->up;
			is_there |= replica->up && replica->table[i].exists;
		}
		if (is_up && !is_there)
			return refuse_missing(survey, shard, database,
			    schema_tables[i].name, err);
	}
	return 0;
}

int
schema_check(struct clickhouse *clickhouse, struct err *err)
{
	const char *database = clickhouse_database(clickhouse);
	struct survey *survey = survey_open(clickhouse);
	const struct clickhouse_cluster *cluster = survey->cluster;
	int rc = survey_check_format(survey, database, err);

	for (unsigned s = 0; s < cluster->shards && rc == 0; s++) {
		for (unsigned r = 0; r < cluster->shard[s].replicas && rc == 0;
		     r++)
			rc = check_replica(survey, s, r, database, err);
		if (rc == 0)
			rc = check_shard(survey, s, database, err);
	}
	survey_close(&survey);
	return rc;
}
