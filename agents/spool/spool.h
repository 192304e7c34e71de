/*
 * spool - the records that the agent has accepted and the aggregator has not
 * acknowledged.
 *
 * A directory of preallocated segment files whose frames are batches, numbered
 * in each stream (a stream is this spool's session in one partition).  Layout
 * and recovery rules: proto/spool.md.  The guarantees: after spool_commit
 * returned 0 everything appended before it survives any crash, and a number
 * that spool_read ever returned is never given to other content.  Opening ends,
 * whatever the directory has: torn tails are cut, damaged segments are moved
 * to quarantine/ and become gaps.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SPOOL_SPOOL_H
#define AGENTS_SPOOL_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/hash/hash.h"
#include "proto/record/record.h"

enum {
	SPOOL_STREAMS_MAX = 256,
	SPOOL_BATCH_BYTES_MAX = 256 << 10,
	SPOOL_PAST_SESSIONS_MAX = 64,
};

/* 0 selects the default. */
struct spool_options {
	uint64_t bytes_max;     /* of all segments; default 256 MiB */
	uint64_t segment_bytes; /* default 16 MiB; at most bytes_max / 4 */
	uint64_t retain_bytes;  /* acknowledged segments retained for a restored
				   store; deleted first when room is short;
				   default none */
	int64_t retain_ns;      /* ... for at most this time; default 24 h */
	uint64_t free_bytes_min; /* to leave free in the file system; default 64
				    MiB */
};

/* A frame of the spool.  As a view: valid until the next call on the spool. */
struct spool_batch {
	uint64_t seq;
	uint64_t last_seq; /* == seq, except for gaps */
	uint32_t reason;   /* 0: a batch; else a gap (enum wire_reason) */
	uint32_t records;
	uint32_t codec;
	uint32_t body_bytes; /* decompressed */
	uint64_t chain;      /* running hash before this batch */
	uint64_t
	    chain_after; /* gap: running hash after it; 0: not known (yet) */
	struct text body;
};

struct spool_counters {
	uint64_t appended, appended_bytes, commits;
	uint64_t bytes;         /* on disk; preallocated segments count whole */
	uint64_t unacked_bytes; /* of frames; proportional within a segment */
	uint64_t unacked_batches; /* a gap counts once */
	uint64_t torn_bytes;      /* bytes cut off at open */
	uint64_t quarantined;     /* segments moved to quarantine/ */
	uint64_t gaps;
	uint64_t io_errors;
	uint64_t
	    past_sessions_dropped; /* previous sessions dropped at the bound */
};

struct spool; /* opaque */

/* Opens or creates `dir` (0700, locked: a second opener is refused; see
 * instance_make_dir), recovers, increments the start count and has that on
 * disk before it returns. */
int spool_open(struct spool **spool, const char *dir,
    const struct spool_options *options, struct err *err);
void spool_close(struct spool **spool);
/* Set other bounds.  Stored data stays: a spool that is larger than its new
 * bound is full until enough is acknowledged. */
void spool_change(struct spool *spool, const struct spool_options *options);

const struct session_id *spool_session(const struct spool *spool);
uint64_t spool_start_count(const struct spool *spool); /* 1, 2, ... */

/* The stream of a partition; created (durably) when new.  -1 when there are
 * SPOOL_STREAMS_MAX or the disk fails. */
int spool_stream(struct spool *spool, struct text partition, uint32_t *stream,
    struct err *err);
uint32_t spool_streams(const struct spool *spool);
struct text spool_partition(const struct spool *spool, uint32_t stream);

enum spool_result {
	SPOOL_OK,
	SPOOL_FULL, /* at the bound, or free_bytes_min: nothing was taken */
	SPOOL_IO,   /* the disk failed: nothing since the last commit counts */
};

/* Copy a batch (records, codec, body_bytes, body, of `batch`; numbers and
 * running hash are assigned here) into the commit buffer.  It is not durable
 * and not readable before spool_commit.  `*seq` gets its number.  `urgent`
 * false (samples) leaves the last eighth of the bound to others.  When the
 * buffer (512 KiB) is full, its content is committed first. */
enum spool_result spool_append(struct spool *spool, uint32_t stream,
    const struct spool_batch *batch, bool urgent, uint64_t *seq,
    struct err *err);

/* Write and sync the appended batches.  SPOOL_IO: none of them is accepted;
 * the segment is abandoned and the next append uses a new one; a second
 * failure in a row is final (every later call returns SPOOL_IO). */
enum spool_result spool_commit(struct spool *spool, struct err *err);

/* 1: the committed batch or gap that has `seq` (of a gap the part from `seq`
 * on); 0: not written yet; -1: deleted (after its acknowledgement) or
 * currently unreadable: then spool_refuse puts a gap in its place.
 *
 * After opening, reading from spool_first_unacked on until 0 (continuing after
 * last_seq) walks over everything that was accepted and may not have been
 * sent: its events have the ids that a caller may repeat. */
int spool_read(struct spool *spool, uint32_t stream, uint64_t seq,
    struct spool_batch *batch, struct err *err);

/* The running hash before `seq`, as hello and gaps carry it; 0: not known (and
 * for the first number). */
uint64_t spool_chain(struct spool *spool, uint32_t stream, uint64_t seq);

/* First unacknowledged, and the next to be committed. */
uint64_t spool_first_unacked(const struct spool *spool, uint32_t stream);
uint64_t spool_next_seq(const struct spool *spool, uint32_t stream);
/* The oldest number that can still be read (including retained segments). */
uint64_t spool_oldest(const struct spool *spool, uint32_t stream);

/* All up to and including `upto` are acknowledged.  Cheap; spool_tidy deletes
 * complete segments (call it every few seconds, and when room is short): it
 * makes the position durable, then unlinks, then syncs the directory. */
void spool_acked(struct spool *spool, uint32_t stream, uint64_t upto);
int spool_tidy(struct spool *spool, int64_t now_ns, struct err *err);

/* The aggregator lost acknowledged batches (restored from a backup): resend
 * from `seq`.  Batches that the spool no longer has become a gap at the start.
 */
int spool_resend_from(
    struct spool *spool, uint32_t stream, uint64_t seq, struct err *err);

/* This spool was cloned or rolled back: give it a new session.  The batches of
 * `stream` from `from_seq` on, and all unacknowledged ones of the other
 * streams, continue under it, numbered from 1.  Survives a crash at any point
 * without loss or repetition. */
int spool_new_session(
    struct spool *spool, uint32_t stream, uint64_t from_seq, struct err *err);

/* The state of a partition under a previous session of this spool. */
struct spool_past_session {
	struct session_id session;
	uint64_t known;   /* the store had it up to here, at least */
	int64_t since_ns; /* wall clock since when the store is missing some; 0:
			     none */
	bool forget;      /* removed by the next save */
	char partition[NAME_BYTES_MAX + 1];
};

/* Oldest first; at most SPOOL_PAST_SESSIONS_MAX, the oldest are dropped.
 * spool_past_sessions_save writes a caller's changes to disk. */
uint32_t spool_past_sessions(const struct spool *spool);
struct spool_past_session *spool_past_session(struct spool *spool, uint32_t i);
int spool_past_sessions_save(struct spool *spool, struct err *err);

/* `count` batches of this partition are lost: append a gap and commit it. */
int spool_report_gap(struct spool *spool, struct text partition, uint64_t count,
    uint32_t reason, struct err *err);

/* Copy the batch to refused/ (at most 64 files, the oldest are deleted) and
 * put a gap with `reason` in its place. */
int spool_refuse(struct spool *spool, uint32_t stream, uint64_t seq,
    uint32_t reason, struct err *err);

const struct spool_counters *spool_counters(const struct spool *spool);

#endif
