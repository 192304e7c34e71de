/*
 * check - print what the replicas of an archive have, and say what must be
 * done.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/schema/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <time.h>

#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { VERSION_BYTES = 24, DELAY_S_MAX = 300 };
#define SETTLE_NS (5 * NS_PER_SECOND)

struct row {
	uint64_t shard, tables, rows, queue, delay_s, copies, port, format;
	struct text replica, version, table, state, host;
	double bytes;
};

#define WHICH                                                                  \
	{ "shard", "SHARD", ANSWER_AT_COUNT(struct row, shard),                \
		"its number, from 1 on" },                                     \
	    { "replica", "REPLICA", ANSWER_AT_TEXT(struct row, replica),       \
		    "the name of the server" },                                \
	{                                                                      \
		"version", "VERSION", ANSWER_AT_TEXT(struct row, version),     \
		    "of the server", .traits = ANSWER_SPARE                    \
	}
#define WHAT                                                                   \
	{ "rows", "ROWS", ANSWER_AT_COUNT(struct row, rows),                   \
		"what the replica has of it" },                                \
	    { "bytes", "SIZE", ANSWER_AT_BYTES(struct row, bytes),             \
		    "on the disk of the replica" },                            \
	    { "queue", "QUEUE", ANSWER_AT_COUNT(struct row, queue),            \
		    "what it has yet to take from other replicas",             \
		    .traits = ANSWER_SPARE },                                  \
	    { "delay_s", "DELAY", ANSWER_AT_COUNT(struct row, delay_s),        \
		    "how far it is behind them", "s",                          \
		    .traits = ANSWER_SPARE },                                  \
	    { "copies", "COPIES", ANSWER_AT_COUNT(struct row, copies),         \
		    "replicas of the shard that have the table, or the table " \
		    "that has fewest",                                         \
		    .traits = ANSWER_SPARE },                                  \
	    { "state", "STATE", ANSWER_AT_TEXT(struct row, state),             \
		    "ok, missing, read-only, old, lacking, ttl or down" },     \
	    { "host", NULL, ANSWER_AT_TEXT(struct row, host),                  \
		    "where the server is" },                                   \
	    { "port", NULL, ANSWER_AT_COUNT(struct row, port),                 \
		    "and its port" },                                          \
	    { "format", NULL, ANSWER_AT_COUNT(struct row, format),             \
		    "of the archive" },                                        \
	{                                                                      \
		.key = NULL                                                    \
	}

static const struct answer_column of_replica[] = { WHICH,
	{ "tables", "TABLES", ANSWER_AT_COUNT(struct row, tables),
	    "tables of the archive that it has" },
	WHAT };
static const struct answer_column of_table[] = { WHICH,
	{ "table", "TABLE", ANSWER_AT_TEXT(struct row, table),
	    "a table of the archive" },
	WHAT };

const struct answer_table check_tables[] = { { "replicas", of_replica },
	{ .name = NULL } };
const struct answer_table check_status_tables[] = { { "tables", of_table },
	{ .name = NULL } };

/* What is given of a replica. */
struct printing {
	struct answer *answer;
	const struct clickhouse_replica *replica;
	const struct survey_replica *survey;
	const struct survey *all;
	const char *database;
	unsigned shard; /* from 0 */
	unsigned faults;
};

/* Does it want parts that no replica of the shard has, or for too long? */
static bool
is_lacking(const struct printing *to, unsigned number)
{
	const struct survey_table *table = &to->survey->table[number];

	return table->fetches > 0 &&
	       (table->wait_s > DELAY_S_MAX ||
		   survey_copies(to->all, to->shard, number) == 0);
}

/* Does it delete rows that readers then miss? */
static bool
has_wrong_ttl(const struct printing *to, unsigned number)
{
	enum ttl ttl = to->survey->table[number].ttl;

	return number <= SCHEMA_REJECTED ? ttl == TTL_OTHER : ttl != TTL_NONE;
}

static const char *
state_of(const struct printing *to, unsigned number)
{
	const struct survey_table *table = &to->survey->table[number];

	return !table->exists                            ? "missing"
	       : table->read_only                        ? "read-only"
	       : table->lacks != 0 || table->is_unsynced ? "old"
	       : is_lacking(to, number)                  ? "lacking"
	       : has_wrong_ttl(to, number)               ? "ttl"
							 : "ok";
}

/* What is not known of a table, or of a server that is down. */
static struct row
begin_row(const struct printing *to, char version[static VERSION_BYTES])
{
	const struct clickhouse_replica *replica = to->replica;
	struct row row = { .shard = to->shard + 1,
		.replica = text_of(replica->host),
		.state = text_of("down"),
		.tables = ANSWER_NO_COUNT,
		.rows = ANSWER_NO_COUNT,
		.bytes = NAN,
		.queue = ANSWER_NO_COUNT,
		.delay_s = ANSWER_NO_COUNT,
		.copies = ANSWER_NO_COUNT,
		.host = text_of(replica->host),
		.port = replica->port != 0 ? replica->port : ANSWER_NO_COUNT,
		.format = to->survey->format != 0 ? to->survey->format
						  : ANSWER_NO_COUNT };

	if (replica->up) {
		snprintf(version, VERSION_BYTES, "%u.%u",
		    replica->version / 1000, replica->version % 1000);
		row.replica = text_of(replica->name);
		row.version = text_of(version);
	}
	return row;
}

static void
put_table(struct printing *to, unsigned number)
{
	const struct survey_table *table = &to->survey->table[number];
	char version[VERSION_BYTES];
	struct row row = begin_row(to, version);

	row.table = text_of(schema_tables[number].name);
	row.rows = table->rows;
	row.bytes = (double)table->bytes;
	row.queue = table->queue;
	row.delay_s = table->delay_s;
	row.copies = survey_copies(to->all, to->shard, number);
	row.state = text_of(state_of(to, number));
	answer_row(to->answer, &row, NULL);
}

static void
put_tables(struct printing *to)
{
	char version[VERSION_BYTES];
	struct row row = begin_row(to, version);

	for (unsigned i = 0; i < SCHEMA_TABLES && to->survey->up; i++)
		put_table(to, i);
	if (!to->survey->up)
		answer_row(to->answer, &row, NULL);
}

/* All tables together; of what is the worst in one table, that. */
static void
put_replica(struct printing *to)
{
	char version[VERSION_BYTES];
	struct row row = begin_row(to, version);

	if (to->survey->up) {
		row.tables = row.rows = row.queue = row.delay_s = 0;
		row.bytes = 0;
		row.state = text_of("ok");
	}
	for (unsigned i = 0; i < SCHEMA_TABLES && to->survey->up; i++) {
		const struct survey_table *table = &to->survey->table[i];
		uint64_t copies = survey_copies(to->all, to->shard, i);

		row.tables += table->exists;
		row.rows += table->rows;
		row.bytes += (double)table->bytes;
		row.queue += table->queue;
		if (table->delay_s > row.delay_s)
			row.delay_s = table->delay_s;
		if (row.copies == ANSWER_NO_COUNT || copies < row.copies)
			row.copies = copies;
		if (text_equal(row.state, text_of("ok")))
			row.state = text_of(state_of(to, i));
	}
	answer_row(to->answer, &row, NULL);
}

/* ---- what must be done ---- */

static void __attribute__((format(printf, 2, 3)))
say(struct printing *to, const char *format, ...)
{
	char words[ERR_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	to->faults++;
	log_error("shard %u, replica %s: %s", to->shard + 1,
	    to->replica->name[0] != '\0' ? to->replica->name
					 : to->replica->host,
	    words);
}

static void
judge_ttl(struct printing *to, unsigned number)
{
	const char *name = schema_tables[number].name;

	if (number <= SCHEMA_REJECTED)
		say(to,
		    "the TTL of table %s has a condition, or columns other "
		    "than hour and ts, so what it deletes counts as lost; set "
		    "one such as TTL toDateTime(hour * 3600) + "
		    "toIntervalDay(90)",
		    name);
	else
		say(to,
		    "the TTL of table %s deletes rows that readers need; "
		    "remove it (ALTER TABLE %s.%s REMOVE TTL), then run "
		    "poolscope archive verify --repair",
		    name, to->database, name);
}

static void
judge_table(struct printing *to, unsigned number)
{
	const struct survey_table *table = &to->survey->table[number];
	const char *name = schema_tables[number].name;

	if (!table->exists)
		say(to, "has no table %s; run poolscope archive create", name);
	else if (table->lacks != 0)
		say(to,
		    "table %s lacks a column, or has one of another type: "
		    "another version made it; make an archive in another "
		    "database",
		    name);
	else if (table->is_unsynced)
		say(to,
		    "table %s confirms rows before they are on the disk; run "
		    "poolscope archive create",
		    name);
	else if (table->read_only)
		say(to, "table %s is read-only; see whether its ZooKeeper runs",
		    name);
	else if (is_lacking(to, number))
		say(to,
		    "table %s lacks %" PRIu64
		    " parts that no replica gives it, "
		    "since %" PRIu64
		    " s; if a replica was lost, remove it from "
		    "ZooKeeper (deploy/clickhouse/operate.md), then run "
		    "poolscope "
		    "archive verify --repair",
		    name, table->fetches, table->wait_s);
	else if (has_wrong_ttl(to, number))
		judge_ttl(to, number);
	else if (table->delay_s > DELAY_S_MAX)
		say(to, "table %s is %" PRIu64 " s behind", name,
		    table->delay_s);
}

static void
judge(struct printing *to)
{
	unsigned missing = 0;

	if (!to->survey->up) {
		say(to, "%.200s", to->survey->why);
		return;
	}
	for (unsigned i = 0; i < SCHEMA_TABLES; i++)
		missing += !to->survey->table[i].exists;
	if (missing == SCHEMA_TABLES)
		say(to, "has no tables; run poolscope archive create");
	else
		for (unsigned i = 0; i < SCHEMA_TABLES; i++)
			judge_table(to, i);
	if (missing == 0 && to->survey->format == 0)
		say(to, "has no format; run poolscope archive create");
}

static void
visit(struct printing *to, const struct survey *survey,
    void (*visitor)(struct printing *))
{
	const struct clickhouse_cluster *cluster = survey->cluster;

	for (unsigned s = 0; s < cluster->shards; s++)
		for (unsigned r = 0; r < cluster->shard[s].replicas; r++) {
			to->shard = s;
			to->replica = &cluster->shard[s].replica[r];
			to->survey = &survey->replica[s][r];
			visitor(to);
		}
}

/* Nothing can be done about it but another version. */
static void
warn_of_power(const struct survey *survey)
{
	uint32_t version = survey->cluster->version;

	if (version != 0 && version < CLICKHOUSE_VERSION_NEW)
		log_warn("ClickHouse %u.%u confirms rows before they are on "
			 "the disk: if all replicas of a shard lose power at "
			 "once, the last half minute may be lost; from version "
			 "22 on it writes them first",
		    version / 1000, version % 1000);
}

static bool
has_no_copy(const struct survey *survey)
{
	for (unsigned s = 0; s < survey->cluster->shards; s++)
		for (unsigned r = 0; r < survey->cluster->shard[s].replicas;
		     r++)
			for (unsigned i = 0; i < SCHEMA_TABLES; i++)
				if (survey->replica[s][r].table[i].fetches >
					0 &&
				    survey_copies(survey, s, i) == 0)
					return true;
	return false;
}

/* Replicas that got blocks at the same time fetch them from each other soon. */
static struct survey *
survey_at_rest(struct clickhouse *clickhouse)
{
	const struct timespec step = { 0, NS_PER_SECOND / 5 };
	int64_t until_ns = clock_monotonic_ns() + SETTLE_NS;
	struct survey *survey = survey_open(clickhouse);

	while (has_no_copy(survey) && clock_monotonic_ns() < until_ns) {
		nanosleep(&step, NULL);
		survey_close(&survey);
		survey = survey_open(clickhouse);
	}
	return survey;
}

static int
run(struct clickhouse *clickhouse, struct answer *answer, bool is_status,
    struct err *err)
{
	struct survey *survey = survey_at_rest(clickhouse);
	struct printing to = { .answer = answer,
		.all = survey,
		.database = clickhouse_database(clickhouse) };
	int rc = survey_check_format(survey, to.database, err);

	if (rc == 0)
		visit(&to, survey, is_status ? put_tables : put_replica);
	if (rc == 0 && !is_status) {
		answer_flush(answer);
		visit(&to, survey, judge);
		warn_of_power(survey);
		rc = to.faults > 0;
	}
	survey_close(&survey);
	return rc;
}

int
check_archive(
    struct clickhouse *clickhouse, struct answer *answer, struct err *err)
{
	return run(clickhouse, answer, false, err);
}

int
check_status(
    struct clickhouse *clickhouse, struct answer *answer, struct err *err)
{
	return run(clickhouse, answer, true, err);
}
