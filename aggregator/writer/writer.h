/*
 * writer - the only writer of STORE/tables: a thread that indexes the journal
 * (records, entities, phases and their statistics), compacts, and deletes old
 * records.
 *
 * One transaction of the tables contains the records of many batches and the
 * journal number that was reached.  After a crash, therefore, nothing is
 * repeated and nothing is skipped.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_WRITER_WRITER_H
#define AGGREGATOR_WRITER_WRITER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/journal/journal.h"
#include "aggregator/marks/marks.h"
#include "proto/base/err.h"
#include "proto/os/thread.h"

struct writer; /* opaque */

struct writer_options {
	const char *models; /* directory of *.conf; NULL: the models stored in
			       the tables */
	/* Maximum ages; 0: no limit.  Of all records, of compacted samples, of
	 * their rollups of a minute. */
	int64_t retain_ns, retain_raw_ns, retain_1min_ns;
	uint64_t retain_bytes; /* maximum size of the tables; 0: no limit */
	/* 1 + how long nodes are not heard until they count as stopped (1:
	 * never); 0: leave what the store has. */
	uint64_t retire_after;
	uint64_t rejected_bytes; /* bodies of rejected batches stored in a
				    partition; 0: no limit */
	uint64_t map_bytes;      /* 0: default */
	int64_t pause_ns; /* rest between two small transactions, so that a
			     trickle of records does not sync the disk all the
			     time; 0: 100 ms, < 0: none */
	int64_t compact_after_ns; /* compact an hour that has ended and was idle
				     this long; 0: never compact */
	const char *node; /* of this host, whose agents have the same clock;
			     NULL: every node has a clock of its own */
	bool allow_network;
	bool archive;      /* the store gets an archive, if it has none: from
			      now on it keeps marks (archive/marks.h) */
	bool will_rebuild; /* the caller calls writer_rebuild next: do not
			      advise it */
};

/* Open STORE/tables (create it if missing) and read the models; the error of a
 * model is "FILE:LINE: what".  `store` and `journal` must outlive the writer.
 */
int writer_open(struct writer **writer, const char *store,
    struct journal *journal, const struct writer_options *options,
    struct err *err);
/* Change the limits (retain_*, rejected_bytes) from the next round on.
 * Deleted records stay deleted.  From any thread. */
void writer_change(struct writer *writer, const struct writer_options *options);
/* Stops the thread first. */
void writer_close(struct writer **writer);

/* The tables, for reader_open_shared: LMDB allows one handle per process. */
struct db *writer_db(struct writer *writer);

/* Begin to follow the journal.  `watcher` (may be NULL) hears of the end of its
 * thread when it cannot go on: end the process, the state on disk is good. */
int writer_start(struct writer *writer, const struct thread_watcher *watcher,
    struct err *err);
/* Returns when the thread has ended.  Its last transaction is committed or
 * not; both are valid.  Does nothing if the thread is not running. */
void writer_stop(struct writer *writer);

/* Announce new journal entries, after each commit of the journal.  Cheap; from
 * any thread. */
void writer_wake(struct writer *writer);

/* The last journal number that is durably in the tables; entries up to it may
 * be purged.  From any thread. */
uint64_t writer_position(const struct writer *writer);

/* Wait at most `ns` until `number` is in the tables, so that a query after an
 * acknowledgement returns the acknowledged records.  False: it is not there
 * yet (timeout, no space, or the writer has ended).  From any thread but its
 * own. */
bool writer_await(struct writer *writer, uint64_t number, int64_t ns);

/* ---- marks: what the archive lacks; from any thread ---- */

/* Is all marked that was in the store when it got its archive?  The writer does
 * that between its steps. */
bool writer_marks_are_complete(const struct writer *writer);
/* Remove marks (marks.h), between the steps of the writer; its position is all
 * zeros.  Replaces an earlier request, but no more of it is kept. */
void writer_clear_marks(struct writer *writer, const struct marks_clear *clear);

/* Delete nothing until writer_note_archive says which archive it is. */
void writer_await_archive(struct writer *writer);
/* What a store notes of its archive. */
struct writer_archive {
	uint64_t id;     /* archive_id.h */
	uint64_t change; /* it may have a commit of this one */
	bool is_new; /* it is another archive than before: mark everything */
	/* Rows are sent again: a change of its own, so that no pass of before
	 * has their position. */
	bool is_again;
	uint64_t claimant; /* archive/owners.h */
	uint32_t claim;
};
/* Returns when the writer has noted it durably.  -1: it has not, within some
 * seconds or until `stop` is set. */
int writer_note_archive(struct writer *writer,
    const struct writer_archive *archive, const atomic_bool *stop,
    struct err *err);

enum { WRITER_WHY_BYTES = 256 };

struct writer_status {
	uint64_t position; /* as writer_position */
	uint64_t records;  /* indexed since writer_open */
	uint64_t batches;
	uint64_t commits;
	/* Duration of the last transaction, with its work. */
	uint64_t commit_ns;
	uint64_t overflow;  /* events beyond the limit of a phase or run */
	uint64_t no_run_id; /* events that do not name their run */
	uint64_t phase_names_over; /* see collect.h */
	uint64_t repeated;         /* records that were kept before */
	uint64_t groups_refused;   /* definitions of metric groups */
	uint64_t names_over;       /* names beyond the limit of a partition */
	uint64_t entities_over; /* new entities beyond the limit of a partition,
				   not stored */
	uint64_t rejected;      /* rejected batches */
	uint64_t rejected_cut;  /* rejected batches stored only in part */
	uint64_t quarantined;   /* batches given up after three crashes */
	uint64_t uncompacted; /* hours whose compaction was given up after three
				 crashes */
	uint64_t damaged;     /* unreadable journal entries */
	uint64_t retained_ns; /* records before this time were deleted */
	bool clock_in_doubt;  /* retention/store_clock.h */
	/* What is to be deleted by age is not, because of that. */
	bool retention_stopped;
	/* Hours that the last deletion by age or size left, because the archive
	 * lacks records of them. */
	uint64_t retention_held;
	int64_t clock_lead_ns; /* of the clock over the time in the store */
	bool full;             /* waiting for space in the map or on the disk */
	char full_why[WRITER_WHY_BYTES]; /* which limit was met */
	bool is_damaged; /* a page is, so some work waits for ever */
	bool no_models;  /* only phases without a model are derived */
};
void writer_status(const struct writer *writer, struct writer_status *status);

/* Index the journal in the caller's thread and return; for tools and tests
 * that did not call writer_start. */
int writer_run(struct writer *writer, struct err *err);

/* Derive phases and statistics again from the stored events, with the current
 * models. Only if writer_start was not called. */
int writer_rebuild(struct writer *writer, struct err *err);

/* Compact everything now.  Only if writer_start was not called. */
int writer_compact(struct writer *writer, struct err *err);

#endif
