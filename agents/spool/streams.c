/*
 * spool_streams - the streams of the current session and of earlier ones.
 *
 * A stream keeps its number as long as a segment has batches of it.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/spool_private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/wire/wire.h"

/* ---- the table ---- */

static uint32_t
free_number(struct spool *spool)
{
	for (uint32_t i = 0; i < spool->streams_count; i++)
		if (spool->streams[i] == NULL)
			return i;
	MEMORY_GROW(spool->streams, spool->streams_room, spool->streams_count);
	return spool->streams_count++;
}

static uint32_t
add(struct spool *spool, const struct session_id *session, uint32_t local,
    struct text partition)
{
	uint32_t i = free_number(spool);
	struct spool_stream *s = memory_zero(1, sizeof(*s));

	s->session = *session;
	s->local = local;
	s->partition = memory_alloc(partition.bytes + 1);
	memcpy(s->partition, partition.at, partition.bytes);
	s->partition[partition.bytes] = '\0';
	s->next = s->committed = 1;
	spool->streams[i] = s;
	return i;
}

static void
drop(struct spool *spool, uint32_t stream)
{
	spool_gaps_forget(&spool->gaps, stream, UINT64_MAX - 1);
	free(spool->streams[stream]->partition);
	free(spool->streams[stream]);
	spool->streams[stream] = NULL;
}

uint32_t
spool_find_stream(
    const struct spool *spool, const struct session_id *session, uint32_t local)
{
	for (uint32_t i = 0; i < spool->streams_count; i++) {
		const struct spool_stream *s = spool->streams[i];

		if (s != NULL && s->local == local &&
		    session_equal(&s->session, session))
			return i;
	}
	return UINT32_MAX;
}

static uint32_t
find_partition(const struct spool *spool, const struct session_id *session,
    struct text partition)
{
	for (uint32_t i = 0; i < spool->streams_count; i++)
		if (spool->streams[i] != NULL &&
		    session_equal(&spool->streams[i]->session, session) &&
		    text_equal(spool_partition(spool, i), partition))
			return i;
	return UINT32_MAX;
}

void
spool_add_stream(struct spool *spool, const struct session_id *session,
    uint32_t local, struct text partition)
{
	if (spool_find_stream(spool, session, local) == UINT32_MAX &&
	    find_partition(spool, session, partition) == UINT32_MAX)
		add(spool, session, local, partition);
}

uint64_t
spool_end_of(const struct spool_stream *s)
{
	return s->moved_from > 0 ? s->rest : s->committed;
}

bool
spool_is_done_with(const struct spool_stream *s, uint64_t seq)
{
	return seq <= s->acked ||
	       (s->moved_from > 0 && s->acked + 1 >= s->moved_from &&
		   seq <= s->moved_upto);
}

void
spool_note_moved(struct spool *spool, const struct spool_segment *segment,
    uint32_t stream, const struct spool_frame *frame)
{
	for (uint32_t i = 0;
	     frame->type == SPOOL_MOVED && i < spool->streams_count; i++) {
		struct spool_stream *from = spool->streams[i];

		if (from == NULL ||
		    !session_equal(&from->session, &segment->origin) ||
		    strcmp(from->partition,
			spool->streams[stream]->partition) != 0)
			continue;
		if (from->moved_from == 0 || from->moved_from > frame->last_seq)
			from->moved_from = frame->last_seq;
		if (from->moved_upto < frame->last_seq)
			from->moved_upto = frame->last_seq;
	}
}

static bool
has_segment(const struct spool *spool, uint32_t stream)
{
	for (uint32_t i = 0; i < spool->segments_count; i++)
		if (spool_segment_range(spool->segments[i], stream) != NULL)
			return true;
	return false;
}

void
spool_drop_streams(struct spool *spool)
{
	for (uint32_t i = 0; i < spool->streams_count; i++) {
		const struct spool_stream *s = spool->streams[i];

		if (s != NULL && !s->current && !s->held &&
		    spool_is_done_with(s, spool_end_of(s) - 1) &&
		    !has_segment(spool, i)) {
			drop(spool, i);
			spool->acked_stale = SPOOL_SLOTS;
		}
	}
}

/* ---- what callers ask ---- */

int
spool_stream(struct spool *spool, struct text partition, uint32_t *stream,
    struct err *err)
{
	*stream = find_partition(spool, &spool->session, partition);
	if (*stream != UINT32_MAX)
		return 0;
	assert(text_check_name(partition) == TEXT_OK);
	if (spool->locals == SPOOL_STREAMS_MAX)
		return err_set(err, "the spool has %d partitions, the maximum",
		    SPOOL_STREAMS_MAX);
	*stream = add(spool, &spool->session, spool->locals++, partition);
	spool->streams[*stream]->current = true;
	return 0;
}

uint32_t
spool_streams(const struct spool *spool)
{
	return spool->streams_count;
}

struct text
spool_partition(const struct spool *spool, uint32_t stream)
{
	assert(stream < spool->streams_count);
	return spool->streams[stream] != NULL
		   ? text_of(spool->streams[stream]->partition)
		   : (struct text){ NULL, 0 };
}

const struct session_id *
spool_session_of(const struct spool *spool, uint32_t stream)
{
	return &spool->streams[stream]->session;
}

uint32_t
spool_local_number(const struct spool *spool, uint32_t stream)
{
	return spool->streams[stream]->local;
}

uint64_t
spool_generation(const struct spool *spool, uint32_t stream)
{
	return spool->streams[stream]->generation;
}

void
spool_new_session(struct spool *spool)
{
	assert(spool->writer.parts_count == 0);
	spool_discard_spare(spool);
	if (spool->active != NULL) {
		close(spool->active->fd);
		spool->active->fd = -1;
		spool->active = NULL;
	}
	for (uint32_t i = 0; i < spool->streams_count; i++)
		if (spool->streams[i] != NULL)
			spool->streams[i]->current = false;
	session_random(&spool->session);
	spool->ends_due = true;
	spool->locals = 0;
}

/* ---- earlier sessions ---- */

static bool
is_to_send(const struct spool_stream *s)
{
	return !s->current && !s->held &&
	       (!s->settled || !spool_is_done_with(s, spool_end_of(s) - 1));
}

/* The first stream of the oldest session that is to be sent. */
static const struct spool_stream *
find_oldest(const struct spool *spool, bool forbidden)
{
	for (uint32_t i = 0; i < spool->segments_count; i++) {
		const struct spool_segment *segment = spool->segments[i];

		for (uint32_t j = 0; j < segment->ranges_count; j++) {
			const struct spool_stream *s =
			    spool->streams[segment->ranges[j].stream];

			if (s->forbidden == forbidden && is_to_send(s))
				return s;
		}
	}
	/* A stream of which only gaps are left. */
	for (uint32_t i = 0; i < spool->streams_count; i++) {
		const struct spool_stream *s = spool->streams[i];

		if (s != NULL && s->forbidden == forbidden && is_to_send(s))
			return s;
	}
	return NULL;
}

bool
spool_has_session(const struct spool *spool)
{
	return find_oldest(spool, false) != NULL;
}

uint32_t
spool_take_session(struct spool *spool,
    uint32_t streams[static SPOOL_STREAMS_MAX], uint32_t room)
{
	const struct spool_stream *oldest = find_oldest(spool, false);
	uint32_t count = 0;

	for (uint32_t i = 0; i < spool->streams_count && count < room; i++) {
		struct spool_stream *s = spool->streams[i];

		if (s == NULL || !is_to_send(s) ||
		    (oldest != NULL &&
			(s->forbidden ||
			    !session_equal(&s->session, &oldest->session))))
			continue;
		s->held = true;
		s->settled = false;
		streams[count++] = i;
	}
	return count;
}

void
spool_release(struct spool *spool, uint32_t stream)
{
	spool->streams[stream]->held = false;
}

bool
spool_is_settled(const struct spool *spool, uint32_t stream)
{
	const struct spool_stream *s = spool->streams[stream];

	return s->settled && spool_is_done_with(s, spool_end_of(s) - 1);
}

bool
spool_is_to_move(const struct spool *spool, uint32_t stream)
{
	const struct spool_stream *s = spool->streams[stream];

	return s->moved_from > 0 && s->moved_upto + 1 < s->rest;
}

void
spool_welcomed(struct spool *spool, uint32_t stream, uint64_t generation)
{
	struct spool_stream *s = spool->streams[stream];

	for (uint32_t i = 0; i < spool->streams_count; i++) {
		struct spool_stream *other = spool->streams[i];

		if (other != NULL && other != s && !other->current &&
		    other->generation != generation &&
		    strcmp(other->partition, s->partition) == 0)
			other->settled = false;
	}
	if (s->generation != generation)
		spool->acked_stale = SPOOL_SLOTS;
	s->generation = generation;
	s->settled = true;
}

/* ---- what is forbidden ---- */

void
spool_forbid(struct spool *spool, uint32_t stream, bool forbidden)
{
	spool->streams[stream]->forbidden = forbidden;
}

bool
spool_is_forbidden(const struct spool *spool, uint32_t stream)
{
	return spool->streams[stream]->forbidden;
}

bool
spool_has_share(const struct spool *spool, uint32_t stream, uint64_t bytes)
{
	if (!spool->streams[stream]->forbidden)
		return true;
	bytes += spool->writer.used;
	for (uint32_t i = 0; i < spool->segments_count; i++) {
		const struct spool_segment *segment = spool->segments[i];

		for (uint32_t j = 0; j < segment->ranges_count; j++) {
			const struct spool_range *r = &segment->ranges[j];
			const struct spool_stream *s =
			    spool->streams[r->stream];

			if (s->forbidden && !spool_is_done_with(s, r->last))
				bytes += r->bytes;
		}
	}
	return bytes <= spool->options.bytes_max / 4;
}

bool
spool_give_up(struct spool *spool, const struct spool_segment *segment)
{
	for (uint32_t i = 0; i < segment->ranges_count; i++) {
		const struct spool_range *r = &segment->ranges[i];
		struct spool_stream *s = spool->streams[r->stream];
		struct spool_gap gap = {
			.first = r->first > s->acked ? r->first : s->acked + 1,
			.last = r->last,
			.stream = r->stream,
			.reason = WIRE_NACK_FORBIDDEN
		};

		if (spool_is_done_with(s, r->last))
			continue;
		if (!spool_gaps_add(&spool->gaps, &gap))
			return false;
		spool->counters->gaps++;
		spool->counters->given_up += gap.last - gap.first + 1;
	}
	return true;
}

uint64_t
spool_given_up(const struct spool *spool)
{
	return spool->counters->given_up;
}
