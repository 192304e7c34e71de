/*
 * writer_private - the internals of the writer, shared by its files: the
 * thread (writer.c), indexing (step.c), rebuilding phases (rebuild.c) and
 * compaction (compact.c).
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
#include "aggregator/marks/marks.h"
#include "aggregator/retention/retention.h"
#include "aggregator/writer/compact_pass.h"
#include "aggregator/writer/part_merge.h"
#include "aggregator/writer/writer.h"
#include "proto/os/thread.h"
#include "proto/os/worker.h"

/* What the worker plans, or has planned. */
enum background_work { BACKGROUND_NONE, BACKGROUND_MERGE, BACKGROUND_COMPACT };

struct background {
	struct worker *worker;
	enum background_work work, last;
	int rc; /* of the plan */
	struct err err;
};

/* A pass over the test runs and entities that may rest. */
struct pack {
	bool busy, all;
	int64_t next_ns;   /* monotonic: the next pass */
	int64_t took_ns;   /* of the last pass */
	int64_t rests_ns;  /* entities received before rest */
	uint32_t last_run; /* runs up to this number rest */
	/* The place: partition, model of runs, and table. */
	uint32_t partition;
	unsigned model, table;
	struct packed_pass pass;
};

/* What is asked of the marks of the archive, and what is done. */
struct writer_marks {
	bool is_incomplete; /* marks_all_step has more to do */
	bool is_asked;      /* `asked` is new */
	struct marks_clear asked;
	bool is_unknown; /* which archive it is, until the archiver has seen */
	bool is_noting;  /* `note` is new */
	struct writer_archive note;
	/* Of the writer's thread alone. */
	bool is_clearing;
	struct marks_clear clear;
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
	uint64_t step_most; /* entries of a step; fewer in a full store */
	struct indexer_write indexer_write;
	struct quarantine quarantine, compact_quarantine;
	struct retention retention;
	struct compact compact;
	struct part_merge merge;
	struct pack pack;
	struct background background;
	bool compact_is_damaged; /* a page that it needs; reported */
	uint64_t dropped;        /* FACT_DROPPED when last read */
	uint64_t rebuild; /* FACT_REBUILD: one is due, or was interrupted */

	_Atomic uint64_t position;
	_Atomic bool stopping;
	bool running;
	struct thread thread;
	pthread_mutex_t lock; /* protects all members below */
	pthread_cond_t changed;
	bool woken;
	bool changing; /* `change` has new limits */
	struct writer_options change;
	uint64_t awaited; /* the highest number that a thread waited for */
	bool failed;
	struct writer_marks marks;
	struct writer_status status;
};

/* Index journal entries in one bounded transaction.  DB_OK: `*more` says
 * whether more entries are waiting.  DB_FULL: nothing changed, try again
 * later.  DB_BROKEN, with the error: the writer cannot go on. */
enum db_result writer_step(struct writer *writer, bool *more, struct err *err);

/* ---- compact.c ---- */

/* Is there something to plan? */
bool compact_is_due(struct writer *writer);
/* Plan one bounded transaction of compaction, or search for hours for a while,
 * in any thread. */
int compact_plan(struct writer *writer, struct err *err);
/* Put what is planned, if anything is.  DB_FULL: there was no space for it. */
enum db_result compact_put(struct writer *writer, struct err *err);
/* All three; `*more` as above. */
enum db_result compact_step(struct writer *writer, bool *more, struct err *err);
/* The interval between two searches for hours to compact. */
int64_t compact_search_ns(const struct writer *writer);
/* Hours whose compaction crashed this version too often stay uncompacted.
 * compact_skip_open adds the hour that the quarantine gives up, forgets those
 * of other versions, and returns how many there are. */
uint64_t compact_skip_open(struct writer *writer, struct db_txn *txn);
bool compact_skips(struct db_txn *txn, const struct key_row_block *hour);
/* Begin and end the work on an hour; `done`: it is compacted. */
void compact_enter(struct writer *writer);
void compact_leave(struct writer *writer, bool done);
/* Compact everything now. */
enum db_result compact_all(struct writer *writer, struct err *err);

/* ---- part_merge.c ---- */

/* Is there something to plan? */
bool part_merge_is_due(struct writer *writer);
/* Plan one transaction of a merge of parts, or search for them for a while, in
 * any thread.  `force`: merge whatever has more than one part. */
int part_merge_plan(struct writer *writer, bool force, struct err *err);
/* Put what is planned, if anything is. */
enum db_result part_merge_put(struct writer *writer, struct err *err);
/* All three; `*more` as above. */
enum db_result part_merge_step(
    struct writer *writer, bool *more, struct err *err);
/* Merge everything now. */
enum db_result part_merge_all(struct writer *writer, struct err *err);

/* ---- pack.c ---- */

/* Pack runs and entities that rest, in one bounded transaction, if a pass is
 * due.  `*more`: the pass goes on. */
enum db_result pack_step(struct writer *writer, bool *more, struct err *err);
/* Pack them all now. */
enum db_result pack_all(struct writer *writer, struct err *err);

/* ---- writer_marks.c ---- */

/* Begin to keep marks, if the options say so, and see what is left to do. */
int writer_marks_open(
    struct writer *writer, struct db_txn *txn, struct err *err);
/* Must nothing be deleted, because it may not be in the archive although it has
 * no mark? */
bool writer_marks_hold_all(struct writer *writer);
/* Mark, or remove marks, in one bounded transaction if there is something to
 * do.  `*more`: there is more. */
enum db_result writer_marks_step(
    struct writer *writer, bool *more, struct err *err);

/* ---- background.c ---- */

/* Merging and compaction while the indexer works: a worker plans the next
 * transaction from a snapshot, and the writer's thread puts what is planned. */
void background_open(struct writer *writer);
/* Waits for the plan. */
void background_close(struct writer *writer);
/* Put what is planned, and let the worker plan what is next.  `more`: there are
 * entries to index, so do not wait for the worker.  `*again`: it plans
 * something. */
enum db_result background_step(
    struct writer *writer, bool more, bool *again, struct err *err);

/* ---- rebuild.c ---- */

enum { REBUILD_ROWS = 32 << 10 }; /* per transaction */

/* Rebuild all phases; starts again if a rebuild was interrupted. */
enum db_result rebuild_all(struct writer *writer, struct err *err);

/* Delete the rows of a table that follows from others; until rebuild_end the
 * fact says so. */
enum db_result rebuild_clear(
    struct writer *writer, unsigned table, uint64_t what, struct err *err);
enum db_result rebuild_end(struct writer *writer, struct err *err);

/* Rebuild the rows of test runs from entities, so that runs without events
 * exist too. In bounded transactions of its own. */
enum db_result rebuild_runs(struct writer *writer, struct err *err);

/* ---- sum_again.c ---- */

/* Make statistics of phases those of their events, and of groups of test runs
 * those of the runs: of a store that was made of rows of several moments, and
 * has not all events. */
enum db_result sum_again(struct writer *writer, struct err *err);

#endif
