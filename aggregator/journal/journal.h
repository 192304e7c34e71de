/*
 * journal - the durable, ordered list of batches as received.
 *
 * One LMDB environment, STORE/journal: entries by number, the state of every
 * stream, and nothing else.  A batch and the new state of its stream go into
 * one transaction; the acknowledgement leaves after its commit.  Written by
 * the intake thread only; the indexer reads it with transactions of its own.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_JOURNAL_JOURNAL_H
#define AGGREGATOR_JOURNAL_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "proto/wire/wire.h"

enum {
	JOURNAL_ENTRIES, /* u64 number, big-endian -> struct journal_entry */
	JOURNAL_STREAMS, /* session (16), partition -> state */
	JOURNAL_META,    /* format, generation */
	JOURNAL_TABLES
};
enum { STORE_FORMAT = 3 };

/* An entry as the indexer sees it: what was received, and when. */
struct journal_entry {
	uint64_t number;
	struct wire_header header; /* type batch or gap; views into the map */
	bool dead;                 /* did not pass the check: a dead letter */
	enum wire_fault fault;     /* why */
	int64_t receive_ns;
	struct text body; /* as received, maybe compressed */
};

struct journal; /* opaque */

struct journal_options {
	uint64_t map_bytes;
	bool read_only;
	bool allow_network;
	bool keep_map; /* db/db.h */
};

/* `dir` is STORE; makes STORE/journal when it is not there (not read_only). */
int journal_open(struct journal **journal, const char *dir,
    const struct journal_options *options, struct err *err);
void journal_close(struct journal **journal);
struct db *journal_db(struct journal *journal);

/* Random, made with the store; a restored store gets a new one. */
uint64_t journal_generation(const struct journal *journal);
/* Give it another one: this copy goes its own way. */
int journal_renew(struct journal *journal, struct err *err);

/* ---- reading, from any thread (own transactions) ---- */

/* Walks entries in a snapshot that journal_walk_seek takes. */
struct journal_walk; /* opaque */
int journal_walk_open(
    struct journal *journal, struct journal_walk **walk, struct err *err);
void journal_walk_close(struct journal_walk **walk);
/* Take a fresh snapshot positioned at the first entry >= number.  -1: it could
 * not be taken, or not be read there. */
int journal_walk_seek(
    struct journal_walk *walk, uint64_t number, struct err *err);
/* 1 and the next entry (views valid until seek, park or close), 0 at the end
 * of the snapshot, -1 on damage: what could not be read is skipped and counted,
 * the next call goes on behind it.  The seq of a gap is the first number of it
 * that was not kept before. */
int journal_walk_next(struct journal_walk *walk, struct journal_entry *entry);
/* Of the snapshot: number of the first entry and of the next one; without any
 * both are 1.  False: they could not be read. */
bool journal_walk_ends(
    struct journal_walk *walk, uint64_t *first, uint64_t *next);
/* How many entries it came by that could not be read. */
uint64_t journal_walk_damaged(const struct journal_walk *walk);
/* Give the snapshot back, keep the handle: nobody holds one while waiting. */
void journal_walk_park(struct journal_walk *walk);

/* A record of our own about an entry; what was lost, of an entry that is a gap:
 * views into the entry. */
struct record journal_about(
    const struct journal_entry *entry, enum record_kind kind, const char *name);
struct record journal_gap(const struct journal_entry *entry);

/* ---- writing, one thread ---- */

enum { JOURNAL_RING = 32 };

/* What is kept of a stream.  Ring: the chain after each of the last numbers,
 * that of number n at n % JOURNAL_RING; 0: not known. */
struct journal_stream {
	uint64_t hwm;              /* all numbers up to here are kept */
	uint64_t run;              /* the newest that was seen */
	int64_t first_ns, last_ns; /* when its first and last entry came */
	struct text node;          /* of the last; a view when got */
	uint64_t ring[JOURNAL_RING];
	/* The store that was restored over had all up to here, and this chain
	 * there (0: not known); <= hwm: no more than this one
	 * (ingest/restore_gaps.h). */
	uint64_t missing, missing_chain;
	/* What was kept behind this number did not show that it is of the same
	 * life of the spool as what was before: the chains behind it say
	 * nothing of the numbers up to here.  0: there is no such boundary. */
	uint64_t boundary;
};

/* The chain after `seq`; 0 when it is not known (any more). */
uint64_t journal_chain(const struct journal_stream *stream, uint64_t seq);

enum journal_found {
	JOURNAL_FOUND,
	JOURNAL_ABSENT,
	JOURNAL_DAMAGED /* its row is there and cannot be read: take nothing */
};

/* One transaction at a time; nothing of it counts before its commit.  Without
 * a put or an append a commit costs no sync. */
int journal_begin(struct journal *journal, struct err *err);
enum db_result journal_commit(struct journal *journal, struct err *err);
void journal_abort(struct journal *journal);

/* `stream->node` is a view, valid until the next put or append. */
enum journal_found journal_stream_get(struct journal *journal,
    const struct session_id *session, struct text partition,
    struct journal_stream *stream);
void journal_stream_put(struct journal *journal,
    const struct session_id *session, struct text partition,
    const struct journal_stream *stream);

/* The transaction that is open, for who keeps rows of his own in it (owner.h).
 */
struct db_txn *journal_txn(struct journal *journal);

/* A stream's row as it lies in the table; false when it is none. */
bool journal_stream_decode(struct text value, struct journal_stream *stream);

/* What comes with a frame that is kept. */
struct journal_note {
	uint64_t seq; /* its first number that was not kept before */
	int64_t receive_ns;
	bool dead;
	enum wire_fault fault;
};
/* Append a frame (batch or gap) as received. */
void journal_append(struct journal *journal, struct text frame,
    const struct journal_note *note);

/* Remove up to `entries` from the front that are numbered `upto` or less and
 * came before `before_ns`, or are more than `bytes_max` from the end; the last
 * entry stays.  Returns how many. */
uint32_t journal_purge(struct journal *journal, uint64_t upto,
    int64_t before_ns, uint64_t bytes_max, uint32_t entries);

/* Commit a transaction that changes nothing.  LMDB gives the pages that a
 * transaction freed to the one after the next, and in a full journal there
 * would never be a next one. */
enum db_result journal_turn(struct journal *journal, struct err *err);

/* Of the committed state: number of the first entry (0: none) and of the
 * next; bytes of the entries behind `number`. */
uint64_t journal_first(const struct journal *journal);
uint64_t journal_next(const struct journal *journal);
uint64_t journal_bytes_behind(struct journal *journal, uint64_t number);

#endif
