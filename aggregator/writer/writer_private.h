/*
 * writer_private - the fold's inside, shared by the files that make it up: the
 * thread (writer.c), a step of it (step.c), retention (retention.c), the
 * second derivation of phases (rebuild.c) and sealing (seal.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_WRITER_WRITER_PRIVATE_H
#define AGGREGATOR_WRITER_WRITER_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "aggregator/fold/collect.h"
#include "aggregator/fold/poison.h"
#include "aggregator/fold/write_records.h"
#include "aggregator/tiers/tier.h"
#include "aggregator/writer/seal.h"
#include "aggregator/writer/writer.h"

enum {
	RETAIN_ROWS = 4096, /* removed or looked at by a transaction */
	RETAIN_CHUNK = 16   /* rows that removing a chunk counts for */
};

/* Hours before these go, INT32_MIN: none: samples and their tiers; all. */
enum { RETAIN_ALL = TIERS, RETAIN_CUTS };
struct retain_cuts {
	int32_t before[RETAIN_CUTS];
};

/* Where the removal of old records is. */
struct retain {
	int64_t next_ns; /* monotonic: when to look again */
	struct retain_cuts cuts;
	struct retain_cuts done;   /* those that are through */
	uint32_t partition, shelf; /* rows: next to look at */
	struct key_head at;        /* samples: where the walk is */
	bool rows_done;
	int32_t sealed; /* the oldest hour of samples that was sealed since
			   the last look; INT32_MAX: none */
	unsigned char key[KEY_SEALED_BYTES]; /* phases: go on behind it */
	uint32_t key_bytes;
	struct key_run run; /* runs: go on with it */
	bool phases_done;
};

struct fold {
	char *path;
	struct journal *journal;
	struct journal_walk *walk;
	struct db *db;
	struct fold_options options;
	struct model_set models;
	struct names *names;
	struct gather gather;
	struct store store;
	struct poison poison, seal_poison;
	struct retain retain;
	struct seal seal;
	uint32_t rounds;
	uint64_t moved;   /* FACT_MOVED when last seen */
	uint64_t rebuild; /* FACT_REBUILD, the same way */

	_Atomic uint64_t position;
	_Atomic bool stopping;
	bool running;
	pthread_t thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	bool woken;
	bool changing; /* to these bounds */
	struct fold_options change;
	uint64_t awaited; /* the highest number that somebody waited for */
	bool failed;
	struct err failure;
	struct fold_status status;
	void (*on_failed)(void *arg);
	void *on_failed_arg;
};

/* One transaction: take in what the journal has, at most so much.  DB_OK, and
 * `*more` whether there is more at once; DB_FULL: nothing happened, try again
 * later; DB_BROKEN and the sentence: the fold is at its end. */
enum db_result fold_step(struct fold *fold, bool *more, struct err *err);

/* One bounded transaction of removing what is too old, when it is time;
 * `*more`: there is more to remove at once. */
enum db_result retain_step(struct fold *fold, bool *more, struct err *err);

int retain_find_cuts(
    struct fold *fold, struct retain_cuts *cuts, struct err *err);
/* Its part that walks the states of phases; true when all are through. */
bool retain_phases(struct fold *fold, struct db_txn *txn);
/* The same of runs. */
bool retain_runs(struct fold *fold, struct db_txn *txn);
/* Its part that walks the sealed samples of a partition, some `rows` of them
 * at a time; true when all are through. */
bool retain_samples(struct retain *retain, struct db_txn *txn,
    struct partition_counts *counts, uint32_t *rows);
/* Hours before this go of samples (0) or their tiers.  What goes of all kinds
 * goes of these. */
int32_t retain_cut_of(const struct retain_cuts *cuts, unsigned tier);

/* One bounded transaction of sealing, when it is time; `*more` as above.  What
 * it returns is DB_FULL when there was no room for it. */
enum db_result seal_step(struct fold *fold, bool *more, struct err *err);
int64_t seal_look_ns(const struct fold *fold); /* from one look to the next */
/* Hours whose sealing crashed this version too often stay as they are.  Note
 * one that was found so in the transaction, forget those of other versions,
 * and say how many there are. */
uint64_t seal_skip_open(struct fold *fold, struct db_txn *txn);
bool seal_skips(struct db_txn *txn, const struct key_head *hour);
/* Begin and end work at an hour; `done`: it is sealed. */
void seal_enter(struct fold *fold);
void seal_leave(struct fold *fold, bool done);
/* Everything, now. */
enum db_result seal_all(struct fold *fold, struct err *err);

#endif
