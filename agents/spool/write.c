/*
 * spool_write - adds batches to the commit buffer, and makes room for them.
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
 * could not get, a new session with the ends of earlier streams, too. */
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
	spool_put_ends(spool);
}

/* The last frame's room is for the seal.  Moved batches need a segment that
 * says where they come from. */
static bool
fits(const struct spool *spool, const struct spool_segment *segment,
    uint32_t end, uint32_t span, enum spool_type type)
{
	if (type == SPOOL_MOVED &&
	    !session_equal(&segment->origin, &spool->origin))
		return false;
	return segment->size >= SPOOL_FRAME_BYTES &&
	       segment->size - SPOOL_FRAME_BYTES >= end &&
	       span <= segment->size - SPOOL_FRAME_BYTES - end;
}

static enum spool_result
have_spare(
    struct spool *spool, uint32_t span, enum spool_type type, struct err *err)
{
	uint32_t begin = SPOOL_HEAD_BYTES +
			 spool->cuts_count * SPOOL_FRAME_BYTES +
			 spool_ends_bytes(spool);
	enum spool_result result;

	if (spool->spare != NULL &&
	    fits(spool, spool->spare, begin, span, type))
		return SPOOL_OK;
	/* One that is too small would obstruct recovery. */
	spool_discard_spare(spool);
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
	    fits(spool, part->segment, part->start + part->used, span, type))
		return SPOOL_OK;
	/* One commit ends at most one segment. */
	if (part != NULL && (buffer_is_full || part->segment == spool->spare)) {
		result = spool_commit(spool, err);
		return result == SPOOL_OK ? reserve(spool, span, type, err)
					  : result;
	}
	if (part == NULL && spool->active != NULL &&
	    fits(spool, spool->active, spool->active->end, span, type)) {
		begin_part(spool, spool->active);
		return SPOOL_OK;
	}
	result = have_spare(spool, span, type, err);
	if (result == SPOOL_OK)
		switch_to_spare(spool);
	return result;
}

static bool
is_named(const struct spool_segment *segment, uint32_t local)
{
	return (segment->named[local / 8] >> local % 8 & 1) != 0;
}

/* Make room for a batch of the stream, in a segment that names it. */
static enum spool_result
reserve_named(struct spool *spool, const struct spool_stream *s, uint32_t span,
    enum spool_type type, struct err *err)
{
	uint32_t bytes = (uint32_t)strlen(s->partition);
	struct spool_frame name = {
		.type = SPOOL_STREAM, .bytes = bytes, .stream = s->local
	};
	const struct spool_part *part = spool_current(spool);
	enum spool_result result;

	/* The segment may be another one afterwards, but then it is new. */
	result = reserve(spool, span + spool_span(bytes), type, err);
	part = spool_current(spool);
	if (result != SPOOL_OK || is_named(part->segment, s->local))
		return result;
	spool_put(spool, &name, s->partition);
	spool_current(spool)->segment->named[s->local / 8] |=
	    (unsigned char)(1 << s->local % 8);
	return SPOOL_OK;
}

/* Samples leave the last eighth of the bound to others. */
static enum spool_result
leave_reserve(struct spool *spool, uint32_t span, struct err *err)
{
	uint64_t most = spool->options.bytes_max / 8 * 7;

	if (spool_used_bytes(spool) + span <= most)
		return SPOOL_OK;
	if (spool_reclaim(spool, spool->options.bytes_max / 8, err) != 0) {
		spool_fail(spool, 0);
		return SPOOL_IO;
	}
	if (spool_used_bytes(spool) + span <= most)
		return SPOOL_OK;
	err_set(err,
	    "the spool has %" PRIu64 " of %" PRIu64
	    " bytes in use; the last eighth is reserved for events",
	    spool_used_bytes(spool), spool->options.bytes_max);
	return SPOOL_FULL;
}

enum spool_result
spool_append_batch(struct spool *spool, uint32_t stream,
    const struct spool_batch *batch, uint64_t origin_seq, uint64_t *seq,
    struct err *err)
{
	struct spool_stream *s = spool->streams[stream];
	struct spool_frame frame = {
		.type = origin_seq > 0 ? SPOOL_MOVED : SPOOL_BATCH,
		.bytes = batch->body.bytes,
		.codec = batch->codec,
		.stream = s->local,
		.records = batch->records,
		.body_bytes = batch->body_bytes,
	};
	enum spool_result result;

	if (spool->broken) {
		err_set(err, "the spool's disk failed twice; the spool accepts "
			     "nothing more");
		return SPOOL_IO;
	}
	/* Assign numbers only afterwards: it may commit, and a commit that
	 * fails ends the session. */
	result = reserve_named(
	    spool, s, spool_span(batch->body.bytes), frame.type, err);
	if (result != SPOOL_OK)
		return result;
	frame.seq = s->next;
	frame.last_seq = origin_seq > 0 ? origin_seq : s->next;
	frame.chain = s->chain;
	spool_put(spool, &frame, batch->body.at);
	s->chain =
	    hash_chain(s->chain, crc32c(0, batch->body.at, batch->body.bytes),
		batch->body.bytes, batch->records);
	*seq = s->next++;
	return SPOOL_OK;
}

enum spool_result
spool_append(struct spool *spool, uint32_t stream,
    const struct spool_batch *batch, bool urgent, uint64_t *seq,
    struct err *err)
{
	enum spool_result result = SPOOL_OK;

	assert(stream < spool->streams_count);
	assert(batch->body.bytes <= SPOOL_BATCH_BYTES_MAX);
	if (!spool->streams[stream]->current) {
		err_set(err, "the session of this batch has ended");
		return SPOOL_IO;
	}
	if (!urgent)
		result =
		    leave_reserve(spool, spool_span(batch->body.bytes), err);
	if (result != SPOOL_OK)
		return result;
	return spool_append_batch(spool, stream, batch, 0, seq, err);
}
