/*
 * summary - totals of the frames of a spool, by segment and by stream.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/view/summary.h"

#include <stdlib.h>

#include "proto/base/memory.h"

static void
add_gap(struct summary *summary, const struct spool_frame *frame)
{
	if (summary->gaps_count == SUMMARY_GAPS_MAX) {
		summary->incomplete = true;
		return;
	}
	summary->gaps = memory_grow(summary->gaps, &summary->gaps_room,
	    summary->gaps_count, sizeof(*summary->gaps));
	summary->gaps[summary->gaps_count++] = (struct summary_gap){ frame->seq,
		frame->last_seq, frame->stream, frame->reason };
}

void
summary_add(
    struct summary *summary, uint32_t segment, const struct spool_frame *frame)
{
	struct summary_segment *in = &summary->segments[segment];
	struct summary_stream *of;

	if (frame->type == SPOOL_SEAL || frame->stream >= SPOOL_STREAMS_MAX)
		return;
	of = &summary->streams[frame->stream];
	if (of->first == 0 || frame->seq < of->first)
		of->first = frame->seq;
	if (frame->last_seq > of->last)
		of->last = frame->last_seq;
	if (frame->type == SPOOL_GAP) {
		in->gaps++;
		of->gaps++;
		add_gap(summary, frame);
	} else {
		in->batches++;
		of->batches++;
		in->records += frame->records;
		of->records += frame->records;
	}
	if (!coverage_add(&of->coverage, frame->seq, frame->last_seq))
		summary->incomplete = true;
}

struct walk {
	struct summary *summary;
	uint32_t segment;
};

static void
on_frame(void *arg, const struct view_segment *segment, uint32_t offset,
    const struct spool_frame *frame, struct text body)
{
	struct walk *walk = arg;

	(void)segment;
	(void)offset;
	(void)body;
	summary_add(walk->summary, walk->segment, frame);
}

int
summary_make(struct summary *summary, struct view *view, struct err *err)
{
	struct walk walk = { .summary = summary };
	const struct view_visitor visitor = { .frame = on_frame, .arg = &walk };

	summary->segments =
	    memory_zero(view_segments(view) + 1, sizeof(*summary->segments));
	for (uint32_t i = 0; i < view_segments(view); i++) {
		walk.segment = i;
		if (view_walk(view, i, &visitor, err) != 0)
			return -1;
	}
	return 0;
}

bool
summary_next_missing(const struct summary_stream *stream, uint64_t acked,
    uint64_t from, struct coverage_interval *missing)
{
	if (from <= acked)
		from = acked + 1;
	return stream->last > acked && coverage_next_hole(&stream->coverage,
					   from, stream->last, missing);
}

void
summary_clear(struct summary *summary)
{
	for (uint32_t i = 0; i < SPOOL_STREAMS_MAX; i++)
		coverage_clear(&summary->streams[i].coverage);
	free(summary->segments);
	free(summary->gaps);
	*summary = (struct summary){ .segments = NULL };
}
