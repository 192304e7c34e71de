/*
 * tables - STORE/tables: the list of tables, and facts about the store.
 *
 * proto/store.md, "Tables", describes the bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TABLES_TABLES_H
#define AGGREGATOR_TABLES_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/model/model.h"
#include "aggregator/packed/packed.h"
#include "proto/record/record.h"

enum {
	TABLES_NAMES,
	TABLES_ROW_BLOCKS,
	TABLES_ENTITIES,
	TABLES_PHASES,
	TABLES_STATS,
	TABLES_META,
	TABLES_SORT, /* empty except while phases are rebuilt */
	TABLES_CHUNKS,
	TABLES_ROLLUPS, /* the first of two */
	TABLES_ROLLUPS_END = TABLES_ROLLUPS + 1,
	TABLES_RUNS,
	TABLES_RUN_TIMES, /* the index of runs by time */
	TABLES_GROUPS,
	TABLES_ONCE, /* records that are kept once */
	/* What of these rests. */
	TABLES_ENTITY_BLOCKS,
	TABLES_RUN_BLOCKS,
	TABLES_NAME_BLOCKS,
	TABLES_TIME_BLOCKS,
	TABLES_STREAMS, /* how far each one is indexed; with an archive */
	TABLES_MARKS,   /* what the archive lacks: archive/marks.h */
	TABLES_COUNT
};
/* The table of a rollup (1 or 2). */
static inline unsigned
tables_rollup(unsigned rollup)
{
	return TABLES_ROLLUPS + rollup - 1;
}
extern const char *const tables_names[TABLES_COUNT + 1];

/* What may rest of these is read and written by packed.h alone: all runs and
 * their times, the entities that describe them, and the names that are their
 * ids.  Fronts are
 * partition and model or kind, and what the row is and the partition. */
static const struct packed_table tables_entities = { TABLES_ENTITIES,
	TABLES_ENTITY_BLOCKS, 8 };
static const struct packed_table tables_runs = { TABLES_RUNS, TABLES_RUN_BLOCKS,
	8 };
static const struct packed_table tables_run_times = { TABLES_RUN_TIMES,
	TABLES_TIME_BLOCKS, 8 };
static const struct packed_table tables_run_names = { TABLES_NAMES,
	TABLES_NAME_BLOCKS, 5 };

/* Open STORE/tables; create it if it does not exist and `options` allows
 * writing. This function fills in the names of the tables and the format of
 * `options`. */
int tables_open(struct db **db, const char *store, struct db_options *options,
    struct err *err);

/* Which rows of a table are marked when they change (db.h), in a store that has
 * an archive. */
const struct db_marked *tables_marked(unsigned table);

/* Facts about the store, by name. */
#define FACT_INDEXED   "indexed"   /* the last journal entry in the tables */
#define FACT_ROW       "row"       /* the last row number of a row block */
#define FACT_RECORDS   "records"   /* records ever written to row blocks */
#define FACT_COMPACTED "compacted" /* the last number of a compacted slice */
#define FACT_MODELS    "models"    /* hash of those that phases come from */
#define FACT_REBUILD   "rebuild"   /* what is derived again; 0: nothing */
#define FACT_DROPPED                                                           \
	"dropped"                /* how often rows of a partition were dropped \
				  */
#define FACT_RETAINED "retained" /* records before this hour were deleted */
#define FACT_CUT      "cut"      /* and the digit of a rollup: tables_cut */
/* 1 + for how many ns a node is not heard until it counts as stopped. */
#define FACT_RETIRE_AFTER "retire_after"
/* The time when the tables were last written, as far as the clock is trusted,
 * and whether it was confirmed: retention/store_clock.h */
#define FACT_CLOCK           "clock"
#define FACT_CLOCK_CONFIRMED "clock_confirmed"

/* Values of FACT_REBUILD: phases and test runs from the events, or statistics
 * from phases and test runs, where events were deleted. */
enum { REBUILD_EVENTS = 1, REBUILD_SUMS = 2 };

/* Of a store with an archive, which marks its changes (archive/marks.h): 1 +
 * the last journal number when it got it; the last change number; what is
 * marked so far of all that was there. */
#define FACT_ARCHIVE "archive"
#define FACT_CHANGE  "change"
#define FACT_MARKING "marking"
/* Which archive it is (archive/schema/archive_id.h), up to which change it may
 * have a commit, and up to which it has had one, so that marks were removed. */
#define FACT_ARCHIVE_ID "archive_id"
#define FACT_ARCHIVED   "archived"
#define FACT_CLEARED    "cleared"
/* The random number of its last claim on the archive, noted before, and the
 * number of the last claim that it knows (archive/owners.h). */
#define FACT_CLAIMANT "claimant"
#define FACT_CLAIM    "claim"
/* Up to where the archive counted when the store was made of it. */
#define FACT_ORIGIN "origin"

/* Returns 0 if the fact was never set.  If the fact is damaged, a write
 * transaction fails: restarting from 0 would index the journal a second time.
 */
uint64_t tables_fact(struct db_txn *txn, const char *name);
void tables_put_fact(struct db_txn *txn, const char *name, uint64_t value);

/* Samples (0) or the buckets of a rollup (1 or 2) before this hour were
 * deleted; INT32_MIN: none were. */
int32_t tables_cut(struct db_txn *txn, unsigned rollup);
void tables_put_cut(struct db_txn *txn, unsigned rollup, int32_t hour);

/* What is stored of a partition; in table meta under "partition" and its
 * number. */
struct partition_counts {
	uint64_t records[RECORD_KINDS]; /* stored records, by kind */
	uint64_t nodes;                 /* nodes ever seen */
	int64_t first_ns, last_ns;      /* of the stored records */
	/* Records that retention has deleted and the archive has; first_ns with
	 * those, not after it. */
	uint64_t archived[RECORD_KINDS];
	int64_t oldest_ns;
	uint64_t rejected_bytes; /* stored bodies of rejected batches */
	uint64_t rejected_cut;   /* rejected batches stored only in part */
	uint64_t last_entry; /* the last journal entry with a record or a bye of
				it that is indexed; 0: none */
};
/* Of a key of TABLES_META: the partition whose counts it has, 0: another fact.
 * False: it is malformed. */
bool tables_is_counts_key(struct text key, uint32_t *partition);
struct text tables_counts_key(
    unsigned char to[static DB_KEY_BYTES_MAX], uint32_t partition);
enum { TABLES_COUNTS_BYTES = 10 * (2 * RECORD_KINDS + 7) };
struct text tables_encode_counts(unsigned char to[static TABLES_COUNTS_BYTES],
    const struct partition_counts *counts);
/* All zeros, and first_ns > last_ns, when nothing is stored. */
void tables_get_counts(
    struct db_txn *txn, uint32_t partition, struct partition_counts *counts);
void tables_put_counts(struct db_txn *txn, uint32_t partition,
    const struct partition_counts *counts);

void tables_delete_counts(struct db_txn *txn, uint32_t partition);

/* Replace the stored models, so that readers need no model files and use the
 * models that the states were derived with. */
void tables_put_models(struct db_txn *txn, const struct model_set *set);
/* Copy the stored models into `set`, in the byte order of their ids. */
void tables_get_models(struct db_txn *txn, struct model_set *set);

/* Delete at most `limit` rows whose key begins with `prefix`, damaged or not;
 * returns their number. */
uint64_t tables_delete(
    struct db_txn *txn, unsigned table, struct text prefix, uint64_t limit);

#endif
