/*
 * spool_commit - the commit buffer: collects frames and writes them with one
 * write and one sync for each segment.
 *
 * The buffer holds the bytes as they will be in one segment, or at the end of
 * one and the beginning of the next.  A segment whose sync failed is never
 * written to again: the part of it that is on disk is unknown, and another
 * sync would report success for all of it.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/spool_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/hash/crc32c.h"
#include "proto/base/memory.h"

enum { ROOM_FIRST = 16 << 10 };

struct spool_part *
spool_current(struct spool *spool)
{
	struct spool_writer *w = &spool->writer;

	return w->parts_count > 0 ? &w->parts[w->parts_count - 1] : NULL;
}

static unsigned char *
grow(struct spool_writer *w, uint32_t span)
{
	uint32_t room = w->room > 0 ? w->room : ROOM_FIRST;

	while (room < w->used + span)
		room *= 2;
	if (room != w->room) {
		w->at = memory_resize(w->at, room);
		w->room = room;
	}
	return w->at + w->used;
}

/* After a commit that used less than a quarter, release half of the buffer. */
static void
shrink(struct spool_writer *w, uint32_t used)
{
	if (w->room > ROOM_FIRST && used < w->room / 4) {
		unsigned char *less = realloc(w->at, w->room / 2);

		if (less != NULL) {
			w->at = less;
			w->room /= 2;
		}
	}
}

void
spool_put(struct spool *spool, struct spool_frame *frame, const void *body)
{
	struct spool_part *part = spool_current(spool);
	uint32_t span = spool_span(frame->bytes);
	unsigned char crc[4];

	frame->back = part->used;
	spool_put_frame(
	    grow(&spool->writer, span), part->segment->salt, frame, body);
	spool_put32(crc, frame->crc);
	part->crcs = crc32c(part->crcs, crc, 4);
	part->frames++;
	part->used += span;
	spool->writer.used += span;
}

void
spool_put_seal(struct spool *spool, uint64_t number, uint32_t end,
    uint32_t frames, uint32_t crcs)
{
	struct spool_frame seal = { .type = SPOOL_SEAL,
		.seq = number,
		.last_seq = end,
		.records = frames,
		.chain = crcs };

	spool_put(spool, &seal, NULL);
}

/* Add the frames that are now on disk to the index. */
static void
note_part(struct spool *spool, const struct spool_part *part)
{
	const unsigned char *at = spool->writer.at + part->from;
	struct spool_segment *segment = part->segment;
	struct spool_frame f;

	for (uint32_t o = 0; o < part->used; o += spool_span(f.bytes)) {
		uint32_t offset = part->start + o, stream;
		struct spool_stream *s;

		if (!spool_peek_frame(at + o, offset, segment->size, &f))
			abort(); /* a frame of our own */
		if (f.type == SPOOL_SEAL && f.seq < segment->number &&
		    (segment->cuts == 0 || f.seq < segment->cuts))
			segment->cuts = f.seq;
		if (!spool_is_batch(&f))
			continue;
		stream = spool_find_stream(spool, &spool->session, f.stream);
		spool_segment_note(segment, stream, offset, &f);
		spool_note_moved(spool, segment, stream, &f);
		spool->counters->appended++;
		spool->counters->appended_bytes += spool_span(f.bytes);
		s = spool->streams[stream];
		/* Replace a remembered place only by one that the reader needs
		 * soon. */
		if (f.seq - s->acked <= SPOOL_POSITIONS)
			spool_position_put(
			    s->positions, f.seq, segment->number, offset);
	}
	segment->end = part->start + part->used;
	segment->frames = part->frames;
	segment->crcs = part->crcs;
}

static void
succeed(struct spool *spool)
{
	struct spool_writer *w = &spool->writer;
	uint32_t used = w->used;

	for (uint32_t i = 0; i < w->parts_count; i++) {
		struct spool_segment *segment = w->parts[i].segment;

		note_part(spool, &w->parts[i]);
		if (segment != spool->spare)
			continue;
		if (spool->active != NULL) {
			close(spool->active->fd);
			spool->active->fd = -1;
		}
		spool->active = segment;
		spool->spare = NULL;
		spool->cuts_count = 0;
		spool_note_ends(spool, segment->number);
	}
	for (uint32_t i = 0; i < spool->streams_count; i++) {
		struct spool_stream *s = spool->streams[i];

		if (s == NULL || !s->current)
			continue;
		s->committed = s->next;
		s->committed_chain = s->chain;
	}
	w->used = w->parts_count = 0;
	shrink(w, used);
	spool->failures = 0;
	spool->counters->commits++;
}

static void
abandon(struct spool *spool, struct spool_segment *segment)
{
	if (spool->cuts_count < SPOOL_PARTS)
		spool->cuts[spool->cuts_count++] =
		    (struct spool_cut){ segment->number, segment->end,
			    segment->frames, segment->crcs };
	close(segment->fd);
	segment->fd = -1;
	if (segment == spool->spare)
		spool->spare = NULL;
	if (segment == spool->active)
		spool->active = NULL;
}

void
spool_fail(struct spool *spool, uint32_t parts)
{
	struct spool_writer *w = &spool->writer;

	spool->counters->io_errors++;
	if (++spool->failures >= 2)
		spool->broken = true;
	for (uint32_t i = 0; i < parts; i++)
		abandon(spool, w->parts[i].segment);
	w->used = w->parts_count = 0;
	for (uint32_t i = 0; i < spool->streams_count; i++) {
		struct spool_stream *s = spool->streams[i];

		if (s == NULL || !s->current)
			continue;
		s->next = s->committed;
		s->chain = s->committed_chain;
	}
	/* The numbers that were lost are never used again. */
	spool_new_session(spool);
}

/* 0: it is on disk, and somebody who opens the spool next finds it there. */
static int
write_part(const struct spool *spool, const struct spool_part *p)
{
	struct stat st;

	if (file_io_write_all(p->segment->fd, spool->writer.at + p->from,
		p->used, p->start) != 0 ||
	    fdatasync(p->segment->fd) != 0 || fstat(p->segment->fd, &st) != 0)
		return errno;
	return st.st_nlink > 0 ? 0 : ENOENT;
}

enum spool_result
spool_commit(struct spool *spool, struct err *err)
{
	struct spool_writer *w = &spool->writer;

	if (spool->broken) {
		err_set(err, "the spool's disk failed twice; the spool accepts "
			     "nothing more");
		return SPOOL_IO;
	}
	for (uint32_t i = 0; i < w->parts_count; i++) {
		int why = write_part(spool, &w->parts[i]);

		if (why == 0)
			continue;
		err_set(err, "segment %" PRIu64 ": %s",
		    w->parts[i].segment->number,
		    why == ENOENT ? "the file was removed" : strerror(why));
		spool_fail(spool, i + 1);
		return SPOOL_IO;
	}
	if (w->parts_count > 0)
		succeed(spool);
	return SPOOL_OK;
}
