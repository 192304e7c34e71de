/*
 * schema - the tables of the archive, and the statements that make them.
 *
 * proto/archive.md explains the tables.  Types and engines are those that
 * ClickHouse 18.16 and the newest version have in common; codecs are added for
 * servers that know them.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_SCHEMA_SCHEMA_H
#define AGGREGATOR_ARCHIVE_SCHEMA_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/buffer.h"
#include "proto/clickhouse/client.h"

enum {
	SCHEMA_FORMAT = 2, /* row `format` of table meta */
	SCHEMA_TYPED = 17, /* tables that a pass writes, from the first on */
	SCHEMA_TABLES = SCHEMA_TYPED + 3,
	SCHEMA_COLUMNS_MAX = 26,
};

struct schema_column {
	const char *name, *type;
	const char *codec;
};

struct schema_table {
	const char *name;
	const char *partition; /* NULL: one */
	const char *order;     /* rows that are equal in it are one row */
	const char *version; /* the row with the highest one stays; NULL: any */
	/* The first columns, of which the hash of a row is made
	 * (rows/typed.h). */
	unsigned hashed;
	struct schema_column column[SCHEMA_COLUMNS_MAX + 1];
};

/* Their places in schema_tables. */
enum schema_number {
	SCHEMA_EVENTS,
	SCHEMA_SPANS,
	SCHEMA_SAMPLES,
	SCHEMA_GAPS,
	SCHEMA_REJECTED,
	SCHEMA_PHASES,
	SCHEMA_ROLLUPS,
	SCHEMA_NAMES,
	SCHEMA_ENTITIES,
	SCHEMA_NODES,
	SCHEMA_STREAMS,
	SCHEMA_KNOWN,
	SCHEMA_SUMS,
	SCHEMA_PARTITIONS,
	SCHEMA_MODELS,
	SCHEMA_RUNS,
	SCHEMA_GROUPS,
};

/* The rows of a stage come behind those of the stage before: records and what
 * they name, how far streams are, what follows from the records.  So at any
 * moment no stream is further than its records, and no statistics have records
 * that no stream has. */
enum { SCHEMA_STAGES = 3 };
struct schema_stage {
	unsigned from, to; /* of the tables; `to` is not included */
};
extern const struct schema_stage schema_stages[SCHEMA_STAGES];

/* Are its rows counted by hour? */
static inline bool
schema_is_by_hour(unsigned table)
{
	return table <= SCHEMA_ROLLUPS && table != SCHEMA_PHASES;
}

extern const struct schema_table schema_tables[SCHEMA_TABLES];

/* Where new tables have their rows, and for how long; 0, NULL: the server's
 * default, and for ever.  Servers from CLICKHOUSE_VERSION_NEW on. */
struct schema_storage {
	const char *policy, *volume;
	uint32_t move_days; /* then rows go to `volume` */
	uint32_t ttl_days;  /* then the server drops days of records */
};

unsigned schema_columns(const struct schema_table *table);

/* Append a statement for a server of this version: replicated, or with one copy
 * on a single server. */
void schema_create(struct buffer *sql, const struct schema_table *table,
    const char *database, bool replicated, uint32_t version,
    const struct schema_storage *storage);
/* Append a statement that has each row written to the disk before it is
 * confirmed; on servers from CLICKHOUSE_VERSION_NEW on. */
void schema_sync(
    struct buffer *sql, const struct schema_table *table, const char *database);

/* After clickhouse_find: is there an archive of a format that this program
 * knows, made for as many shards as the cluster has?  -1: the sentence says
 * what to do. */
int schema_check(struct clickhouse *clickhouse, struct err *err);

#endif
