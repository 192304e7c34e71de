/*
 * spool_recover - opens the files that a crash or a bad disk left.
 *
 * It reads every segment; only the last one of a session may have a torn tail.
 * Nothing is written: what is found now, the next start finds again.  Rules:
 * proto/spool.md, "Recovery".
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/spool_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/spool/entries.h"
#include "proto/base/memory.h"
#include "proto/wire/wire.h"

/* What was found of a stream. */
struct trail {
	uint64_t seen;      /* the highest number so far */
	uint64_t lost_then; /* recovery->lost when it was seen */
};

struct recovery {
	struct spool_entry *entries;
	uint32_t count;
	struct trail *trails; /* of each stream of the spool */
	uint32_t trails_count;
	struct spool_ends ends;
	/* Of the session that is read: */
	uint64_t lost;    /* bound on damaged frames so far */
	uint64_t counted; /* exact, if seals count them */
	uint64_t numbers; /* in the holes between frames */
	bool all_counted;
};

/* ---- the files ---- */

static int
refuse_format(const struct spool_entry *e, struct err *err)
{
	return err_set(err,
	    "segment %" PRIu64 " has format %" PRIu32
	    "; this program supports format %d: install the version that wrote "
	    "it and let that version send what is in it, or move the directory "
	    "away",
	    e->number, e->format, SPOOL_FORMAT);
}

/* Keep a segment of ours, remove what is none. */
static void
sort_out(struct spool *spool, struct recovery *r, const struct spool_entry *e)
{
	char name[SPOOL_NAME_BYTES];

	if (e->state == SPOOL_ENTRY_EMPTY)
		unlinkat(spool->dir, spool_segment_name(name, e->number), 0);
	else if (e->state == SPOOL_ENTRY_FOREIGN)
		spool_quarantine_move(spool, e->number);
	else
		r->entries[r->count++] = *e;
}

/* All or nothing: an overlooked segment would count as deleted, and a spool of
 * another format stays as it is. */
static int
list_entries(struct spool *spool, struct recovery *r, struct err *err)
{
	struct spool_entry *e;
	uint64_t *numbers;
	uint32_t count;
	int rc = 0;

	if (spool_list(spool->dir, &numbers, &count) != 0) {
		err_set(err, "the directory: %s", strerror(errno));
		free(numbers);
		return -1;
	}
	spool->next_number = spool_quarantine_highest(spool) + 1;
	r->entries = e = memory_zero(count + 1, sizeof(*r->entries));
	for (uint32_t i = 0; i < count && rc == 0; i++) {
		bool is_open = spool_entry_read(spool, numbers[i], e) == 0;

		if ((numbers[i] < SPOOL_NUMBER_FOREIGN ||
			spool_entry_has_frames(e)) &&
		    numbers[i] >= spool->next_number)
			spool->next_number = numbers[i] + 1;
		if (e->format != 0 && e->format != SPOOL_FORMAT)
			rc = refuse_format(e, err);
		if (is_open)
			e++;
	}
	count = (uint32_t)(e - r->entries);
	for (uint32_t i = 0; i < count && rc == 0; i++)
		sort_out(spool, r, &r->entries[i]);
	free(numbers);
	return rc;
}

/* Remove the segments that have no frames.  An unreadable one had some. */
static void
drop_unused(struct spool *spool, struct recovery *r)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < r->count; i++) {
		const struct spool_entry *e = &r->entries[i];
		uint32_t offset = SPOOL_HEAD_BYTES;
		char name[SPOOL_NAME_BYTES];
		struct spool_scan scan;
		struct spool_frame f;
		bool unused = false;
		int fd = -1;

		if (spool_entry_has_frames(e))
			fd = spool_entry_open(spool, e, O_RDONLY, &scan);
		if (fd >= 0) {
			unused = !spool_scan_next(&scan, &offset, &f, NULL) &&
				 spool_file_is_unused(fd, (uint32_t)e->bytes);
			spool_entry_close(spool, fd);
		}
		if (unused)
			unlinkat(
			    spool->dir, spool_segment_name(name, e->number), 0);
		else
			r->entries[kept++] = *e;
	}
	r->count = kept;
}

/* ---- streams and their holes ---- */

static struct trail *
trail_of(struct recovery *r, uint32_t stream)
{
	if (stream >= r->trails_count) {
		r->trails = memory_resize(
		    r->trails, (stream + 1) * sizeof(r->trails[0]));
		memset(r->trails + r->trails_count, 0,
		    (stream + 1 - r->trails_count) * sizeof(r->trails[0]));
		r->trails_count = stream + 1;
	}
	return &r->trails[stream];
}

static void
add_hole(struct spool *spool, uint32_t stream, uint64_t first, uint64_t last)
{
	struct spool_gap hole = { .first = first,
		.last = last,
		.stream = stream,
		.reason = WIRE_GAP_DAMAGED };

	if (spool_gaps_add(&spool->gaps, &hole))
		return;
	/* Too many: the last one of the stream covers everything up to
	 * here. */
	for (uint32_t i = spool->gaps.count; i-- > 0;) {
		if (spool->gaps.at[i].stream != stream)
			continue;
		spool->gaps.at[i].last = last;
		return;
	}
}

/* Numbers below the first frame were acknowledged and deleted, or are lost
 * with a segment: spool_read tells them apart. */
static void
see_batch(struct spool *spool, struct recovery *r,
    struct spool_segment *segment, uint32_t stream, uint32_t offset,
    const struct spool_frame *f)
{
	struct trail *t = trail_of(r, stream);

	if (f->seq <= t->seen)
		return; /* of no honest writer */
	if (t->seen > 0 && f->seq > t->seen + 1) {
		add_hole(spool, stream, t->seen + 1, f->seq - 1);
		r->numbers += f->seq - 1 - t->seen;
	}
	t->seen = f->seq;
	t->lost_then = r->lost;
	spool_segment_note(segment, stream, offset, f);
	spool_note_moved(spool, segment, stream, f);
}

/* Where the frames of a damaged segment name no partition any more, another
 * segment of the session may. */
static void
collect_names(struct spool *spool, const struct recovery *r,
    const struct session_id *session)
{
	for (uint32_t i = 0; i < r->count; i++)
		if (spool_entry_has_frames(&r->entries[i]) &&
		    session_equal(&r->entries[i].head.session, session))
			spool_entry_take_names(spool, &r->entries[i], false);
}

/* Add the frames of a segment to the index. */
static void
take_frames(struct spool *spool, struct recovery *r, struct spool_scan *scan,
    struct spool_segment *segment, const struct spool_extent *x)
{
	uint32_t offset = SPOOL_HEAD_BYTES, expect = offset, stream;
	const unsigned char *body;
	struct spool_frame f;

	while (spool_scan_next(scan, &offset, &f, &body) && offset < x->end) {
		uint32_t skipped = (offset - expect) / SPOOL_FRAME_BYTES;
		struct text name = { (const char *)body, f.bytes };

		if (x->sealed && skipped > x->lost)
			skipped = x->lost;
		r->lost += skipped;
		if (f.type == SPOOL_SEAL && f.seq < segment->number &&
		    (segment->cuts == 0 || f.seq < segment->cuts))
			segment->cuts = f.seq;
		if (f.type == SPOOL_STREAM && text_check_name(name) == TEXT_OK)
			spool_add_stream(
			    spool, &segment->session, f.stream, name);
		stream = spool_is_batch(&f) ? spool_find_stream(spool,
						  &segment->session, f.stream)
					    : UINT32_MAX;
		if (stream != UINT32_MAX)
			see_batch(spool, r, segment, stream, offset, &f);
		else if (spool_is_batch(&f))
			r->lost++; /* of which partition, nobody knows */
		expect = offset += spool_span(f.bytes);
	}
	r->lost += x->tail;
	if (x->damaged) {
		r->counted += x->lost;
		r->all_counted = r->all_counted && x->sealed;
	}
}

/* ---- segments ---- */

/* Write the last commit again: after a sync that failed another one reports
 * success for pages that the kernel gave up. */
static int
write_again(int fd, const struct spool_extent *x)
{
	unsigned char at[4096];
	int rc = 0;

	for (uint32_t o = x->commit, n; o < x->end && rc == 0; o += n) {
		n = x->end - o < sizeof(at) ? x->end - o : sizeof(at);
		rc = file_io_read_all(fd, at, n, o);
		if (rc == 0)
			rc = file_io_write_all(fd, at, n, o);
	}
	return rc == 0 ? fdatasync(fd) : -1;
}

/* What a process that died left in memory only must be on disk before it is
 * sent.  What was allocated behind the last frame is given back. */
static int
settle_last(struct spool *spool, struct spool_segment *segment, int fd,
    const struct spool_extent *x, uint32_t limit, struct err *err)
{
	if (limit == 0 && write_again(fd, x) != 0)
		return err_set(err, "segment %" PRIu64 ": %s", segment->number,
		    strerror(errno));
	if (x->damaged || limit != 0)
		return 0;
	if (x->dirty > x->end)
		spool->counters->torn_bytes += x->dirty - x->end;
	if (x->end < segment->size && ftruncate(fd, x->end) == 0) {
		spool->counters->bytes -= segment->size - x->end;
		segment->size = x->end;
	}
	return 0;
}

static int
take_entry(struct spool *spool, struct recovery *r, uint32_t i, struct err *err)
{
	const struct spool_entry *e = &r->entries[i];
	bool last = spool_entries_is_last(r->entries, r->count, i);
	struct spool_segment *segment;
	struct spool_extent x;
	struct spool_scan scan;
	int fd, rc = 0;

	fd = spool_entry_open(spool, e, last ? O_RDWR : O_RDONLY, &scan);
	if (fd < 0)
		return err_set(
		    err, "segment %" PRIu64 ": %s", e->number, strerror(errno));
	/* With a limit it has no tail: a crash did not end it. */
	spool_scan_extent(&scan, last && e->limit == 0, e->limit, &x);
	segment = spool_segment_new(spool, &e->head, (uint32_t)e->bytes);
	segment->end = x.end;
	segment->frames = x.frames;
	segment->crcs = x.crcs;
	if (x.damaged || e->half)
		spool_quarantine_copy(spool, fd, e->number, (uint32_t)e->bytes);
	if (x.damaged)
		collect_names(spool, r, &e->head.session);
	spool_scan_init(
	    &scan, &spool->window, fd, &e->head, (uint32_t)e->bytes);
	take_frames(spool, r, &scan, segment, &x);
	if (last)
		rc = settle_last(spool, segment, fd, &x, e->limit, err);
	spool_entry_close(spool, fd);
	return rc;
}

/* How many numbers a stream has lost behind its last frame: exactly, if a later
 * session says where it ended, else the most that it may be. */
static uint64_t
lost_at_end(const struct recovery *r, const struct spool_stream *s,
    const struct trail *t)
{
	const struct spool_end *end =
	    spool_ends_find(&r->ends, &s->session, s->local);

	if (end != NULL)
		return end->seq > t->seen + 1 ? end->seq - 1 - t->seen : 0;
	if (r->all_counted && r->numbers == r->counted)
		return 0;
	return r->lost - t->lost_then;
}

/* All segments of a session were read. */
static void
end_session(
    struct spool *spool, struct recovery *r, const struct session_id *session)
{
	for (uint32_t i = 0; i < spool->streams_count; i++) {
		struct spool_stream *s = spool->streams[i];
		const struct trail *t;
		uint64_t skip;

		if (s == NULL || !session_equal(&s->session, session))
			continue;
		t = trail_of(r, i);
		skip = lost_at_end(r, s, t);
		s->next = t->seen + 1;
		if (skip > 0)
			add_hole(spool, i, s->next, s->next + skip - 1);
		s->next += skip;
		s->committed = s->next;
	}
	r->lost = r->counted = r->numbers = 0;
	r->all_counted = true;
}

/* Did a session begin behind an unreadable segment?  Then that says what was
 * lost. */
static bool
is_followed(const struct recovery *r, uint32_t lost)
{
	const struct session_id *before = NULL;

	for (uint32_t i = 0; i < r->count; i++) {
		const struct spool_entry *e = &r->entries[i];

		if (!spool_entry_has_frames(e))
			continue;
		if (i < lost)
			before = &e->head.session;
		else if (before == NULL ||
			 !session_equal(before, &e->head.session))
			return true;
	}
	return false;
}

/* An unreadable segment belongs to the session before it.  It is needed until
 * the next session begins. */
static void
lose_entry(struct spool *spool, struct recovery *r, uint32_t i)
{
	const struct spool_entry *e = &r->entries[i];
	char name[SPOOL_NAME_BYTES];
	int fd = spool_open_file(
	    spool->dir, spool_segment_name(name, e->number), O_RDONLY);
	uint32_t size =
	    e->bytes <= SPOOL_SEGMENT_BYTES_MAX ? (uint32_t)e->bytes : 0;

	r->lost +=
	    (size > 0 ? size : SPOOL_SEGMENT_BYTES_MAX) / SPOOL_FRAME_BYTES;
	r->all_counted = false;
	if (fd < 0)
		return;
	spool_quarantine_copy(spool, fd, e->number, size);
	close(fd);
	if (is_followed(r, i))
		unlinkat(spool->dir, name, 0);
}

/* The streams that a later session says the end of; one may have no segment
 * any more. */
static void
take_ends(struct spool *spool, const struct recovery *r)
{
	for (uint32_t i = 0; i < r->ends.count; i++) {
		const struct spool_end *end = &r->ends.at[i];
		uint32_t stream =
		    spool_find_stream(spool, &end->session, end->stream);
		struct spool_stream *s;

		if (stream == UINT32_MAX)
			continue;
		s = spool->streams[stream];
		s->ended++;
		s->ended_in = end->number;
		if (end->seq <= s->committed)
			continue;
		add_hole(spool, stream, s->committed, end->seq - 1);
		s->committed = s->next = end->seq;
	}
}

static int
take_entries(struct spool *spool, struct recovery *r, struct err *err)
{
	const struct session_id *session = NULL;
	int rc = 0;

	for (uint32_t i = 0; i < r->count && rc == 0; i++) {
		const struct spool_entry *e = &r->entries[i];

		if (!spool_entry_has_frames(e)) {
			lose_entry(spool, r, i);
			continue;
		}
		if (session != NULL &&
		    !session_equal(session, &e->head.session))
			end_session(spool, r, session);
		session = &e->head.session;
		rc = take_entry(spool, r, i, err);
	}
	if (session != NULL)
		end_session(spool, r, session);
	take_ends(spool, r);
	for (uint32_t i = 0; i < spool->streams_count; i++) {
		struct spool_stream *s = spool->streams[i];

		if (s == NULL || s->moved_from == 0)
			continue;
		s->rest = s->committed;
		if (s->moved_upto >= s->rest)
			s->rest = s->moved_upto + 1;
		s->committed = s->next = s->moved_from;
	}
	return rc;
}

int
spool_recover(struct spool *spool, struct err *err)
{
	struct recovery r = { .all_counted = true };
	int rc = list_entries(spool, &r, err);

	if (rc == 0) {
		spool_entries_take_seals(spool, r.entries, r.count);
		drop_unused(spool, &r);
		spool_entries_take_ends(spool, r.entries, r.count, &r.ends);
		rc = take_entries(spool, &r, err);
	}
	if (rc == 0 && fsync(spool->dir) != 0)
		rc = err_set(err, "the directory: %s", strerror(errno));
	spool_ends_clear(&r.ends);
	free(r.trails);
	free(r.entries);
	return rc;
}
