/*
 * spool_write - adds batches and gaps to the commit buffer, and makes room for
 * them.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/spool_private.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/hash/crc32c.h"

/* Continue in `segment`; a new one begins with the seals that older segments
 * could not get. */
static void
begin_part(struct spool *spool, struct spool_segment *segment)
{
	struct spool_writer *w = &spool->writer;

	w->parts[w->parts_count++] = (struct spool_part){ .segment = segment,
		.from = w->used,
		.start = segment->end,
		.frames = segment->frames,
		.crcs = segment->crcs };
	if (segment != spool->spare)
		return;
	for (uint32_t i = 0; i < spool->cuts_count; i++) {
		const struct spool_cut *c = &spool->cuts[i];

		spool_put_seal(spool, c->number, c->end, c->frames, c->crcs);
	}
}

static bool
fits(const struct spool_segment *segment, uint32_t end, uint32_t span,
    enum spool_type type)
{
	/* The reserve is for gaps, the last frame's room for the seal. */
	uint32_t reserved =
	    SPOOL_FRAME_BYTES + (type == SPOOL_GAP ? 0 : SPOOL_RESERVE_BYTES);

	return segment->size >= reserved && segment->size - reserved >= end &&
	       span <= segment->size - reserved - end;
}

/* A spare that is too small would obstruct recovery. */
static void
discard_spare(struct spool *spool)
{
	char name[SPOOL_NAME_BYTES];

	if (spool->spare == NULL)
		return;
	spool_segment_name(name, spool->spare->number);
	unlinkat(spool->dir, name, 0);
	spool_drop_segment(spool, spool->spare);
}

static enum spool_result
have_spare(
    struct spool *spool, uint32_t span, enum spool_type type, struct err *err)
{
	uint32_t begin =
	    SPOOL_HEAD_BYTES + spool->cuts_count * SPOOL_FRAME_BYTES;
	enum spool_result result;

	if (spool->spare != NULL && fits(spool->spare, begin, span, type))
		return SPOOL_OK;
	discard_spare(spool);
	result = spool_make_spare(spool, span, err);
	if (result == SPOOL_IO)
		spool_fail(spool, 0);
	return result;
}

/* Change from the full segment, if there is one, to the spare. */
static void
switch_to_spare(struct spool *spool)
{
	struct spool_part *part;

	if (spool->writer.parts_count == 0 && spool->active != NULL)
		begin_part(spool, spool->active);
	part = spool_current(spool);
	if (part != NULL)
		spool_put_seal(spool, part->segment->number,
		    part->start + part->used, part->frames, part->crcs);
	begin_part(spool, spool->spare);
}

/* Make room for a frame in the current part. */
static enum spool_result
reserve(
    struct spool *spool, uint32_t span, enum spool_type type, struct err *err)
{
	struct spool_part *part = spool_current(spool);
	uint32_t seals = (1 + SPOOL_PARTS) * SPOOL_FRAME_BYTES;
	bool buffer_is_full =
	    spool->writer.used + span > SPOOL_COMMIT_BYTES_MAX - seals;
	enum spool_result result;

	if (part != NULL && !buffer_is_full &&
	    fits(part->segment, part->start + part->used, span, type))
		return SPOOL_OK;
	/* One commit ends at most one segment. */
	if (part != NULL && (buffer_is_full || part->segment == spool->spare)) {
		result = spool_commit(spool, err);
		return result == SPOOL_OK ? reserve(spool, span, type, err)
					  : result;
	}
	if (part == NULL && spool->active != NULL &&
	    fits(spool->active, spool->active->end, span, type)) {
		begin_part(spool, spool->active);
		return SPOOL_OK;
	}
	result = have_spare(spool, span, type, err);
	if (result == SPOOL_OK)
		switch_to_spare(spool);
	return result;
}

enum spool_result
spool_append_frame(struct spool *spool, struct spool_frame *frame,
    const void *body, struct err *err)
{
	enum spool_result result;

	if (spool->broken) {
		err_set(err, "the spool's disk failed twice; the spool accepts "
			     "nothing more");
		return SPOOL_IO;
	}
	result = reserve(spool, spool_span(frame->bytes), frame->type, err);
	if (result == SPOOL_OK)
		spool_put(spool, frame, body);
	return result;
}

enum spool_result
spool_append(struct spool *spool, uint32_t stream,
    const struct spool_batch *batch, bool urgent, uint64_t *seq,
    struct err *err)
{
	struct spool_stream *s;
	uint32_t span = spool_span(batch->body.bytes);
	uint64_t most = spool->options.bytes_max / 8 * 7;
	struct spool_frame frame = { .type = SPOOL_BATCH,
		.bytes = batch->body.bytes,
		.codec = batch->codec,
		.stream = stream,
		.records = batch->records,
		.body_bytes = batch->body_bytes };
	enum spool_result result;

	assert(stream < spool->streams_count);
	assert(batch->body.bytes <= SPOOL_BATCH_BYTES_MAX);
	s = spool->streams[stream];
	if (!urgent && spool_used_bytes(spool) + span > most) {
		if (spool_reclaim(spool, spool->options.bytes_max / 8, err) !=
		    0) {
			spool_fail(spool, 0);
			return SPOOL_IO;
		}
		if (spool_used_bytes(spool) + span > most) {
			err_set(err,
			    "the spool has %" PRIu64 " of %" PRIu64
			    " bytes in use; the last eighth is reserved for "
			    "events",
			    spool_used_bytes(spool), spool->options.bytes_max);
			return SPOOL_FULL;
		}
	}
	/* Assign numbers only after reserve(): it may commit, and a commit
	 * that fails withdraws numbers. */
	result = reserve(spool, span, frame.type, err);
	if (result != SPOOL_OK)
		return result;
	frame.seq = frame.last_seq = s->next;
	frame.chain = s->chain;
	result = spool_append_frame(spool, &frame, batch->body.at, err);
	if (result != SPOOL_OK)
		return result;
	s->chain =
	    hash_chain(s->chain, crc32c(0, batch->body.at, batch->body.bytes),
		batch->body.bytes, batch->records);
	*seq = s->next++;
	return SPOOL_OK;
}

/* A gap replaces a batch. */
static enum spool_result
append_gap(struct spool *spool, const struct spool_gap *gap, struct err *err)
{
	struct spool_frame frame = { .type = SPOOL_GAP,
		.stream = gap->stream,
		.seq = gap->first,
		.last_seq = gap->last,
		.chain = gap->chain,
		.reason = gap->reason };
	struct spool_stream *s = spool->streams[gap->stream];
	enum spool_result result = spool_append_frame(spool, &frame, NULL, err);

	/* At the end of the stream: the next batch follows it, with a running
	 * hash that nobody else has. */
	if (result == SPOOL_OK && gap->last >= s->next) {
		s->next = gap->last + 1;
		s->chain = spool_gap_after(&frame);
	}
	return result;
}

bool
spool_note_gap(struct spool *spool, const struct spool_gap *gap)
{
	if (spool_gaps_add(&spool->gaps, gap))
		return true;
	for (uint32_t i = 0; i < spool->streams_count; i++)
		spool_gaps_forget(&spool->gaps, i, spool->streams[i]->acked);
	return spool_gaps_add(&spool->gaps, gap);
}

enum spool_result
spool_append_gaps(struct spool *spool, const struct spool_gap *gaps,
    uint32_t count, struct err *err)
{
	enum spool_result result = SPOOL_OK;
	uint64_t low = UINT64_MAX;

	for (uint32_t i = 0; i < count && result == SPOOL_OK; i++) {
		result = append_gap(spool, &gaps[i], err);
		if (result == SPOOL_OK && i == 0)
			low = spool->writer.parts[0].segment->number;
	}
	if (result == SPOOL_OK)
		result = spool_commit(spool, err);
	for (uint32_t i = 0; i < count && result == SPOOL_OK; i++) {
		struct spool_gap known = gaps[i];

		known.low = low;
		known.high = spool->active->number;
		spool->counters->gaps++;
		if (!spool_note_gap(spool, &known)) {
			err_set(err, "the spool has %d gaps, the maximum",
			    SPOOL_GAPS_MAX);
			result = SPOOL_FULL;
		}
	}
	return result;
}
