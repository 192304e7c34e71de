/*
 * spool_frame - the bytes of a spool segment: its header and its frames.
 *
 * proto/spool.md, "Segments", is normative.  This module accesses no file;
 * spool_window reads, spool_scan walks.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SPOOL_FRAME_H
#define AGENTS_SPOOL_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agents/spool/spool.h"
#include "proto/hash/hash.h"

enum {
	SPOOL_HEAD_ONE = 64,   /* one of the two copies of the head ... */
	SPOOL_HEAD_COPY = 512, /* ... and where the second one is */
	SPOOL_HEAD_BYTES = SPOOL_HEAD_COPY + SPOOL_HEAD_ONE, /* both */
	SPOOL_FRAME_BYTES = 56, /* size before the body */
	SPOOL_SPAN_MAX = SPOOL_FRAME_BYTES + SPOOL_BATCH_BYTES_MAX,
	SPOOL_COMMIT_BYTES_MAX = 512
				 << 10, /* frames written and synced together */
	SPOOL_SEGMENT_BYTES_MAX = 256 << 20,
	SPOOL_FORMAT = 3,
};

enum spool_type {
	SPOOL_BATCH = 1,
	SPOOL_STREAM = 2, /* names the partition of a stream */
	SPOOL_SEAL = 3,
	SPOOL_MOVED = 4, /* a batch that comes from another session */
	SPOOL_END = 5,   /* where a stream of an earlier session ends */
};

struct spool_head {
	struct session_id session;
	struct session_id origin; /* of its moved batches; zeros: none */
	uint64_t number;
	uint64_t salt;
};

struct spool_frame {
	enum spool_type type;
	uint32_t bytes; /* size of the stored body */
	uint32_t crc;
	uint32_t codec;
	uint32_t stream; /* in its session */
	uint64_t seq;
	/* Batch: seq; moved: its number in the session that it comes from;
	 * seal: the end of the frames. */
	uint64_t last_seq;
	uint64_t chain;
	uint32_t records;
	uint32_t body_bytes;
	uint32_t back; /* distance to the first frame of its commit */
};

void spool_put_head(
    unsigned char to[static SPOOL_HEAD_BYTES], const struct spool_head *head);
/* From the first copy that is valid. */
bool spool_get_head(
    const unsigned char at[static SPOOL_HEAD_BYTES], struct spool_head *head);
/* Are both copies valid, and the same? */
bool spool_head_is_whole(const unsigned char at[static SPOOL_HEAD_BYTES]);
/* The format of a segment, whatever else its header has; 0: it is none. */
uint32_t spool_head_format(const unsigned char at[static SPOOL_HEAD_BYTES]);

/* The size of a frame with this body: a multiple of 8. */
static inline uint32_t
spool_span(uint32_t body_bytes)
{
	return SPOOL_FRAME_BYTES + (body_bytes + 7) / 8 * 8;
}

/* Write frame and body (frame->bytes long) to spool_span() bytes at `to`; sets
 * frame->crc. */
void spool_put_frame(unsigned char *to, uint64_t salt,
    struct spool_frame *frame, const void *body);

/* Decode the fixed part.  False when it cannot be a frame at `offset` of a
 * segment of `size` bytes, whatever the checksum. */
bool spool_peek_frame(const unsigned char at[static SPOOL_FRAME_BYTES],
    uint32_t offset, uint32_t size, struct spool_frame *frame);
/* Is the checksum right?  All spool_span(frame->bytes) bytes are at `at`. */
bool spool_frame_is_whole(
    const unsigned char *at, uint64_t salt, const struct spool_frame *frame);

static inline bool
spool_is_batch(const struct spool_frame *frame)
{
	return frame->type == SPOOL_BATCH || frame->type == SPOOL_MOVED;
}

/* Little-endian integers, as everywhere in the spool. */
void spool_put32(unsigned char *to, uint32_t value);
void spool_put64(unsigned char *to, uint64_t value);
uint32_t spool_get32(const unsigned char *at);
uint64_t spool_get64(const unsigned char *at);

#endif
