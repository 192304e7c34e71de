/*
 * spool_read - finds and reads batches, and the gaps between them.
 *
 * It looks for a batch at its remembered position, then after the previous
 * batch, then from the nearest point of its segment on.  It remembers the
 * positions of other streams' frames that it passes.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/spool_private.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "agents/spool/scan.h"
#include "proto/wire/wire.h"

/* Move the window to a segment: 0, or -1 and errno. */
static int
move_window(struct spool *spool, const struct spool_segment *segment)
{
	char name[SPOOL_NAME_BYTES];

	if (spool->window.number == segment->number && spool->window.fd >= 0)
		return 0;
	if (spool->read_fd >= 0)
		close(spool->read_fd);
	spool->read_fd = spool_open_file(
	    spool->dir, spool_segment_name(name, segment->number), O_RDONLY);
	spool_window_move(&spool->window, spool->read_fd, segment->number);
	return spool->read_fd >= 0 ? 0 : -1;
}

static bool
fixed_part(struct spool *spool, struct spool_spot *spot)
{
	const unsigned char *at = spool_window_view(&spool->window,
	    spot->offset, SPOOL_FRAME_BYTES, spot->segment->end);

	return at != NULL && spool_peek_frame(at, spot->offset,
				 spot->segment->end, &spot->frame);
}

/* Remember a frame that was passed: its reader may need it next. */
static void
remember(struct spool *spool, const struct spool_spot *spot)
{
	const struct spool_frame *frame = &spot->frame;
	struct spool_stream *s = NULL;

	for (uint32_t i = 0; i < spot->segment->ranges_count; i++) {
		uint32_t stream = spot->segment->ranges[i].stream;

		if (spool->streams[stream]->local == frame->stream)
			s = spool->streams[stream];
	}
	if (s == NULL || !spool_is_batch(frame))
		return;
	if (frame->seq > s->acked && frame->seq - s->acked <= SPOOL_POSITIONS)
		spool_position_put(s->positions, frame->seq,
		    spot->segment->number, spot->offset);
}

/* Walk from the position to the batch.  Unless `careful`, checksums are not
 * verified: a damaged frame may be taken for the batch, or a damaged length
 * may lead past it. */
static bool
walk(struct spool *spool, bool careful, uint32_t stream, uint64_t seq,
    struct spool_spot *spot)
{
	const struct spool_segment *segment = spot->segment;
	struct spool_frame *frame = &spot->frame;
	uint32_t local = spool->streams[stream]->local;
	struct spool_scan scan = { .window = &spool->window,
		.number = segment->number,
		.salt = segment->salt,
		.size = segment->end,
		.budget = 4 * (uint64_t)segment->end };

	while (spot->offset < segment->end) {
		/* After a damaged place only complete frames count. */
		if ((careful || !fixed_part(spool, spot)) &&
		    !spool_scan_next(&scan, &spot->offset, frame, NULL))
			return false;
		if (spool_is_batch(frame) && frame->stream == local &&
		    frame->seq == seq)
			return true;
		remember(spool, spot);
		spot->offset += spool_span(frame->bytes);
	}
	return false;
}

/* From the position of the batch `known` on, in its segment. */
static bool
find_local(struct spool *spool, uint32_t stream, uint64_t seq, uint64_t known,
    struct spool_spot *spot)
{
	const struct spool_position *position =
	    spool_position_find(spool->streams[stream]->positions, known);
	const struct spool_range *r;

	if (position == NULL)
		return false;
	spot->segment = spool_find_segment(spool, position->number);
	spot->offset = position->offset;
	if (spot->segment == NULL)
		return false;
	r = spool_segment_range(spot->segment, stream);
	return r != NULL && seq <= r->last &&
	       move_window(spool, spot->segment) == 0 &&
	       walk(spool, false, stream, seq, spot);
}

static bool
find_in_segments(struct spool *spool, bool careful, uint32_t stream,
    uint64_t seq, struct spool_spot *spot)
{
	for (uint32_t i = spool->segments_count; i-- > 0;) {
		const struct spool_range *r =
		    spool_segment_range(spool->segments[i], stream);

		if (r == NULL || seq < r->first || seq > r->last)
			continue;
		spot->segment = spool->segments[i];
		spot->offset = spool_range_seek(r, seq);
		return move_window(spool, spot->segment) == 0 &&
		       walk(spool, careful, stream, seq, spot);
	}
	errno = 0;
	return false;
}

static bool
is_whole(struct spool *spool, struct spool_spot *spot)
{
	const unsigned char *at = spool_window_view(&spool->window,
	    spot->offset, spool_span(spot->frame.bytes), spot->segment->end);

	if (at == NULL ||
	    !spool_frame_is_whole(at, spot->segment->salt, &spot->frame))
		return false;
	spot->body = at + SPOOL_FRAME_BYTES;
	return true;
}

/* Find the batch and verify it. */
static bool
find(
    struct spool *spool, uint32_t stream, uint64_t seq, struct spool_spot *spot)
{
	if ((find_local(spool, stream, seq, seq, spot) ||
		find_local(spool, stream, seq, seq - 1, spot) ||
		find_in_segments(spool, false, stream, seq, spot)) &&
	    is_whole(spool, spot))
		return true;
	return find_in_segments(spool, true, stream, seq, spot) &&
	       is_whole(spool, spot);
}

/* ---- gaps ---- */

/* The lowest number above `seq` that a segment may have; the end of the stream
 * if there is none. */
static uint64_t
next_stored(const struct spool *spool, uint32_t stream, uint64_t seq)
{
	uint64_t next = spool_end_of(spool->streams[stream]);

	for (uint32_t i = 0; i < spool->segments_count; i++) {
		const struct spool_range *r =
		    spool_segment_range(spool->segments[i], stream);

		if (r != NULL && r->first > seq && r->first < next)
			next = r->first;
	}
	return next;
}

static bool
is_stored(const struct spool *spool, uint32_t stream, uint64_t seq)
{
	for (uint32_t i = 0; i < spool->segments_count; i++) {
		const struct spool_range *r =
		    spool_segment_range(spool->segments[i], stream);

		if (r != NULL && seq >= r->first && seq <= r->last)
			return true;
	}
	return false;
}

/* The running hash after the gap: that before the batch behind it. */
static uint64_t
hash_before(struct spool *spool, uint32_t stream, uint64_t seq)
{
	const struct spool_stream *s = spool->streams[stream];
	struct spool_spot spot;

	if (seq == s->committed && s->current)
		return s->committed_chain;
	if (seq >= spool_end_of(s) ||
	    spool_gaps_find(&spool->gaps, stream, seq) != NULL ||
	    !find(spool, stream, seq, &spot))
		return 0;
	return spot.frame.chain;
}

/* What is no longer in any segment: deleted after its acknowledgement, or lost
 * with a damaged segment. */
static bool
find_gap(const struct spool *spool, uint32_t stream, uint64_t seq,
    struct spool_gap *gap)
{
	const struct spool_gap *known =
	    spool_gaps_find(&spool->gaps, stream, seq);
	const struct spool_stream *s = spool->streams[stream];

	if (known != NULL) {
		*gap = *known;
		gap->first = seq;
		return true;
	}
	if (is_stored(spool, stream, seq))
		return false;
	*gap = (struct spool_gap){ .first = seq,
		.last = next_stored(spool, stream, seq) - 1,
		.stream = stream,
		.reason = WIRE_GAP_DAMAGED };
	known = spool_gaps_next(&spool->gaps, stream, seq);
	if (known != NULL && known->first <= gap->last)
		gap->last = known->first - 1;
	if (seq <= s->peak) {
		gap->reason = WIRE_GAP_RESTORED;
		if (gap->last > s->peak)
			gap->last = s->peak;
	}
	return true;
}

int
spool_read_any(struct spool *spool, uint32_t stream, uint64_t seq,
    struct spool_batch *batch, struct err *err)
{
	struct spool_gap gap;
	struct spool_spot spot;
	const struct spool_frame *f = &spot.frame;

	if (seq >= spool_end_of(spool->streams[stream]))
		return 0;
	if (find_gap(spool, stream, seq, &gap)) {
		*batch = (struct spool_batch){ .seq = gap.first,
			.last_seq = gap.last,
			.reason = gap.reason,
			.chain_after =
			    hash_before(spool, stream, gap.last + 1) };
		return 1;
	}
	if (!find(spool, stream, seq, &spot))
		return err_set(err, "batch %" PRIu64 " cannot be read", seq);
	spool_position_put(spool->streams[stream]->positions, seq,
	    spot.segment->number, spot.offset);
	*batch = (struct spool_batch){ .seq = seq,
		.last_seq = seq,
		.records = f->records,
		.codec = f->codec,
		.body_bytes = f->body_bytes,
		.chain = f->chain,
		.body = { (const char *)spot.body, f->bytes } };
	return 1;
}

int
spool_read(struct spool *spool, uint32_t stream, uint64_t seq,
    struct spool_batch *batch, struct err *err)
{
	uint64_t end;
	int there;

	assert(stream < spool->streams_count);
	end = spool->streams[stream]->committed;
	if (seq >= end)
		return 0;
	there = spool_read_any(spool, stream, seq, batch, err);
	/* A gap that reaches into what is moved. */
	if (there == 1 && batch->last_seq >= end) {
		batch->last_seq = end - 1;
		batch->chain_after = 0;
	}
	return there;
}

uint64_t
spool_next_seq(const struct spool *spool, uint32_t stream)
{
	assert(stream < spool->streams_count);
	return spool->streams[stream]->committed;
}

uint64_t
spool_oldest(const struct spool *spool, uint32_t stream)
{
	uint64_t oldest = spool_next_seq(spool, stream);

	for (uint32_t i = 0; i < spool->segments_count; i++) {
		const struct spool_range *r =
		    spool_segment_range(spool->segments[i], stream);

		if (r != NULL && r->first < oldest)
			oldest = r->first;
	}
	return oldest;
}
