/*
 * writer_private - the indexer's inside, shared by the files that make it up:
 * the thread (writer.c), a step of it (step.c), retention (retention.c), the
 * second derivation of phases (rebuild.c) and sealing (compact.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_WRITER_WRITER_PRIVATE_H
#define AGGREGATOR_WRITER_WRITER_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "aggregator/indexer/collect.h"
#include "aggregator/indexer/quarantine.h"
#include "aggregator/indexer/write_records.h"
#include "aggregator/rollup/rollup.h"
#include "aggregator/writer/compact.h"
#include "aggregator/writer/writer.h"
#include "proto/os/thread.h"

enum {
	RETENTION_ROWS = 4096, /* removed or looked at by a transaction */
	RETENTION_CHUNK = 16   /* rows that removing a chunk counts for */
};

/* Hours before these go, INT32_MIN: none: samples and their rollups; all. */
enum { RETENTION_ALL = ROLLUPS, RETENTION_CUTS };
struct retention_cuts {
	int32_t before[RETENTION_CUTS];
};

/* Where the removal of old records is. */
struct retention {
	int64_t next_ns; /* monotonic: when to look again */
	struct retention_cuts cuts;
	struct retention_cuts done;     /* those that are through */
	uint32_t partition, data_class; /* rows: next to look at */
	struct key_row_block at;        /* samples: where the walk is */
	bool rows_done;
	int32_t compacted; /* the oldest hour of samples that was compacted
			   since the last look; INT32_MAX: none */
	unsigned char key[KEY_COMPACTED_BYTES]; /* phases: go on behind it */
	uint32_t key_bytes;
	struct key_run run; /* runs: go on with it */
	bool phases_done;
};

struct writer {
	char *path;
	struct journal *journal;
	struct journal_walk *walk;
	struct db *db;
	struct writer_options options;
	struct model_set models;
	struct dictionary *dictionary;
	struct collect collect;
	struct indexer_write indexer_write;
	struct quarantine quarantine, compact_quarantine;
	struct retention retention;
	struct compact compact;
	uint32_t rounds;
	uint64_t moved;   /* FACT_MOVED when last seen */
	uint64_t rebuild; /* FACT_REBUILD, the same way */

	_Atomic uint64_t position;
	_Atomic bool stopping;
	bool running;
	struct thread thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	bool woken;
	bool changing; /* to these bounds */
	struct writer_options change;
	uint64_t awaited; /* the highest number that somebody waited for */
	bool failed;
	struct writer_status status;
};

/* One transaction: take in what the journal has, at most so much.  DB_OK, and
 * `*more` whether there is more at once; DB_FULL: nothing happened, try again
 * later; DB_BROKEN and the sentence: the indexer is at its end. */
enum db_result writer_step(struct writer *writer, bool *more, struct err *err);

/* One bounded transaction of removing what is too old, when it is time;
 * `*more`: there is more to remove at once. */
enum db_result retention_step(
    struct writer *writer, bool *more, struct err *err);

int retention_find_cuts(
    struct writer *writer, struct retention_cuts *cuts, struct err *err);
/* Its part that walks the states of phases; true when all are through. */
bool retention_phases(struct writer *writer, struct db_txn *txn);
/* The same of runs. */
bool retention_runs(struct writer *writer, struct db_txn *txn);
/* Its part that walks the compacted samples of a partition, some `rows` of them
 * at a time; true when all are through. */
bool retention_samples(struct retention *retention, struct db_txn *txn,
    struct partition_counts *counts, uint32_t *rows);
/* Hours before this go of samples (0) or their rollups.  What goes of all kinds
 * goes of these. */
int32_t retention_cut_of(const struct retention_cuts *cuts, unsigned rollup);

/* One bounded transaction of sealing, when it is time; `*more` as above.  What
 * it returns is DB_FULL when there was no room for it. */
enum db_result compact_step(struct writer *writer, bool *more, struct err *err);
int64_t compact_look_ns(
    const struct writer *writer); /* from one look to the next */
/* Hours whose sealing crashed this version too often stay as they are.  Note
 * one that was found so in the transaction, forget those of other versions,
 * and say how many there are. */
uint64_t compact_skip_open(struct writer *writer, struct db_txn *txn);
bool compact_skips(struct db_txn *txn, const struct key_row_block *hour);
/* Begin and end work at an hour; `done`: it is compacted. */
void compact_enter(struct writer *writer);
void compact_leave(struct writer *writer, bool done);
/* Everything, now. */
enum db_result compact_all(struct writer *writer, struct err *err);

#endif
