/*
 * spool_ends - where the streams of earlier sessions end.
 *
 * A session begins with an end frame for each stream of an earlier session
 * that is not done; the session behind it repeats them.  So what is lost of
 * such a stream with its segments is known exactly, whatever is left of them.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/spool_private.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

/* The first commit has room for them and for a batch, and so has a segment. */
enum { ENDS_BYTES_MAX = 64 << 10 };
/* Two sessions say it: one segment may be damaged. */
enum { COPIES = 2 };

/* ---- writing ---- */

/* The next stream at or behind `i` that gets an end frame, which has room in
 * `*left` bytes. */
static uint32_t
next_due(const struct spool *spool, uint32_t i, uint32_t *left, uint32_t *span)
{
	for (; i < spool->streams_count && spool->ends_due; i++) {
		const struct spool_stream *s = spool->streams[i];

		if (s == NULL || s->current || s->ended >= COPIES ||
		    spool_is_done_with(s, spool_end_of(s) - 1))
			continue;
		*span = spool_span((
		    uint32_t)(sizeof(s->session.bytes) + strlen(s->partition)));
		if (*span > *left)
			break;
		*left -= *span;
		return i;
	}
	return spool->streams_count;
}

static uint32_t
most_bytes(const struct spool *spool)
{
	uint64_t quarter = spool->options.segment_bytes / 4;

	return quarter < ENDS_BYTES_MAX ? (uint32_t)quarter : ENDS_BYTES_MAX;
}

uint32_t
spool_ends_bytes(const struct spool *spool)
{
	uint32_t left = most_bytes(spool), i = 0, span, bytes = 0;

	while ((i = next_due(spool, i, &left, &span)) < spool->streams_count) {
		bytes += span;
		i++;
	}
	return bytes;
}

void
spool_put_ends(struct spool *spool)
{
	unsigned char body[sizeof(struct session_id) + NAME_BYTES_MAX];
	uint32_t left = most_bytes(spool), i = 0, span;

	while ((i = next_due(spool, i, &left, &span)) < spool->streams_count) {
		const struct spool_stream *s = spool->streams[i++];
		uint32_t name = (uint32_t)strlen(s->partition);
		struct spool_frame end = { .type = SPOOL_END,
			.bytes = (uint32_t)sizeof(s->session.bytes) + name,
			.stream = s->local,
			.seq = spool_end_of(s) };

		memcpy(body, s->session.bytes, sizeof(s->session.bytes));
		memcpy(body + sizeof(s->session.bytes), s->partition, name);
		spool_put(spool, &end, body);
	}
}

void
spool_note_ends(struct spool *spool, uint64_t number)
{
	uint32_t left = most_bytes(spool), i = 0, span;

	while ((i = next_due(spool, i, &left, &span)) < spool->streams_count) {
		spool->streams[i]->ended++;
		spool->streams[i++]->ended_in = number;
	}
	spool->ends_due = false;
}

/* ---- reading ---- */

void
spool_ends_read(struct spool_ends *ends, struct spool_scan *scan)
{
	uint32_t offset = SPOOL_HEAD_BYTES;
	const unsigned char *body;
	struct spool_frame f;

	while (spool_scan_next(scan, &offset, &f, &body) &&
	       (f.type == SPOOL_END || f.type == SPOOL_SEAL)) {
		struct spool_end *end;
		uint32_t name;

		offset += spool_span(f.bytes);
		if (f.type == SPOOL_SEAL)
			continue;
		end = MEMORY_ADD(ends->at, ends->room, ends->count);
		*end = (struct spool_end){
			.stream = f.stream, .seq = f.seq, .number = scan->number
		};
		memcpy(end->session.bytes, body, sizeof(end->session.bytes));
		name = f.bytes - (uint32_t)sizeof(end->session.bytes);
		end->partition = memory_zero(1, name + 1);
		memcpy(end->partition, body + sizeof(end->session.bytes), name);
	}
}

const struct spool_end *
spool_ends_find(const struct spool_ends *ends, const struct session_id *session,
    uint32_t stream)
{
	const struct spool_end *found = NULL;

	for (uint32_t i = 0; i < ends->count; i++) {
		const struct spool_end *end = &ends->at[i];

		if (end->stream == stream &&
		    (found == NULL || end->seq > found->seq) &&
		    session_equal(&end->session, session))
			found = end;
	}
	return found;
}

void
spool_ends_name(const struct spool_ends *ends, struct spool *spool)
{
	unsigned char *acked = spool_acked_read(spool);

	for (uint32_t i = 0; i < ends->count && acked != NULL; i++) {
		const struct spool_end *end = &ends->at[i];
		struct text name = text_of(end->partition);
		uint64_t upto;

		/* What ACKED does not list was done. */
		if (text_check_name(name) == TEXT_OK &&
		    spool_acked_lists(
			acked, &end->session, end->stream, &upto) &&
		    upto + 1 < end->seq)
			spool_add_stream(
			    spool, &end->session, end->stream, name);
	}
	free(acked);
}

void
spool_ends_clear(struct spool_ends *ends)
{
	for (uint32_t i = 0; i < ends->count; i++)
		free(ends->at[i].partition);
	free(ends->at);
	*ends = (struct spool_ends){ 0 };
}
