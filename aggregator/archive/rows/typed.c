/*
 * typed - rows of the archive's typed tables.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/rows/typed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/hash/hash.h"

static const struct hash_key no_key;

unsigned
typed_columns(const struct schema_table *table,
    struct native_column to[static SCHEMA_COLUMNS_MAX])
{
	unsigned count = schema_columns(table);

	for (unsigned i = 0; i < count; i++)
		to[i] = (struct native_column){ table->column[i].name,
			native_type_of(table->column[i].type) };
	return count;
}

const struct schema_table *
typed_of_kind(enum record_kind kind)
{
	switch (kind) {
	case RECORD_EVENT: return &schema_tables[SCHEMA_EVENTS];
	case RECORD_SPAN: return &schema_tables[SCHEMA_SPANS];
	case RECORD_SAMPLE: return &schema_tables[SCHEMA_SAMPLES];
	case RECORD_GAP: return &schema_tables[SCHEMA_GAPS];
	case RECORD_REJECTED: return &schema_tables[SCHEMA_REJECTED];
	default: return NULL;
	}
}

uint64_t
typed_hash(struct text text)
{
	return hash_bytes(no_key, text.at, text.bytes);
}

unsigned
typed_shard(unsigned shards, uint64_t part, struct text node, int32_t hour)
{
	uint64_t mixed = part ^ typed_hash(node) ^
			 (uint64_t)hour * UINT64_C(0xc2b2ae3d27d4eb4f);

	return (
	    unsigned)((mixed * UINT64_C(0x9e3779b97f4a7c15) >> 32) % shards);
}

/* One step: intHash64 of ClickHouse, which is the finalizer of MurmurHash3 by
 * Austin Appleby after an exclusive-or. */
static void
add(struct typed *row, uint64_t column)
{
	uint64_t hash = row->hash ^ column ^ UINT64_C(0x4cf2d2baae6da887);

	if (row->column >= row->hashed)
		return;
	hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
	hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	row->hash = hash ^ hash >> 33;
}

struct typed
typed_begin(struct native_block *block, const struct schema_table *table)
{
	return (struct typed){ .block = block, .hashed = table->hashed };
}

void
typed_put_uint(struct typed *row, uint64_t value)
{
	add(row, value);
	native_put_uint(row->block, row->column, value);
	row->column++;
}

void
typed_put_int(struct typed *row, int64_t value)
{
	add(row, (uint64_t)value);
	native_put_int(row->block, row->column, value);
	row->column++;
}

void
typed_put_text(struct typed *row, struct text value)
{
	if (row->column < row->hashed)
		add(row, typed_hash(value));
	native_put_text(row->block, row->column, value);
	row->column++;
}

char *
typed_hash_sql(const struct schema_table *table)
{
	char *sql = memory_string("toUInt64(0)");

	for (unsigned i = 0; i < table->hashed; i++) {
		const struct schema_column *column = &table->column[i];
		char *inner = sql;

		sql = memory_format("intHash64(bitXor(%s,%s(%s)))", inner,
		    strcmp(column->type, "String") == 0 ? "sipHash64"
							: "toUInt64",
		    column->name);
		free(inner);
	}
	return sql;
}

static char *
names(const struct schema_table *table, unsigned count)
{
	char *sql = NULL;
	size_t bytes;
	FILE *to = memory_stream(&sql, &bytes);

	for (unsigned i = 0; i < count; i++)
		fprintf(to, "%s%s", i > 0 ? ", " : "", table->column[i].name);
	memory_stream_end(&to);
	return sql;
}

char *
typed_identity_sql(const struct schema_table *table)
{
	return names(table, table->hashed);
}

char *
typed_columns_sql(const struct schema_table *table)
{
	return names(table, schema_columns(table));
}
