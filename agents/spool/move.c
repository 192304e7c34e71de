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
#include <string.h>

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
	static unsigned char body[SPOOL_BATCH_BYTES_MAX];
	struct spool_batch copy = *batch;
	uint64_t seq;

	memcpy(body, batch->body.at, batch->body.bytes);
	copy.body.at = (const char *)body;
	return spool_append_batch(spool, to, &copy, origin_seq, &seq, err);
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
	spool->acked_stale = true;
}

enum spool_result
spool_move(struct spool *spool, uint32_t stream, uint32_t *to, struct err *err)
{
	struct spool_stream *from = spool->streams[stream];
	enum spool_result result = SPOOL_OK;
	struct spool_batch batch;
	uint64_t moved, seq;
	uint32_t bytes = 0;

	assert(!from->current);
	if (spool_stream(spool, text_of(from->partition), to, err) != 0)
		return SPOOL_FULL;
	cut(spool, from);
	moved = from->moved_upto;
	spool->origin = from->session;
	for (seq = moved + 1;
	     result == SPOOL_OK && bytes < SPOOL_COMMIT_BYTES_MAX / 2 &&
	     read_next(spool, stream, seq, &batch, err);
	     seq = batch.last_seq + 1) {
		if (batch.reason != WIRE_REASON_NONE) {
			move_gap(spool, *to, &batch);
		} else {
			result = move_batch(spool, *to, &batch, seq, err);
			bytes += batch.body.bytes;
			spool->counters->moved += result == SPOOL_OK;
		}
		if (result == SPOOL_OK)
			moved = batch.last_seq;
	}
	if (result != SPOOL_IO && spool_commit(spool, err) != SPOOL_OK)
		result = SPOOL_IO;
	if (result != SPOOL_IO)
		from->moved_upto = moved;
	return result;
}
