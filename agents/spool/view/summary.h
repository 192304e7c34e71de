/*
 * summary - totals of the frames of a spool, by segment and by stream.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SPOOL_VIEW_SUMMARY_H
#define AGENTS_SPOOL_VIEW_SUMMARY_H

#include "agents/spool/view/coverage.h"
#include "agents/spool/view/view.h"

enum { SUMMARY_GAPS_MAX = 65536 };

struct summary_stream {
	uint64_t first, last; /* 0: no frame */
	uint64_t batches, gaps, records;
	struct coverage coverage;
};

struct summary_segment {
	uint64_t batches, gaps, records;
};

struct summary_gap {
	uint64_t first, last;
	uint32_t stream, reason;
};

/* Initialize with zeros. */
struct summary {
	struct summary_stream streams[SPOOL_STREAMS_MAX];
	struct summary_segment *segments; /* as view_segment counts them */
	struct summary_gap *gaps;         /* in the order of the frames */
	uint32_t gaps_count, gaps_room;
	bool incomplete; /* there are more gaps, or holes, than listed */
};

/* Read all frames. */
int summary_make(struct summary *summary, struct view *view, struct err *err);
/* One frame of segment number `segment` of the view. */
void summary_add(
    struct summary *summary, uint32_t segment, const struct spool_frame *frame);
void summary_clear(struct summary *summary);

/* The next range of the stream above `acked`, from `from` on, that no batch or
 * gap covers although later numbers exist; false: there is none. */
bool summary_next_missing(const struct summary_stream *stream, uint64_t acked,
    uint64_t from, struct coverage_interval *missing);

#endif
