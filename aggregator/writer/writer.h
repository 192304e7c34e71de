/*
 * writer - carries the journal's records into the tables, in a thread of its
 * own: heads, entities, phases and their statistics.
 *
 * One transaction of the tables holds what many batches brought and the
 * journal number that was reached, so a crash repeats nothing and skips
 * nothing.  The indexer is the only writer of STORE/tables.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_WRITER_WRITER_H
#define AGGREGATOR_WRITER_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/journal/journal.h"
#include "proto/base/err.h"
#include "proto/os/thread.h"

struct writer; /* opaque */

struct writer_options {
	const char *models;          /* directory of *.conf; NULL: what the
					store has been indexed with so far */
	int64_t retain_ns;           /* by age; 0: for ever */
	int64_t retain_rollup_ns[4]; /* by age: compacted samples, their buckets
				      of 10 s, 1 min, 10 min; 0: as all */
	uint64_t retain_bytes;       /* by size of the tables; 0: no bound */
	uint64_t rejected_bytes;     /* of dead letters, in a partition, whose
				    bodies are kept; 0: no bound */
	uint64_t map_bytes;          /* 0: default */
	int64_t pause_ns; /* rest between two small transactions, so that
			     a trickle does not sync the disk all the time;
			     0: 100 ms, < 0: none */
	int64_t compact_after_ns; /* compact hours that are over and rest for so
				  long; 0: do not compact */
	bool allow_network;
};

/* Opens (makes) STORE/tables, reads the models ("FILE:LINE: what" when one is
 * wrong).  `store` and `journal` must outlive the indexer. */
int writer_open(struct writer **writer, const char *store,
    struct journal *journal, const struct writer_options *options,
    struct err *err);
/* Other bounds (retain_*, rejected_bytes) from now on, taken over by the
 * indexer's next round. What is gone stays gone.  From any thread. */
void writer_change(struct writer *writer, const struct writer_options *options);
/* Stops the thread too. */
void writer_close(struct writer **writer);

/* The tables, for reader_open_shared: LMDB allows one handle a process. */
struct db *writer_db(struct writer *writer);

/* Begin to follow the journal.  `watcher` (may be NULL) hears of the end of its
 * thread when it cannot go on: end the process, the state on disk is good. */
int writer_start(struct writer *writer, const struct thread_watcher *watcher,
    struct err *err);
/* Returns when the thread has ended; what it had begun is committed or not,
 * both are good.  Nothing happens when it does not run. */
void writer_stop(struct writer *writer);

/* There are new entries in the journal.  Cheap; from any thread, after each
 * commit of the journal. */
void writer_wake(struct writer *writer);

/* The last journal number that is in the tables, durably; entries up to here
 * may be purged.  From any thread. */
uint64_t writer_position(const struct writer *writer);

/* Wait, at most `ns`, until `number` is in the tables, so that who asks after
 * an acknowledgement sees what was acknowledged.  False: it is not there yet
 * (time is over, no room, the indexer has ended).  From any thread but its own.
 */
bool writer_await(struct writer *writer, uint64_t number, int64_t ns);

struct writer_status {
	uint64_t position; /* as writer_position */
	uint64_t records;  /* taken in since writer_open */
	uint64_t batches;
	uint64_t commits;
	uint64_t commit_ns;  /* of the last one, all of it */
	uint64_t late;       /* events older than a phase's compacted part */
	uint64_t overflow;   /* events beyond what an open phase may hold */
	uint64_t no_run_id;  /* events that did not say which run they are of */
	uint64_t names_over; /* names beyond the limit of a partition */
	uint64_t entities_over; /* new entities beyond theirs: not kept */
	uint64_t dead;          /* dead letters taken in */
	uint64_t rejected_cut;  /* of which not all was kept */
	uint64_t quarantined;   /* batches given up after three crashes */
	uint64_t uncompacted;   /* hours of which sealing was, the same way */
	uint64_t damaged;       /* journal entries that could not be read */
	uint64_t retained_ns;   /* records before this time were removed */
	bool full;              /* waits for room: map or disk */
};
void writer_status(const struct writer *writer, struct writer_status *status);

/* Fold what is in the journal now, in the caller's thread, and return; for
 * tools and tests, when writer_start was not called. */
int writer_run(struct writer *writer, struct err *err);

/* Derive phases and statistics again from the stored events, with the models
 * that are there now; when writer_start was not called. */
int writer_rebuild(struct writer *writer, struct err *err);

/* Seal everything that there is, now; when writer_start was not called. */
int writer_compact(struct writer *writer, struct err *err);

/* Walk every row of the tables: checksums, decoding, counts, and statistics
 * against the phases they stand for.  Returns how many things are wrong, each
 * said to `report` (may be NULL), or -1 when the walk itself failed. */
int64_t tables_verify(struct db *tables,
    void (*report)(void *arg, const char *sentence), void *arg,
    struct err *err);

#endif
