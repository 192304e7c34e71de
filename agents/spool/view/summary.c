/*
 * summary - totals of the frames of a spool, by segment and by stream.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/view/summary.h"

#include <stdlib.h>

#include "proto/base/memory.h"

void
summary_begin(struct summary *summary, const struct view *view)
{
	summary->streams_count = view_streams(view);
	summary->streams =
	    memory_zero(summary->streams_count + 1, sizeof(*summary->streams));
	for (uint32_t i = 0; i < summary->streams_count; i++)
		summary->streams[i].end = view_end(view, i);
	summary->segments =
	    memory_zero(view_segments(view) + 1, sizeof(*summary->segments));
}

void
summary_add(
    struct summary *summary, uint32_t segment, const struct spool_frame *frame)
{
	struct summary_segment *in = &summary->segments[segment];
	struct summary_stream *of;

	if (!spool_is_batch(frame) || frame->stream >= summary->streams_count)
		return;
	of = &summary->streams[frame->stream];
	if (of->first == 0 || frame->seq < of->first)
		of->first = frame->seq;
	if (frame->seq > of->last)
		of->last = frame->seq;
	in->batches++;
	of->batches++;
	in->records += frame->records;
	of->records += frame->records;
	if (!coverage_add(&of->coverage, frame->seq, frame->seq))
		summary->incomplete = true;
}

struct walk {
	struct summary *summary;
	uint32_t segment;
};

static void
on_frame(void *arg, const struct spool_entry *segment, uint32_t offset,
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

	summary_begin(summary, view);
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
	uint64_t last =
	    stream->last + 1 < stream->end ? stream->end - 1 : stream->last;

	if (from <= acked)
		from = acked + 1;
	return last > acked &&
	       coverage_next_hole(&stream->coverage, from, last, missing);
}

void
summary_clear(struct summary *summary)
{
	for (uint32_t i = 0; i < summary->streams_count; i++)
		coverage_clear(&summary->streams[i].coverage);
	free(summary->streams);
	free(summary->segments);
	*summary = (struct summary){ .segments = NULL };
}
