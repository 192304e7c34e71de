/*
 * journal - the durable, ordered list of batches as received.
 *
 * One LMDB environment, STORE/journal: entries by number, the state of every
 * stream, and a table with the format and the generation.  One transaction
 * stores a batch and the new state of its stream; the acknowledgement is sent
 * after its commit.  Only the ingest thread writes; other threads read with
 * transactions of their own.
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
	JOURNAL_HASHES,  /* session, partition, u64 block -> hashes */
	JOURNAL_META,    /* format, generation */
	JOURNAL_TABLES
};
enum { STORE_FORMAT = 10 };

/* An entry as readers get it: a message and the time of its arrival. */
struct journal_entry {
	uint64_t number;
	/* Type batch, gap or bye; views into the map. */
	struct wire_header header;
	bool rejected;         /* failed validation: a rejected batch */
	enum wire_fault fault; /* the reason */
	int64_t receive_ns;
	uint64_t owner;   /* of its stream */
	struct text body; /* as received, possibly compressed */
};

struct journal; /* opaque */

struct journal_options {
	uint64_t map_bytes;
	bool read_only;
	bool allow_network;
	bool keep_map;  /* another process may serve the store */
	bool temporary; /* its files need not survive, nor have names */
};

/* `dir` is STORE; creates STORE/journal if it does not exist (not
 * read_only). */
int journal_open(struct journal **journal, const char *dir,
    const struct journal_options *options, struct err *err);
void journal_close(struct journal **journal);
struct db *journal_db(struct journal *journal);

/* Random, created with the store; a restored store gets a new one. */
uint64_t journal_generation(const struct journal *journal);
/* Give the store, which is a copy, a new generation. */
int journal_renew(struct journal *journal, struct err *err);

/* ---- reading: any thread, own transactions ---- */

/* Reads entries in order, in the snapshot of journal_walk_seek. */
struct journal_walk; /* opaque */
int journal_walk_open(
    struct journal *journal, struct journal_walk **walk, struct err *err);
void journal_walk_close(struct journal_walk **walk);
/* Take a new snapshot, positioned at the first entry >= number.  -1: taking
 * the snapshot or reading the entry failed. */
int journal_walk_seek(
    struct journal_walk *walk, uint64_t number, struct err *err);
/* 1 and the next entry (views valid until seek, park or close); 0 at the end of
 * the snapshot; -1: an entry is damaged.  It is counted, and the next call
 * continues after it.  The seq of a gap is its first number that was not stored
 * before. */
int journal_walk_next(struct journal_walk *walk, struct journal_entry *entry);
/* Of the snapshot: the number of the first entry, and that of the next one to
 * be written; both 1 for an empty journal.  False: they could not be read. */
bool journal_walk_ends(
    struct journal_walk *walk, uint64_t *first, uint64_t *next);
/* How many entries could not be read. */
uint64_t journal_walk_damaged(const struct journal_walk *walk);
/* Release the snapshot and keep the handle: before waiting, because LMDB cannot
 * reuse pages that a snapshot needs. */
void journal_walk_park(struct journal_walk *walk);

/* The record that the aggregator itself makes of an entry; of a gap, with what
 * was lost.  Its texts are views into the entry. */
struct record journal_entry_record(
    const struct journal_entry *entry, enum record_kind kind, const char *name);
struct record journal_gap_record(const struct journal_entry *entry);

/* ---- writing: one thread ---- */

enum {
	JOURNAL_STREAM_BLOCK = 64,
	/* That many of the last numbers of a stream can be compared. */
	JOURNAL_STREAM_REMEMBERED = 4096,
};

/* The state of a stream. */
struct journal_stream {
	uint64_t last_seq;         /* all numbers up to this one are stored */
	uint64_t hash;             /* running hash after it; 0: not known */
	int64_t first_ns, last_ns; /* arrival of its first and last entry */
	/* Numbers up to this one are those of a row that was collected: what
	 * they contain is not known. */
	uint64_t forgotten;
	bool derived; /* its session is derived from the content */
	/* Who began it, and nobody else continues: an auth_sender and a node (a
	 * view after get).  Owner 0: nobody. */
	uint64_t owner;
	struct text node;
	/* 32 bits of the running hash after each number of its last block;
	 * 0: not known, within a gap. */
	uint32_t block[JOURNAL_STREAM_BLOCK];
};

enum journal_found {
	JOURNAL_FOUND,
	JOURNAL_ABSENT,
	JOURNAL_DAMAGED, /* its row cannot be read: accept nothing */
};

/* One transaction at a time; nothing takes effect before its commit.  A commit
 * without a put or an append needs no sync. */
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

/* What is stored under a number, compared with content with this running hash
 * after it.  The same: then all numbers before it have the same content, too.
 */
enum journal_content {
	JOURNAL_SAME,
	JOURNAL_OTHER,
	JOURNAL_LOST,      /* nothing: a gap counted it as lost */
	JOURNAL_FORGOTTEN, /* too far back, collected or damaged */
};
/* `seq` is from 1 to stream->last_seq. */
enum journal_content journal_stream_compare(struct journal *journal,
    const struct session_id *session, struct text partition,
    const struct journal_stream *stream, uint64_t seq, uint64_t hash);

/* The stream continues to `last` with a batch or a gap; `hash` after it (0: not
 * known).  journal_stream_put follows. */
void journal_stream_advance(struct journal *journal,
    const struct session_id *session, struct text partition,
    struct journal_stream *stream, uint64_t last, uint64_t hash);

/* Read the key of a row of JOURNAL_STREAMS; false: it is malformed. */
bool journal_stream_key(
    struct text key, struct session_id *session, struct text *partition);
/* Remove the row and what belongs to it. */
void journal_stream_remove(struct db_txn *txn, struct text key);

/* The open transaction, for modules with rows of their own in the journal
 * (ingest/ended_sessions.h). */
struct db_txn *journal_txn(struct journal *journal);

/* Decode the row of a stream; false: it is malformed. */
bool journal_stream_decode(struct text value, struct journal_stream *stream);

/* What is stored with a frame. */
struct journal_note {
	uint64_t seq; /* its first number that was not stored before */
	int64_t receive_ns;
	uint64_t owner; /* of the stream */
	bool rejected;
	enum wire_fault fault;
};
/* Append a frame (batch, gap or bye) as received. */
void journal_append(struct journal *journal, struct text frame,
    const struct journal_note *note);

/* Delete the oldest entries, at most `entries` of them, with a number of at
 * most `upto`, that arrived before `before_ns` or are more than `bytes_max`
 * from the end.  The last entry stays.  Returns how many were deleted. */
uint32_t journal_purge(struct journal *journal, uint64_t upto,
    int64_t before_ns, uint64_t bytes_max, uint32_t entries);

/* Commit a transaction without changes.  LMDB reuses freed pages only in the
 * second transaction after the one that freed them, and in a full journal there
 * would be no second one. */
enum db_result journal_commit_empty(struct journal *journal, struct err *err);

/* Of the committed state: the number of the first entry (0: none) and that of
 * the next one; the bytes of the entries after `number`. */
uint64_t journal_first(const struct journal *journal);
uint64_t journal_next(const struct journal *journal);
uint64_t journal_bytes_after(struct journal *journal, uint64_t number);

#endif
