/*
 * fetch - rows of the archive, from one replica of each shard.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_READ_FETCH_H
#define AGGREGATOR_ARCHIVE_READ_FETCH_H

#include "aggregator/archive/read/answers.h"
#include "aggregator/archive/rows/column_records.h"
#include "aggregator/archive/schema/schema.h"
#include "proto/clickhouse/client.h"
#include "proto/clickhouse/native_read.h"

/* What the answer is made of: only replicas that have all of it are asked. */
struct fetch_must {
	enum schema_number table;
	uint64_t part;
	int32_t hour; /* of facts; else 0 */
};
/* 1: a replica of a shard has it; 0: it has only `found` rows; -1: it does not
 * answer. */
typedef int fetch_has(void *arg, const struct fetch_must *must, unsigned shard,
    unsigned replica, uint64_t *found, struct err *err);

struct fetch {
	struct clickhouse *client;
	fetch_has *has;
	void *has_arg;
	const struct fetch_must *must; /* NULL: whatever they have */
	struct answers *answers;       /* NULL: none are kept */
	uint64_t version; /* of the partition that is asked about; 0: of none */
	/* NULL: it is an error if all replicas lack rows.  Otherwise the one
	 * that has most is asked, and the first lack of a table reported. */
	void (*on_lack)(const char *sentence);
	bool is_reported[SCHEMA_TYPED];
	/* By shard: the replica that is asked first. */
	unsigned first[CLICKHOUSE_SHARDS_MAX];
	/* The present row, read column by column. */
	struct native_reader *reader;
	uint32_t row;
	unsigned column;
	struct text keys[RECORD_ATTRIBUTES_MAX], texts[RECORD_ATTRIBUTES_MAX];
	double numbers[RECORD_VALUES_MAX];
	uint64_t big[RECORD_VALUES_MAX];
};

/* How long to wait for somebody else who asks the same. */
#define FETCH_WAIT_NS (60 * NS_PER_SECOND)

typedef int fetch_row(void *arg, struct fetch *row, struct err *err);

/* Call `call` with each row of the answers of all shards to a statement; in no
 * order, and some rows may come twice. */
int fetch_all(struct fetch *fetch, const struct native_column *columns,
    unsigned count, const char *sql, fetch_row *call, void *arg,
    struct err *err);
/* The same of all replicas that answer: what one of them has counts. */
int fetch_each(struct fetch *fetch, const struct native_column *columns,
    unsigned count, const char *sql, fetch_row *call, void *arg,
    struct err *err);
/* As fetch_all, of the shard of what a partition has that belongs to no node.
 */
int fetch_home(struct fetch *fetch, enum schema_number table, uint64_t part,
    const struct native_column *columns, unsigned count, const char *sql,
    fetch_row *call, void *arg, struct err *err);
/* All columns of a typed table; `where` is an expression. */
int fetch_typed(struct fetch *fetch, const struct schema_table *table,
    const char *where, fetch_row *call, void *arg, struct err *err);

/* Rows of a table are lacking.  False: an error. */
bool fetch_may_lack(
    struct fetch *fetch, enum schema_number table, const struct err *why);

/* The next column of the row. */
uint64_t fetch_uint(struct fetch *row);
int64_t fetch_int(struct fetch *row);
struct text fetch_text(struct fetch *row);
/* keys, types and vals.  False: more than a record has. */
bool fetch_attributes(struct fetch *row, struct archive_row *to);
/* All columns of a record.  False: more than one has. */
bool fetch_record(
    struct fetch *row, enum record_kind kind, struct archive_row *to);

#endif
