/*
 * spool_holes - finds the numbers that are missing after the disk damaged a
 * segment.
 *
 * If the stream has a later frame, the hole before it is known exactly.
 * Otherwise the lost frames may have been the stream's last ones, and their
 * numbers may have been sent: the stream then skips as many numbers as could
 * have been lost, so that no number is ever used twice.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/spool_private.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/wire/wire.h"

/* How many numbers a stream skips of which nothing is left, not even in
 * ACKED. */
#define SKIP_ALL (UINT64_C(1) << 32)

struct trail {
	uint64_t seen;        /* the highest number so far */
	uint64_t lost_then;   /* holes->lost when it was seen */
	uint64_t chain_after; /* the running hash after it, if it is a gap */
};

struct spool_holes {
	struct trail trails[SPOOL_STREAMS_MAX];
	struct spool_gaps gaps;
	uint64_t lost;    /* bound on damaged frames so far */
	uint64_t counted; /* exact, if seals count them */
	uint64_t numbers; /* in the holes */
	bool all_counted;
};

struct spool_holes *
spool_holes_new(void)
{
	struct spool_holes *holes = memory_zero(1, sizeof(*holes));

	holes->all_counted = true;
	return holes;
}

void
spool_holes_free(struct spool_holes **holes)
{
	if (*holes == NULL)
		return;
	spool_gaps_clear(&(*holes)->gaps);
	free(*holes);
	*holes = NULL;
}

void
spool_holes_lose(struct spool_holes *holes, uint32_t frames)
{
	holes->lost += frames;
}

void
spool_holes_count(struct spool_holes *holes, bool sealed, uint32_t frames)
{
	holes->counted += frames;
	if (!sealed)
		holes->all_counted = false;
}

/* Too many holes: the last one of the stream covers everything up to here. */
static void
widen(struct spool_gaps *gaps, uint32_t stream, uint64_t last)
{
	for (uint32_t i = gaps->count; i-- > 0;) {
		if (gaps->at[i].stream != stream)
			continue;
		gaps->at[i].last = last;
		return;
	}
}

static void
add_hole(
    struct spool_holes *holes, uint32_t stream, uint64_t first, uint64_t last)
{
	struct spool_gap hole = { .first = first,
		.last = last,
		.stream = stream,
		.reason = WIRE_GAP_DAMAGED };

	if (last < first)
		return;
	holes->numbers += last - first + 1;
	if (!spool_gaps_add(&holes->gaps, &hole))
		widen(&holes->gaps, stream, last);
}

/* This frame uses the numbers from `seq` on again: earlier frames of the
 * stream with these numbers were withdrawn when it was written. */
static void
withdraw(struct spool_holes *holes, struct spool *spool, uint32_t stream,
    uint64_t seq)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < spool->segments_count; i++)
		spool_segment_forget(spool->segments[i], stream, seq);
	for (uint32_t i = 0; i < holes->gaps.count; i++) {
		struct spool_gap g = holes->gaps.at[i];

		if (g.stream == stream && g.first >= seq)
			continue;
		if (g.stream == stream && g.last >= seq)
			g.last = seq - 1;
		holes->gaps.at[kept++] = g;
	}
	holes->gaps.count = kept;
}

void
spool_holes_see(struct spool_holes *holes, struct spool *spool,
    const struct spool_segment *segment, const struct spool_frame *frame)
{
	struct trail *t = &holes->trails[frame->stream];
	uint64_t acked = spool->streams[frame->stream]->acked;
	uint64_t chain_after = (t->seen > acked ? t->seen : acked) + 1;

	if (frame->type == SPOOL_GAP) {
		struct spool_gap gap = { frame->seq, frame->last_seq,
			frame->chain, segment->number, segment->number,
			frame->stream, frame->reason };

		spool_note_gap(spool, &gap);
	} else if (frame->seq <= t->seen) {
		withdraw(holes, spool, frame->stream, frame->seq);
	}
	if (frame->type == SPOOL_BATCH)
		t->chain_after = 0;
	else if (frame->last_seq > t->seen)
		t->chain_after = spool_gap_after(frame);
	if (frame->seq > t->seen)
		add_hole(holes, frame->stream, chain_after, frame->seq - 1);
	t->lost_then = holes->lost;
	if (frame->type == SPOOL_BATCH || frame->last_seq > t->seen)
		t->seen = frame->last_seq;
}

/* The next number of the stream. */
static void
resume(struct spool *spool, uint32_t i, const struct trail *t)
{
	struct spool_stream *s = spool->streams[i];
	uint64_t chain = 0;

	s->next = (t->seen > s->acked ? t->seen : s->acked) + 1;
	if (s->next == t->seen + 1)
		chain = spool_chain_after(spool, i, t->seen);
	if (chain == 0 && s->next == t->seen + 1)
		chain = t->chain_after;
	if (chain == 0 && s->next == s->saved + 1)
		chain = s->saved_chain;
	/* After a gap any value does that no other spool has. */
	if (chain == 0 && s->next > 1)
		hash_random_bytes(&chain, sizeof(chain));
	s->chain = chain;
	s->committed = s->next;
	s->committed_chain = s->chain;
}

/* The largest count of numbers that a stream may have used and lost. */
static uint64_t
unknown(const struct spool_holes *holes, uint32_t i, enum spool_found acked)
{
	const struct trail *t = &holes->trails[i];

	if (acked == SPOOL_UNREADABLE && t->seen == 0)
		return SKIP_ALL;
	if (holes->all_counted && holes->numbers == holes->counted)
		return 0;
	return holes->lost - t->lost_then;
}

/* Drop holes that gap frames cover; give the others the running hash before
 * them. */
static struct spool_gap *
finish(struct spool_holes *holes, struct spool *spool, uint32_t *count)
{
	struct spool_gap *list = NULL;
	struct spool_gaps *gaps = &holes->gaps;

	*count = 0;
	if (gaps->count == 0)
		return NULL;
	list = memory_zero(gaps->count, sizeof(*list));
	for (uint32_t i = 0; i < gaps->count; i++) {
		struct spool_gap g = gaps->at[i];
		const struct spool_gap *known;

		while ((known = spool_gaps_find(
			    &spool->gaps, g.stream, g.first)) != NULL &&
		       g.first <= g.last)
			g.first = known->last + 1;
		if (g.first > g.last)
			continue;
		g.chain = spool_chain(spool, g.stream, g.first);
		list[(*count)++] = g;
	}
	return list;
}

/* On a full disk only memory has the gaps, until the next start finds them
 * again. */
static void
note_only(struct spool *spool, const struct spool_gap *list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct spool_gap g = list[i];
		struct spool_stream *s = spool->streams[g.stream];

		g.low = 1;
		g.high = 0;
		spool_gaps_add(&spool->gaps, &g);
		spool->counters->gaps++;
		if (g.last < s->next)
			continue;
		s->next = s->committed = g.last + 1;
		hash_random_bytes(&s->chain, sizeof(s->chain));
		s->committed_chain = s->chain;
	}
}

int
spool_holes_close(struct spool_holes *holes, struct spool *spool,
    enum spool_found acked, struct err *err)
{
	enum spool_result result = SPOOL_OK;
	struct spool_gap *list;
	uint32_t count;

	for (uint32_t i = 0; i < spool->streams_count; i++) {
		struct spool_stream *s = spool->streams[i];
		uint64_t skip = unknown(holes, i, acked);

		resume(spool, i, &holes->trails[i]);
		if (skip > 0)
			add_hole(holes, i, s->next, s->next + skip - 1);
	}
	list = finish(holes, spool, &count);
	if (count > 0)
		result = spool_append_gaps(spool, list, count, err);
	if (result == SPOOL_FULL)
		note_only(spool, list, count);
	free(list);
	return result == SPOOL_IO ? -1 : result == SPOOL_OK;
}
