/*
 * spool_index - where the frames of a spool lie, in bounded memory.
 *
 * Per segment and stream only the first and last number, the first offset and
 * a few points between; per stream the places of the last few batches that
 * were read or written, which makes reading in order cost one step a batch.
 * Gaps stand beside: they override what older segments hold.
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
	SPOOL_PLACES = 16, /* of a stream; more than may be under way */
};

struct spool_point {
	uint32_t ahead; /* of the range's first number */
	uint32_t offset;
};

/* The batches of one stream in one segment. */
struct spool_range {
	uint64_t first, last;
	uint64_t bytes; /* of their frames */
	uint32_t offset;
	uint16_t stream;
	uint16_t points;
	struct spool_point point[SPOOL_POINTS];
};

struct spool_segment {
	uint64_t number;
	uint64_t salt;
	uint64_t cuts;    /* lowest older segment that a seal here ends; 0 */
	int64_t acked_ns; /* when it was first seen acknowledged; 0 */
	uint32_t size;    /* of the file */
	uint32_t end;     /* committed frames end here */
	uint32_t frames;  /* before end ... */
	uint32_t crcs;    /* ... and the CRC32C of their checksums */
	uint32_t ranges_count;
	int fd; /* open while it is written to, else -1 */
	struct spool_range *ranges;
};

void spool_segment_free(struct spool_segment **segment);
/* A committed batch lies at `offset`. */
void spool_segment_note(struct spool_segment *segment, uint32_t offset,
    const struct spool_frame *frame);
const struct spool_range *spool_segment_range(
    const struct spool_segment *segment, uint32_t stream);
/* Forget the batches of `stream` from `seq` on. */
void spool_segment_forget(
    struct spool_segment *segment, uint32_t stream, uint64_t seq);
/* Where to begin looking for `seq` (>= range->first). */
uint32_t spool_range_seek(const struct spool_range *range, uint64_t seq);

struct spool_gap {
	uint64_t first, last;
	uint64_t chain;     /* before first; 0: not known */
	uint64_t low, high; /* segments that hold its frames */
	uint32_t stream;
	uint32_t reason;
};

/* In order of stream and number, disjoint. */
struct spool_gaps {
	struct spool_gap *at;
	uint32_t count, room;
};

/* Add what of `gap` is not covered yet.  False: there are SPOOL_GAPS_MAX. */
bool spool_gaps_add(struct spool_gaps *gaps, const struct spool_gap *gap);
const struct spool_gap *spool_gaps_find(
    const struct spool_gaps *gaps, uint32_t stream, uint64_t seq);
/* The first gap that ends at or behind `seq`; NULL when there is none. */
const struct spool_gap *spool_gaps_next(
    const struct spool_gaps *gaps, uint32_t stream, uint64_t seq);
/* Forget the gaps of `stream` that end at or below `seq`. */
void spool_gaps_forget(struct spool_gaps *gaps, uint32_t stream, uint64_t seq);
void spool_gaps_clear(struct spool_gaps *gaps);

/* Places of single batches: a small direct-mapped table. */
struct spool_place {
	uint64_t seq; /* 0: none */
	uint64_t number;
	uint32_t offset;
};
void spool_place_put(struct spool_place places[static SPOOL_PLACES],
    uint64_t seq, uint64_t number, uint32_t offset);
const struct spool_place *spool_place_find(
    const struct spool_place places[static SPOOL_PLACES], uint64_t seq);

#endif
