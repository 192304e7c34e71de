/*
 * spool - the records that the agent has accepted and the aggregator has not
 * acknowledged.
 *
 * A directory of preallocated segment files whose frames are batches, numbered
 * in each stream (a stream is one session in one partition).  Layout and
 * recovery rules: proto/spool.md.  Each opening begins a new session; the
 * streams of earlier ones can only be read.  The guarantees: after
 * spool_commit returned 0 everything appended before it survives any crash,
 * and a number that spool_read ever returned is never given to other content.
 * Opening ends, whatever the directory has: torn tails are ignored, damaged
 * places become gaps.
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
	SPOOL_STREAMS_MAX = 256, /* of one session */
	SPOOL_BATCH_BYTES_MAX = 256 << 10,
	SPOOL_SEGMENT_BYTES_MIN = 16 << 10,
	SPOOL_BYTES_MIN = 4 * SPOOL_SEGMENT_BYTES_MIN,
};

/* 0 selects the default, except where it says something. */
struct spool_options {
	uint64_t bytes_max;     /* of all segments; default 256 MiB */
	uint64_t segment_bytes; /* default 16 MiB; at most bytes_max / 4 */
	uint64_t retain_bytes;  /* acknowledged segments retained for a restored
				   store; deleted first when room is short;
				   default none */
	int64_t retain_ns;      /* ... for at most this time; default 24 h */
	uint64_t free_bytes_min; /* to leave free in the file system; 0: none */
};

/* A frame of the spool.  As a view: valid until the next call on the spool. */
struct spool_batch {
	uint64_t seq;
	uint64_t last_seq; /* == seq, except for gaps */
	uint32_t reason;   /* 0: a batch; else a gap (enum wire_reason) */
	uint32_t records;
	uint32_t codec;
	uint32_t body_bytes;  /* decompressed */
	uint64_t chain;       /* running hash before this batch; 0: not known */
	uint64_t chain_after; /* gap: running hash after it; 0: not known */
	struct text body;
};

struct spool_counters {
	uint64_t appended, appended_bytes, commits;
	uint64_t bytes;         /* on disk; preallocated segments count whole */
	uint64_t unacked_bytes; /* of frames; proportional within a segment */
	uint64_t unacked_batches; /* a gap counts once */
	uint64_t gaps;            /* found or made since the spool was opened */
	uint64_t moved;           /* batches moved to another session */
	uint64_t given_up;        /* forbidden batches that became gaps */
	uint64_t io_errors;       /* failed commits */
	uint64_t torn_bytes;      /* ignored behind the ends of sessions */
	uint64_t quarantined;     /* segments copied or moved there */
};

struct spool; /* opaque */

/* Opens or creates `dir` (0700, locked: a second opener is refused; see
 * instance_make_dir), recovers, counts the start and has that on disk before
 * it returns. */
int spool_open(struct spool **spool, const char *dir,
    const struct spool_options *options, struct err *err);
void spool_close(struct spool **spool);
/* Set other bounds.  Stored data stays: a spool that is larger than its new
 * bound is full until enough is acknowledged. */
void spool_change(struct spool *spool, const struct spool_options *options);

/* The current session. */
const struct session_id *spool_session(const struct spool *spool);
uint64_t spool_start_count(const struct spool *spool); /* 1, 2, ... */

/* ---- streams ---- */

/* The stream of a partition in the current session, made when new.  -1: it has
 * SPOOL_STREAMS_MAX. */
int spool_stream(struct spool *spool, struct text partition, uint32_t *stream,
    struct err *err);
/* All streams, of all sessions: their numbers are below this.  Numbers of
 * streams that are gone have no partition. */
uint32_t spool_streams(const struct spool *spool);
struct text spool_partition(const struct spool *spool, uint32_t stream);
const struct session_id *spool_session_of(
    const struct spool *spool, uint32_t stream);
/* Its number in its session, below SPOOL_STREAMS_MAX. */
uint32_t spool_local_number(const struct spool *spool, uint32_t stream);
/* The generation of the store that acknowledged what is acknowledged; 0: none
 * or not known. */
uint64_t spool_generation(const struct spool *spool, uint32_t stream);

/* The oldest earlier session that has something to send, or that this store
 * was not asked about yet: the numbers of its streams (at most `room`), which
 * stay valid until spool_release.  0: there is none.  What is forbidden comes
 * last, of all sessions together. */
uint32_t spool_take_session(struct spool *spool,
    uint32_t streams[static SPOOL_STREAMS_MAX], uint32_t room);
/* Has an earlier session something to take that is not forbidden? */
bool spool_has_session(const struct spool *spool);
void spool_release(struct spool *spool, uint32_t stream);
/* Everything is acknowledged, by the store that was asked last, or moved. */
bool spool_is_settled(const struct spool *spool, uint32_t stream);
/* Batches are still to be moved (spool_move). */
bool spool_is_to_move(const struct spool *spool, uint32_t stream);
/* The store of the partition is `generation`, and has everything before the
 * first unacknowledged number.  Streams of the partition that another one
 * acknowledged are no longer settled. */
void spool_welcomed(struct spool *spool, uint32_t stream, uint64_t generation);

/* The receiver does not take this stream, until it is no longer forbidden.
 * When room is short its batches are given up, segment by segment, the oldest
 * first: they become gaps of reason WIRE_NACK_FORBIDDEN. */
void spool_forbid(struct spool *spool, uint32_t stream, bool forbidden);
bool spool_is_forbidden(const struct spool *spool, uint32_t stream);
/* Is there room for `bytes` more of this stream?  What is forbidden has a
 * quarter of the bound in all. */
bool spool_has_share(
    const struct spool *spool, uint32_t stream, uint64_t bytes);
/* As in spool_counters, which takes longer. */
uint64_t spool_given_up(const struct spool *spool);

/* ---- writing ---- */

enum spool_result {
	SPOOL_OK,
	SPOOL_FULL, /* at the bound, or free_bytes_min: nothing was taken */
	SPOOL_IO,   /* the disk failed: nothing since the last commit counts */
};

/* Copy a batch (records, codec, body_bytes, body, of `batch`; numbers and
 * running hash are assigned here) into the commit buffer, for a stream of the
 * current session.  It is not durable and not readable before spool_commit.
 * `*seq` gets its number.  `urgent` false (samples) leaves the last eighth of
 * the bound to others.  When the buffer (512 KiB) is full, its content is
 * committed first. */
enum spool_result spool_append(struct spool *spool, uint32_t stream,
    const struct spool_batch *batch, bool urgent, uint64_t *seq,
    struct err *err);

/* Write and sync the appended batches.  SPOOL_IO: none of them is accepted;
 * the session ends, and spool_stream begins the next one; a second failure in
 * a row is final (every later call returns SPOOL_IO). */
enum spool_result spool_commit(struct spool *spool, struct err *err);

/* End the current session; the next append begins another one.  Nothing may be
 * uncommitted. */
void spool_new_session(struct spool *spool);

/* The aggregator has other content under the first unacknowledged number of an
 * earlier session's stream: move the batches from there on into the current
 * session, 256 KiB in one call.  The stream ends before them.  `*to` gets the
 * stream that has them.  SPOOL_FULL: there is no room for the next one. */
enum spool_result spool_move(
    struct spool *spool, uint32_t stream, uint32_t *to, struct err *err);

/* ---- reading ---- */

/* 1: the committed batch or gap that has `seq` (of a gap the part from `seq`
 * on); 0: not written yet, or behind the end of an earlier session; -1:
 * unreadable now: spool_refuse puts a gap in its place.
 *
 * After opening, reading from spool_first_unacked on until 0 (continuing after
 * last_seq) walks over everything that was accepted and may not have been
 * sent: its events have the ids that a caller may repeat. */
int spool_read(struct spool *spool, uint32_t stream, uint64_t seq,
    struct spool_batch *batch, struct err *err);

/* First unacknowledged, and the next to be committed. */
uint64_t spool_first_unacked(const struct spool *spool, uint32_t stream);
uint64_t spool_next_seq(const struct spool *spool, uint32_t stream);
/* The oldest number that can still be read (including retained segments). */
uint64_t spool_oldest(const struct spool *spool, uint32_t stream);

/* ---- positions ---- */

/* All up to and including `upto` are acknowledged.  Cheap; spool_tidy deletes
 * complete segments (call it every few seconds, and when room is short): it
 * makes the position durable, then unlinks, then syncs the directory. */
void spool_acked(struct spool *spool, uint32_t stream, uint64_t upto);
int spool_tidy(struct spool *spool, int64_t now_ns, struct err *err);

/* The aggregator lost acknowledged batches (restored from a backup): `seq` is
 * the first unacknowledged one again.  What was deleted reads as a gap. */
void spool_rewind(struct spool *spool, uint32_t stream, uint64_t seq);

/* Put a gap with `reason` in the place of a batch, until the spool is closed.
 * The batch is copied to refused/ (at most 64 files, the oldest are
 * deleted). */
int spool_refuse(struct spool *spool, uint32_t stream, uint64_t seq,
    uint32_t reason, struct err *err);

const struct spool_counters *spool_counters(const struct spool *spool);

#endif
