/*
 * tables - STORE/tables: which tables there are, and the small facts.
 *
 * The bytes are proto/store.md, "Tables".
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TABLES_TABLES_H
#define AGGREGATOR_TABLES_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/model/model.h"
#include "proto/record/record.h"

enum {
	TABLES_NAMES,
	TABLES_ROW_BLOCKS,
	TABLES_ENTITIES,
	TABLES_PHASES,
	TABLES_STATS,
	TABLES_META,
	TABLES_SORT, /* empty but while phases are derived again */
	TABLES_CHUNKS,
	TABLES_ROLLUPS, /* the first of three */
	TABLES_ROLLUPS_END = TABLES_ROLLUPS + 2,
	TABLES_RUNS,
	TABLES_GROUPS,
	TABLES_COUNT
};
/* Where the rows of a rollup (1 to 3) are. */
static inline unsigned
tables_rollup(unsigned rollup)
{
	return TABLES_ROLLUPS + rollup - 1;
}
extern const char *const tables_names[TABLES_COUNT + 1];

/* Opens STORE/tables; makes it when it is not there and `options` does not
 * say read-only.  The names of tables and the format are filled in here. */
int tables_open(struct db **db, const char *store, struct db_options *options,
    struct err *err);

/* Facts of the store, by name. */
#define FACT_INDEXED   "folded"  /* the last journal number that is in here */
#define FACT_ROW       "row"     /* the last row number given to a head */
#define FACT_RECORDS   "records" /* that went into heads, ever */
#define FACT_COMPACTED "sealed"  /* the last number given to a compacted run */
#define FACT_MODELS    "models"  /* hash of the models that phases are of */
/* 1: phases are being derived again; 1 + the number of a partition: its own */
#define FACT_REBUILD  "rebuild"
#define FACT_MOVED    "moved"    /* how often partitions came or went */
#define FACT_RETAINED "retained" /* records before this hour were removed */
/* 0 when it was never put.  A writer fails with a damaged one: going on from 0
 * it would take in what is here already. */
#define FACT_CUT "cut" /* and the digit of a rollup: tables_cut */
uint64_t tables_fact(struct db_txn *txn, const char *name);
void tables_put_fact(struct db_txn *txn, const char *name, uint64_t value);

/* Samples (0) or their buckets of a rollup (1 to 3) before this hour were
 * removed; INT32_MIN: none. */
int32_t tables_cut(struct db_txn *txn, unsigned rollup);
void tables_put_cut(struct db_txn *txn, unsigned rollup, int32_t hour);

/* What a partition holds; rows "partition" + number of meta. */
struct partition_counts {
	uint64_t records[RECORD_KINDS]; /* in heads and entities, by kind */
	uint64_t nodes;                 /* ever seen */
	int64_t first_ns, last_ns;      /* of what is in heads */
	uint64_t rejected_bytes;        /* of dead letters' bodies, kept */
	uint64_t
	    rejected_cut; /* dead letters, ever, of which not all was kept */
};
/* Zeros, and first > last, when there are none. */
void tables_get_counts(
    struct db_txn *txn, uint32_t partition, struct partition_counts *counts);
void tables_put_counts(struct db_txn *txn, uint32_t partition,
    const struct partition_counts *counts);

void tables_delete_counts(struct db_txn *txn, uint32_t partition);

/* The phases that the store's states are of, so that a reader needs no model
 * file.  Replaces the ones that are there. */
void tables_put_models(struct db_txn *txn, const struct model_set *set);
/* Copies into `set`, in byte order of their ids. */
void tables_get_models(struct db_txn *txn, struct model_set *set);

/* Delete all rows of a table whose key begins with `prefix`, damaged or not, at
 * most `limit`; returns how many. */
uint64_t tables_delete(
    struct db_txn *txn, unsigned table, struct text prefix, uint64_t limit);

#endif
