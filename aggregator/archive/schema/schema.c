/*
 * schema - the tables of the archive, and the statements that make them.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/schema/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WORDS_BYTES = 512 };

/* What is confirmed, inserted or fetched, is on the disk. */
#define SCHEMA_SYNC                                                            \
	"fsync_after_insert = 1, fsync_part_directory = 1, "                   \
	"min_compressed_bytes_to_fsync_after_fetch = 1"

#define TIME_CODEC "DoubleDelta, ZSTD(1)"
#define STEP_CODEC "Delta, ZSTD(1)"
#define ANY_CODEC  "ZSTD(1)"
#define TEXT_CODEC "ZSTD(3)"

#define DAY "intDiv(hour, 24)"

#define U64(name)                                                              \
	{                                                                      \
		name, "UInt64", ANY_CODEC                                      \
	}
#define I64(name)                                                              \
	{                                                                      \
		name, "Int64", TIME_CODEC                                      \
	}
#define TEXT(name)                                                             \
	{                                                                      \
		name, "String", TEXT_CODEC                                     \
	}
#define FRONT                                                                  \
	U64("part"),                                                           \
	{                                                                      \
		"hour", "Int32", STEP_CODEC                                    \
	}
#define SENT                                                                   \
	{ "session", "String", ANY_CODEC }, { "seq", "UInt64", TIME_CODEC },   \
	{                                                                      \
		"idx", "UInt32", STEP_CODEC                                    \
	}
#define ATTRIBUTES                                                             \
	{ "keys", "Array(String)", TEXT_CODEC },                               \
	    { "types", "String", ANY_CODEC },                                  \
	{                                                                      \
		"vals", "Array(String)", TEXT_CODEC                            \
	}
#define ARRIVED I64("recv"), U64("pos")
#define ID      "part, hour, node, ts, session, seq, idx"
#define SERIES  "part, hour, node, track, ts, session, seq, idx"

const struct schema_table schema_tables[SCHEMA_TABLES] = {
	[SCHEMA_EVENTS] = { "events", DAY, ID, NULL, 7,
	    { FRONT, TEXT("node"), I64("ts"), SENT, ARRIVED, TEXT("source"),
		TEXT("name"), { "uuid", "String", ANY_CODEC }, ATTRIBUTES } },
	[SCHEMA_SPANS] = { "spans", DAY, SERIES, NULL, 8,
	    { FRONT, TEXT("node"), TEXT("track"), I64("ts"), SENT, ARRIVED,
		I64("end_ns"), TEXT("name"), TEXT("category"), ATTRIBUTES } },
	[SCHEMA_SAMPLES] = { "samples", DAY,
	    "part, hour, track, node, ts, session, seq, idx", NULL, 8,
	    { FRONT, TEXT("node"), TEXT("track"), I64("ts"), SENT, ARRIVED,
		{ "types", "String", ANY_CODEC },
		{ "v", "Array(Float64)", TEXT_CODEC },
		{ "big", "Array(UInt64)", TEXT_CODEC } } },
	[SCHEMA_GAPS] = { "gaps", DAY, ID, NULL, 7,
	    { FRONT, TEXT("node"), I64("ts"), SENT, ARRIVED, I64("end_ns"),
		TEXT("class"), TEXT("reason"), U64("count") } },
	[SCHEMA_REJECTED] = { "rejected", DAY, ID, NULL, 7,
	    { FRONT, TEXT("node"), I64("ts"), SENT, ARRIVED, TEXT("reason"),
		U64("bytes"), TEXT("body"), TEXT("sha256") } },
	/* A start or an end of a phase. */
	[SCHEMA_PHASES] = { "phases", DAY,
	    "part, phase, form, key_hash, scope, ts, role, session, seq, idx, "
	    "node",
	    NULL, 12,
	    { FRONT, TEXT("phase"), U64("form"), U64("key_hash"), TEXT("scope"),
		I64("ts"), { "role", "UInt8", ANY_CODEC }, TEXT("node"), SENT,
		ARRIVED, TEXT("key"), I64("measured"), ATTRIBUTES } },
	/* A bucket of a series: of each metric the same place in the arrays. */
	[SCHEMA_ROLLUPS] = { "rollups", DAY,
	    "part, hour, step, track, node, metrics, bucket", "pos", 8,
	    { FRONT, { "step", "UInt8", ANY_CODEC }, TEXT("track"),
		TEXT("node"), { "metrics", "UInt32", ANY_CODEC },
		{ "bucket", "UInt8", ANY_CODEC }, U64("pos"),
		{ "defined", "UInt32", ANY_CODEC },
		{ "lacking", "UInt8", ANY_CODEC }, U64("samples"),
		{ "metric", "Array(UInt64)", TEXT_CODEC },
		{ "types", "String", TEXT_CODEC },
		{ "n", "Array(UInt64)", TEXT_CODEC },
		{ "first_ns", "Array(UInt64)", TEXT_CODEC },
		{ "last_ns", "Array(UInt64)", TEXT_CODEC },
		{ "first_boot", "Array(UInt64)", TEXT_CODEC },
		{ "last_boot", "Array(UInt64)", TEXT_CODEC },
		{ "seconds", "Array(Float64)", TEXT_CODEC },
		{ "low", "Array(Float64)", TEXT_CODEC },
		{ "high", "Array(Float64)", TEXT_CODEC },
		{ "sum", "Array(Float64)", TEXT_CODEC },
		{ "first", "Array(Float64)", TEXT_CODEC },
		{ "last", "Array(Float64)", TEXT_CODEC },
		{ "big", "Array(UInt64)", TEXT_CODEC } } },
	[SCHEMA_NAMES] = { "names", NULL, "part, kind, name", "pos", 4,
	    { U64("part"), { "kind", "UInt8", ANY_CODEC }, TEXT("name"),
		U64("pos"), { "no", "UInt32", STEP_CODEC } } },
	[SCHEMA_ENTITIES] = { "entities", NULL, "part, kind, id", "pos", 4,
	    { U64("part"), TEXT("kind"), TEXT("id"), U64("pos"), TEXT("node"),
		SENT, I64("recv"), ATTRIBUTES } },
	/* What was last heard of a node. */
	[SCHEMA_NODES] = { "nodes", NULL, "part, node", "pos", 3,
	    { U64("part"), TEXT("node"), U64("pos"), I64("recv"), I64("ts"),
		I64("sample"), I64("clock_ts"), I64("clock"), I64("spool_ts"),
		I64("spool"), I64("life_ts"), I64("life") } },
	/* How far a stream is in the archive. */
	[SCHEMA_STREAMS] = { "streams", NULL, "part, session", "pos", 3,
	    { U64("part"), { "session", "String", ANY_CODEC }, U64("pos"),
		TEXT("node"), U64("seq"), U64("hash"), I64("recv"),
		U64("owner"), { "derived", "UInt8", ANY_CODEC } } },
	/* What was imported: store.md, table `once`. */
	[SCHEMA_KNOWN] = { "known", NULL, "part, hour, hash", "pos", 4,
	    { FRONT, { "hash", "String", ANY_CODEC }, U64("pos"),
		{ "session", "String", ANY_CODEC },
		{ "value", "String", ANY_CODEC } } },
	[SCHEMA_SUMS] = { "sums", NULL, "part, phase", "pos", 3,
	    { U64("part"), TEXT("phase"), U64("pos"), U64("form"),
		{ "fifo", "UInt8", ANY_CODEC },
		{ "marks", "UInt32", ANY_CODEC }, TEXT("stats") } },
	[SCHEMA_PARTITIONS] = { "partitions", NULL, "part", "pos", 2,
	    { U64("part"), U64("pos"), TEXT("name"), U64("nodes"),
		I64("first_ns"), I64("last_ns"), I64("oldest_ns"),
		U64("rejected_bytes"), U64("rejected_cut"), U64("last_entry"),
		{ "records", "Array(UInt64)", ANY_CODEC } } },
	[SCHEMA_MODELS] = { "models", NULL, "part, id", "pos", 3,
	    { U64("part"), TEXT("id"), U64("pos"), TEXT("body") } },
	[SCHEMA_RUNS] = { "runs", NULL, "part, model, no, run", "pos", 5,
	    { U64("part"), TEXT("model"), { "no", "UInt32", STEP_CODEC },
		TEXT("run"), U64("pos"), I64("first_ns"),
		{ "flags", "UInt8", ANY_CODEC }, TEXT("grp"), TEXT("requestor"),
		U64("overflow"), I64("overflow_ns"),
		{ "ev", "Array(String)", TEXT_CODEC },
		{ "ev_ts", "Array(UInt64)", TEXT_CODEC },
		{ "ev_recv", "Array(UInt64)", TEXT_CODEC },
		{ "ev_node", "Array(String)", TEXT_CODEC },
		{ "ev_session", "Array(String)", TEXT_CODEC },
		{ "ev_seq", "Array(UInt64)", TEXT_CODEC },
		{ "ev_idx", "Array(UInt64)", TEXT_CODEC },
		{ "other", "Array(String)", TEXT_CODEC },
		{ "other_hour", "Array(UInt64)", TEXT_CODEC },
		{ "other_ns", "Array(UInt64)", TEXT_CODEC },
		{ "other_count", "Array(UInt64)", TEXT_CODEC } } },
	/* Statistics of a group of test runs; without counts and stats: none.
	 */
	[SCHEMA_GROUPS] = { "groups", NULL,
	    "part, model, known, grp, sort, name, which", "pos", 8,
	    { U64("part"), TEXT("model"), { "known", "UInt8", ANY_CODEC },
		TEXT("grp"), { "sort", "UInt8", ANY_CODEC }, TEXT("name"),
		{ "which", "UInt8", ANY_CODEC }, U64("pos"),
		{ "no", "UInt32", ANY_CODEC },
		{ "value", "String", TEXT_CODEC } } },
	/* What readers need of the claims (archive/claims.h), and the ends. */
	{ "owners", NULL, "part, epoch, who", "until", 0,
	    { { "part", "UInt64", ANY_CODEC }, { "name", "String", ANY_CODEC },
		{ "epoch", "UInt32", ANY_CODEC },
		{ "who", "UInt64", ANY_CODEC },
		{ "until", "UInt64", ANY_CODEC } } },
	/* What replicas must have at least. */
	{ "commits", NULL, "part, tbl, hour, name, shard, since", "pos", 0,
	    { U64("part"), TEXT("tbl"), { "hour", "Int32", STEP_CODEC },
		TEXT("name"), { "shard", "UInt32", ANY_CODEC }, U64("since"),
		U64("pos"), U64("rows"), U64("hash"), U64("row"), U64("entry"),
		I64("at_ns") } },
	{ "meta", NULL, "name", NULL, 0,
	    { { "name", "String", ANY_CODEC },
		{ "value", "String", ANY_CODEC } } },
};

const struct schema_stage schema_stages[SCHEMA_STAGES] = {
	{ 0, SCHEMA_STREAMS },
	{ SCHEMA_STREAMS, SCHEMA_SUMS },
	{ SCHEMA_SUMS, SCHEMA_TYPED },
};

unsigned
schema_columns(const struct schema_table *table)
{
	unsigned count = 0;

	while (table->column[count].name != NULL)
		count++;
	return count;
}

static void __attribute__((format(printf, 2, 3)))
put(struct buffer *sql, const char *format, ...)
{
	char words[WORDS_BYTES];
	va_list args;
	int bytes;

	va_start(args, format);
	bytes = vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	buffer_put(sql, words,
	    bytes < (int)sizeof(words) ? (size_t)bytes : sizeof(words) - 1);
}

static void
put_column(
    struct buffer *sql, const struct schema_column *column, uint32_t version)
{
	put(sql, "%s %s", column->name, column->type);
	if (version >= CLICKHOUSE_VERSION_NEW)
		put(sql, " CODEC(%s)", column->codec);
}

/* Rows of whole days: the tables are divided by them. */
static void
put_storage(struct buffer *sql, const struct schema_table *table,
    const struct schema_storage *storage)
{
	bool is_kept =
	    table->partition == NULL || table > &schema_tables[SCHEMA_REJECTED];
	const char *comma = " TTL ";

	if (storage->move_days > 0 && table->partition != NULL) {
		put(sql,
		    "%stoDateTime((toInt64(hour) + 1) * 3600) + "
		    "toIntervalDay(%u) TO VOLUME '%s'",
		    comma, storage->move_days, storage->volume);
		comma = ", ";
	}
	if (storage->ttl_days > 0 && !is_kept)
		put(sql,
		    "%stoDateTime((toInt64(hour) + 1) * 3600) + "
		    "toIntervalDay(%u)",
		    comma, storage->ttl_days);
	put(sql, " SETTINGS " SCHEMA_SYNC);
	if (storage->ttl_days > 0 && !is_kept)
		put(sql, ", ttl_only_drop_parts = 1");
	if (storage->policy != NULL)
		put(sql, ", storage_policy = '%s'", storage->policy);
}

void
schema_create(struct buffer *sql, const struct schema_table *table,
    const char *database, bool replicated, uint32_t version,
    const struct schema_storage *storage)
{
	put(sql, "CREATE TABLE IF NOT EXISTS %s.%s (", database, table->name);
	for (unsigned i = 0; i < schema_columns(table); i++) {
		put(sql, i > 0 ? ", " : "");
		put_column(sql, &table->column[i], version);
	}
	/* Who follows the archive asks for the newest positions. */
	if (version >= CLICKHOUSE_VERSION_NEW && table->version != NULL &&
	    strcmp(table->version, "pos") == 0)
		put(sql, ", INDEX pos_range pos TYPE minmax GRANULARITY 1");
	put(sql, ") ENGINE = %sReplacingMergeTree",
	    replicated ? "Replicated" : "");
	/* {cluster} and the others are macros of each server. */
	if (replicated)
		put(sql,
		    "('/clickhouse/tables/{cluster}/{shard}/%s/%s', "
		    "'{replica}'%s%s)",
		    database, table->name, table->version != NULL ? ", " : "",
		    table->version != NULL ? table->version : "");
	else
		put(sql, "(%s)", table->version != NULL ? table->version : "");
	if (table->partition != NULL)
		put(sql, " PARTITION BY %s", table->partition);
	put(sql, " ORDER BY (%s)", table->order);
	if (version >= CLICKHOUSE_VERSION_NEW)
		put_storage(sql, table, storage);
}

void
schema_sync(
    struct buffer *sql, const struct schema_table *table, const char *database)
{
	put(sql, "ALTER TABLE %s.%s MODIFY SETTING " SCHEMA_SYNC, database,
	    table->name);
}
