/*
 * spool_move - continue batches under the current session.
 *
 * The aggregator has other content under their numbers, because the machine
 * was copied while it ran.  Each moved batch says which number it had, so that
 * a crash at any point neither loses nor repeats it.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/spool_private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/wire/wire.h"

/* Numbers that were lost are lost under the current session, too. */
static void
move_gap(struct spool *spool, uint32_t to, const struct spool_batch *batch)
{
	struct spool_stream *s = spool->streams[to];
	struct spool_gap gap = { .first = s->next,
		.last = s->next + (batch->last_seq - batch->seq),
		.stream = to,
		.reason = batch->reason };

	if (!spool_gaps_add(&spool->gaps, &gap))
		return;
	s->next = gap.last + 1;
	/* A value that no other session has. */
	hash_random_bytes(&s->chain, sizeof(s->chain));
}

/* Copy the batch: the view into the window ends when the writer commits. */
static enum spool_result
move_batch(struct spool *spool, uint32_t to, const struct spool_batch *batch,
    uint64_t origin_seq, struct err *err)
{
	unsigned char *body = memory_alloc(batch->body.bytes);
	struct spool_batch copy = *batch;
	enum spool_result result;
	uint64_t seq;

	memcpy(body, batch->body.at, batch->body.bytes);
	copy.body.at = (const char *)body;
	result = spool_append_batch(spool, to, &copy, origin_seq, &seq, err);
	free(body);
	return result;
}

/* What `from` has under `seq`; false at its end.  What cannot be read is
 * lost. */
static bool
read_next(struct spool *spool, uint32_t from, uint64_t seq,
    struct spool_batch *batch, struct err *err)
{
	int there = spool_read_any(spool, from, seq, batch, err);

	if (there < 0)
		*batch = (struct spool_batch){
			.seq = seq, .last_seq = seq, .reason = WIRE_GAP_DAMAGED
		};
	return there != 0;
}

/* The stream ends before its first unacknowledged number. */
static void
cut(struct spool *spool, struct spool_stream *from)
{
	if (from->moved_from > 0)
		return;
	from->moved_from = from->acked + 1;
	from->moved_upto = from->acked;
	from->rest = from->committed;
	from->committed = from->next = from->moved_from;
	spool->acked_stale = SPOOL_SLOTS;
}

/* What is being moved of a stream: low .. upto are moved. */
struct move {
	struct spool_stream *from;
	uint32_t stream, to;
	uint64_t low, upto;
	bool downwards; /* the numbers below `low`, too */
	uint32_t bytes; /* so far */
};

/* The next number to move; false: all are.  Those below a number that was
 * moved already (the store lost what it had acknowledged of them, and a copy
 * was faster again) come last, the highest first, so that after a crash the
 * numbers that were moved are still without a hole.  A move that is only
 * continued leaves them: ACKED may lag, and the store may have them. */
static bool
find_next(struct spool *spool, struct move *m, struct spool_batch *batch,
    struct err *err)
{
	if (read_next(spool, m->stream, m->upto + 1, batch, err))
		return true;
	if (!m->downwards || m->low == m->from->acked + 1)
		return false;
	read_next(spool, m->stream, m->low - 1, batch, err);
	batch->last_seq = batch->seq;
	return true;
}

static enum spool_result
move_next(struct spool *spool, struct move *m, const struct spool_batch *batch,
    struct err *err)
{
	uint64_t seq = batch->seq, last = batch->last_seq;
	uint32_t bytes = batch->body.bytes;

	if (batch->reason != WIRE_REASON_NONE) {
		move_gap(spool, m->to, batch);
	} else {
		enum spool_result result =
		    move_batch(spool, m->to, batch, seq, err);

		if (result != SPOOL_OK)
			return result;
		spool->counters->moved++;
	}
	m->bytes += bytes;
	if (seq < m->low)
		m->low = seq;
	if (last > m->upto)
		m->upto = last;
	return SPOOL_OK;
}

enum spool_result
spool_move(struct spool *spool, uint32_t stream, uint32_t *to, struct err *err)
{
	struct spool_stream *from = spool->streams[stream];
	struct move m = { .from = from, .stream = stream };
	enum spool_result result = SPOOL_OK;
	struct spool_batch batch;

	assert(!from->current);
	if (spool_stream(spool, text_of(from->partition), to, err) != 0)
		return SPOOL_FULL;
	cut(spool, from);
	m.to = *to;
	m.low = from->moved_from;
	m.upto = from->moved_upto;
	m.downwards = !spool_is_to_move(spool, stream);
	spool->origin = from->session;
	while (result == SPOOL_OK && m.bytes < SPOOL_COMMIT_BYTES_MAX / 2 &&
	       find_next(spool, &m, &batch, err))
		result = move_next(spool, &m, &batch, err);
	if (result != SPOOL_IO && spool_commit(spool, err) != SPOOL_OK)
		result = SPOOL_IO;
	/* After an error it is as the commits that succeeded noted it. */
	if (result != SPOOL_IO) {
		from->moved_from = m.low;
		from->moved_upto = m.upto;
		/* Gaps alone need no commit. */
		spool->streams[m.to]->committed = spool->streams[m.to]->next;
		spool->streams[m.to]->committed_chain =
		    spool->streams[m.to]->chain;
	}
	from->committed = from->next = from->moved_from;
	return result;
}
