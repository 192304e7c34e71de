/*
 * spool_index - the positions of the frames of a spool, in bounded memory.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/index.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/base/search.h"

void
spool_segment_free(struct spool_segment **segment)
{
	if (*segment == NULL)
		return;
	if ((*segment)->fd >= 0)
		close((*segment)->fd);
	free((*segment)->ranges);
	free(*segment);
	*segment = NULL;
}

static struct spool_range *
find_range(const struct spool_segment *segment, uint32_t stream)
{
	for (uint32_t i = 0; i < segment->ranges_count; i++) {
		if (segment->ranges[i].stream == stream)
			return &segment->ranges[i];
	}
	return NULL;
}

const struct spool_range *
spool_segment_range(const struct spool_segment *segment, uint32_t stream)
{
	return find_range(segment, stream);
}

static struct spool_range *
add_range(struct spool_segment *segment)
{
	segment->ranges = memory_resize(segment->ranges,
	    (segment->ranges_count + 1) * sizeof(*segment->ranges));
	return &segment->ranges[segment->ranges_count++];
}

void
spool_segment_note(struct spool_segment *segment, uint32_t stream,
    uint32_t offset, const struct spool_frame *frame)
{
	struct spool_range *r = find_range(segment, stream);
	uint32_t last_offset;

	if (r == NULL) {
		r = add_range(segment);
		*r = (struct spool_range){
			.first = frame->seq, .offset = offset, .stream = stream
		};
	}
	last_offset =
	    r->points > 0 ? r->point[r->points - 1].offset : r->offset;
	if (r->points < SPOOL_POINTS && frame->seq - r->first < UINT32_MAX &&
	    offset - last_offset > segment->size / (SPOOL_POINTS + 1))
		r->point[r->points++] =
		    (struct spool_point){ (uint32_t)(frame->seq - r->first),
			    offset };
	r->last = frame->seq;
	r->bytes += spool_span(frame->bytes);
}

uint32_t
spool_range_seek(const struct spool_range *range, uint64_t seq)
{
	uint32_t offset = range->offset;

	for (uint32_t i = 0; i < range->points; i++) {
		if (range->first + range->point[i].ahead > seq)
			break;
		offset = range->point[i].offset;
	}
	return offset;
}

/* The index of the first gap that does not end before (stream, seq). */
static uint32_t
gap_index(const struct spool_gaps *gaps, uint32_t stream, uint64_t seq)
{
	return LOWER_BOUND(i, 0, gaps->count,
	    gaps->at[i].stream < stream ||
		(gaps->at[i].stream == stream && gaps->at[i].last < seq));
}

const struct spool_gap *
spool_gaps_next(const struct spool_gaps *gaps, uint32_t stream, uint64_t seq)
{
	uint32_t i = gap_index(gaps, stream, seq);

	if (i == gaps->count || gaps->at[i].stream != stream)
		return NULL;
	return &gaps->at[i];
}

const struct spool_gap *
spool_gaps_find(const struct spool_gaps *gaps, uint32_t stream, uint64_t seq)
{
	const struct spool_gap *g = spool_gaps_next(gaps, stream, seq);

	return g != NULL && g->first <= seq ? g : NULL;
}

static bool
join(struct spool_gap *before, const struct spool_gap *gap)
{
	if (before->stream != gap->stream || before->reason != gap->reason ||
	    before->last + 1 != gap->first)
		return false;
	before->last = gap->last;
	return true;
}

static bool
insert(struct spool_gaps *gaps, uint32_t i, const struct spool_gap *gap)
{
	if (i > 0 && join(&gaps->at[i - 1], gap))
		return true;
	if (gaps->count == SPOOL_GAPS_MAX)
		return false;
	MEMORY_GROW(gaps->at, gaps->room, gaps->count);
	memmove(&gaps->at[i + 1], &gaps->at[i],
	    (gaps->count - i) * sizeof(*gaps->at));
	gaps->at[i] = *gap;
	gaps->count++;
	return true;
}

bool
spool_gaps_add(struct spool_gaps *gaps, const struct spool_gap *gap)
{
	struct spool_gap piece = *gap;

	while (piece.first <= gap->last) {
		uint32_t i = gap_index(gaps, gap->stream, piece.first);
		const struct spool_gap *g =
		    i < gaps->count && gaps->at[i].stream == gap->stream
			? &gaps->at[i]
			: NULL;
		uint64_t next = gap->last + 1;

		if (g != NULL && g->first <= gap->last)
			next = g->last + 1;
		piece.last = gap->last;
		if (g != NULL && g->first <= gap->last)
			piece.last = g->first - 1;
		if (piece.last >= piece.first && !insert(gaps, i, &piece))
			return false;
		piece.first = next;
	}
	return true;
}

void
spool_gaps_forget(struct spool_gaps *gaps, uint32_t stream, uint64_t seq)
{
	uint32_t from = gap_index(gaps, stream, 0);
	uint32_t to = gap_index(gaps, stream, seq + 1);

	if (from == to)
		return;
	memmove(&gaps->at[from], &gaps->at[to],
	    (gaps->count - to) * sizeof(*gaps->at));
	gaps->count -= to - from;
}

void
spool_gaps_change(
    struct spool_gaps *gaps, uint32_t stream, uint64_t seq, uint32_t reason)
{
	for (uint32_t i = gap_index(gaps, stream, 0); i < gaps->count; i++) {
		struct spool_gap *g = &gaps->at[i], rest = *g;

		if (g->stream != stream || g->first > seq)
			return;
		if (g->last > seq) {
			rest.first = g->last = seq;
			rest.first++;
			if (!insert(gaps, i + 1, &rest)) {
				g->last = rest.last;
				return;
			}
		}
		gaps->at[i].reason = reason;
	}
}

void
spool_gaps_clear(struct spool_gaps *gaps)
{
	free(gaps->at);
	*gaps = (struct spool_gaps){ 0 };
}

void
spool_position_put(struct spool_position positions[static SPOOL_POSITIONS],
    uint64_t seq, uint64_t number, uint32_t offset)
{
	positions[seq % SPOOL_POSITIONS] =
	    (struct spool_position){ seq, number, offset };
}

const struct spool_position *
spool_position_find(
    const struct spool_position positions[static SPOOL_POSITIONS], uint64_t seq)
{
	const struct spool_position *p = &positions[seq % SPOOL_POSITIONS];

	return p->seq == seq && seq != 0 ? p : NULL;
}
