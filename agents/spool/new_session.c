/*
 * spool_new_session - continues under another session.
 *
 * It copies the unacknowledged batches into segments of the new session,
 * changes META in one step, and deletes the old segments.  A crash before the
 * step leaves copies that do not count, a crash after it old segments that are
 * not needed; META names both sessions.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/spool_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/wire/wire.h"

static int
copy_batch(struct spool *to, uint32_t stream, const struct spool_batch *batch,
    struct err *err)
{
	uint64_t seq;

	if (batch->reason != 0) {
		struct spool_gap gap = { .first = to->streams[stream]->next,
			.chain = to->streams[stream]->chain,
			.stream = stream,
			.reason = batch->reason };

		gap.last = gap.first + (batch->last_seq - batch->seq);
		return spool_append_gaps(to, &gap, 1, err) == SPOOL_OK ? 0 : -1;
	}
	return spool_append(to, stream, batch, true, &seq, err) == SPOOL_OK
		   ? 0
		   : -1;
}

/* Batches that are missing or damaged now become gaps. */
static int
copy_stream(struct spool *from, struct spool *to, uint32_t stream, uint64_t seq,
    struct err *err)
{
	uint64_t oldest = spool_oldest(from, stream);

	while (seq < from->streams[stream]->committed) {
		struct spool_batch batch;

		if (spool_read(from, stream, seq, &batch, err) != 1)
			batch = (struct spool_batch){ .seq = seq,
				.last_seq = seq < oldest ? oldest - 1 : seq,
				.reason = WIRE_GAP_DAMAGED };
		if (copy_batch(to, stream, &batch, err) != 0)
			return -1;
		seq = batch.last_seq + 1;
	}
	return spool_commit(to, err) == SPOOL_OK ? 0 : -1;
}

static struct spool *
begin(const struct spool *spool)
{
	struct spool *next = spool_new(spool->dir, &spool->options);

	next->meta = spool->meta;
	next->meta.session = spool->meta.next;
	next->next_number = spool->next_number;
	next->acked_counter = spool->acked_counter;
	next->unbounded = true;
	next->past_sessions = spool->past_sessions;
	for (uint32_t i = 0; i < spool->streams_count; i++)
		spool_add_stream(next, spool->streams[i]->partition,
		    (uint32_t)strlen(spool->streams[i]->partition));
	return next;
}

static void
unlink_segments(const struct spool *spool)
{
	char name[SPOOL_NAME_BYTES];

	for (uint32_t i = 0; i < spool->segments_count; i++)
		unlinkat(spool->dir,
		    spool_segment_name(name, spool->segments[i]->number), 0);
	fsync(spool->dir);
}

/* The copy replaces the original; directory and lock stay. */
static void
replace(struct spool *spool, struct spool *next)
{
	struct spool old = *spool;
	struct spool_counters kept = *spool->counters;

	next->unbounded = false;
	next->lock = spool->lock;
	*spool = *next;
	*next = old;
	kept.bytes = spool->counters->bytes;
	*spool->counters = kept;
}

int
spool_new_session(
    struct spool *spool, uint32_t stream, uint64_t from_seq, struct err *err)
{
	struct spool *next;
	int rc;

	if (spool_commit(spool, err) != SPOOL_OK)
		return -1;
	session_random(&spool->meta.next);
	rc = spool_meta_save(spool, err);
	if (rc == 0)
		spool_past_sessions_add_current(spool);
	next = begin(spool);
	for (uint32_t i = 0; i < spool->streams_count && rc == 0; i++) {
		uint64_t first =
		    i == stream ? from_seq : spool->streams[i]->acked + 1;

		rc = copy_stream(spool, next, i, first > 0 ? first : 1, err);
	}
	if (rc == 0) {
		next->meta.previous = spool->meta.session;
		memset(&next->meta.next, 0, sizeof(next->meta.next));
		rc = spool_meta_save(next, err);
		/* It is unknown which META is on disk: both may be needed. */
		spool->broken = rc != 0;
	}
	if (rc == 0)
		replace(spool, next);
	/* Now `next` has the segments to delete: the old ones, or the
	 * copies. */
	if (!spool->broken)
		unlink_segments(next);
	if (rc != 0) {
		memset(&spool->meta.next, 0, sizeof(spool->meta.next));
		spool->next_number = next->next_number;
	}
	spool_clear(next);
	free(next);
	return rc;
}
