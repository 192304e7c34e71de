/*
 * typed - rows of the archive's typed tables: their columns, and a hash of what
 * identifies a row, the same here and in ClickHouse.
 *
 * The first columns of a table are its identity (schema.h, `hashed`).  Of each
 * in order: h = intHash64(h xor column), starting at 0; a number as UInt64,
 * negative ones modulo 2^64, of a text its sipHash64.  Sums of these hashes
 * modulo 2^64, and counts, show whether a replica has the rows that were sent.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_ROWS_TYPED_H
#define AGGREGATOR_ARCHIVE_ROWS_TYPED_H

#include <stdint.h>

#include "aggregator/archive/schema/schema.h"
#include "proto/clickhouse/native.h"
#include "proto/record/record.h"

/* The columns of a table, in order; returns how many. */
unsigned typed_columns(const struct schema_table *table,
    struct native_column to[static SCHEMA_COLUMNS_MAX]);
/* The table of the records of a kind. */
const struct schema_table *typed_of_kind(enum record_kind kind);

/* The hash of a text, sipHash64 in ClickHouse. */
uint64_t typed_hash(struct text text);
/* The shard of a fact: of a node, or the scope of a phase, in an hour.  A pool
 * of one node is on all shards. */
unsigned typed_shard(
    unsigned shards, uint64_t part, struct text node, int32_t hour);

/* A row that is being written, column by column. */
struct typed {
	struct native_block *block;
	unsigned column, hashed;
	uint64_t hash; /* so far */
};
/* `block` has the columns of the table. */
struct typed typed_begin(
    struct native_block *block, const struct schema_table *table);
void typed_put_uint(struct typed *row, uint64_t value);
void typed_put_int(struct typed *row, int64_t value);
void typed_put_text(struct typed *row, struct text value);

/* The same hash as an expression of SQL, and the columns that it is made of.
 * Return a new text. */
char *typed_hash_sql(const struct schema_table *table);
char *typed_identity_sql(const struct schema_table *table);
/* All columns. */
char *typed_columns_sql(const struct schema_table *table);

#endif
