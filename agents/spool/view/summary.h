/*
 * summary - totals of the frames of a spool, by segment and by stream.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SPOOL_VIEW_SUMMARY_H
#define AGENTS_SPOOL_VIEW_SUMMARY_H

#include "agents/spool/view/coverage.h"
#include "agents/spool/view/view.h"

struct summary_stream {
	uint64_t first, last; /* 0: no frame */
	uint64_t end;         /* it ended before this number; 0: not known */
	uint64_t batches, records;
	struct coverage coverage;
};

struct summary_segment {
	uint64_t batches, records;
};

/* Initialize with zeros. */
struct summary {
	struct summary_stream *streams;   /* as view_streams counts them */
	struct summary_segment *segments; /* as view_segment counts them */
	uint32_t streams_count;
	bool incomplete; /* there are more holes than are listed */
};

/* Make room for what summary_add adds. */
void summary_begin(struct summary *summary, const struct view *view);
/* Read all frames. */
int summary_make(struct summary *summary, struct view *view, struct err *err);
/* One frame of segment number `segment` of the view. */
void summary_add(
    struct summary *summary, uint32_t segment, const struct spool_frame *frame);
void summary_clear(struct summary *summary);

/* The next range of the stream above `acked`, from `from` on, that no batch
 * covers although later numbers exist; false: there is none. */
bool summary_next_missing(const struct summary_stream *stream, uint64_t acked,
    uint64_t from, struct coverage_interval *missing);

#endif
