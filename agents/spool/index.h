/*
 * spool_index - the positions of the frames of a spool, in bounded memory.
 *
 * For each segment and stream it has only the first and last number, the first
 * offset and a few points between; for each stream the positions of the last
 * few batches that were read or written, so that reading in order takes one
 * step for each batch.  Gaps are stored separately: they override batches.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SPOOL_INDEX_H
#define AGENTS_SPOOL_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/spool/frame.h"

enum {
	SPOOL_POINTS = 8,
	SPOOL_GAPS_MAX = 4096,
	SPOOL_POSITIONS = 16, /* for each stream; more than may be in flight */
};

struct spool_point {
	uint32_t ahead; /* number of the batch, minus the range's first */
	uint32_t offset;
};

/* The batches of one stream in one segment. */
struct spool_range {
	uint64_t first, last;
	uint64_t bytes; /* of their frames */
	uint32_t offset;
	uint32_t stream; /* of the spool */
	uint32_t points;
	struct spool_point point[SPOOL_POINTS];
};

struct spool_segment {
	struct session_id session, origin;
	uint64_t number;
	uint64_t salt;
	uint64_t
	    cuts; /* oldest segment that a seal in this one ends; 0: none */
	int64_t acked_ns; /* when it was first found acknowledged; 0 */
	uint32_t size;    /* of the file */
	uint32_t end;     /* end of the committed frames */
	uint32_t frames;  /* frames before `end` ... */
	uint32_t crcs;    /* ... and the CRC32C of their checksums */
	uint32_t ranges_count;
	int fd; /* open while it is written, else -1 */
	struct spool_range *ranges;
	/* Streams that a frame in it names; while it is written. */
	unsigned char named[SPOOL_STREAMS_MAX / 8];
};

void spool_segment_free(struct spool_segment **segment);
/* Add a committed batch of a stream of the spool at `offset`. */
void spool_segment_note(struct spool_segment *segment, uint32_t stream,
    uint32_t offset, const struct spool_frame *frame);
const struct spool_range *spool_segment_range(
    const struct spool_segment *segment, uint32_t stream);
/* The offset at which to begin the search for `seq` (>= range->first). */
uint32_t spool_range_seek(const struct spool_range *range, uint64_t seq);

struct spool_gap {
	uint64_t first, last;
	uint32_t stream;
	uint32_t reason;
};

/* Ordered by stream and number, disjoint. */
struct spool_gaps {
	struct spool_gap *at;
	uint32_t count, room;
};

/* Add the part of `gap` that is not covered yet.  False: the table is full. */
bool spool_gaps_add(struct spool_gaps *gaps, const struct spool_gap *gap);
const struct spool_gap *spool_gaps_find(
    const struct spool_gaps *gaps, uint32_t stream, uint64_t seq);
/* The first gap that ends at or after `seq`; NULL when there is none. */
const struct spool_gap *spool_gaps_next(
    const struct spool_gaps *gaps, uint32_t stream, uint64_t seq);
/* Forget the gaps of `stream` that end at or below `seq`. */
void spool_gaps_forget(struct spool_gaps *gaps, uint32_t stream, uint64_t seq);
/* The gaps of `stream` up to `seq` get another reason. */
void spool_gaps_change(
    struct spool_gaps *gaps, uint32_t stream, uint64_t seq, uint32_t reason);
void spool_gaps_clear(struct spool_gaps *gaps);

/* Positions of single batches: a small direct-mapped table. */
struct spool_position {
	uint64_t seq; /* 0: none */
	uint64_t number;
	uint32_t offset;
};
void spool_position_put(struct spool_position positions[static SPOOL_POSITIONS],
    uint64_t seq, uint64_t number, uint32_t offset);
const struct spool_position *spool_position_find(
    const struct spool_position positions[static SPOOL_POSITIONS],
    uint64_t seq);

#endif
