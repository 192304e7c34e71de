/*
 * spool_recover - opens the files that a crash or a bad disk left.
 *
 * It reads every segment once, and the newest one with frames twice: only
 * there an invalid place may be a torn tail.  Rules: proto/spool.md,
 * "Recovery".
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/spool_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/spool/scan.h"
#include "proto/base/memory.h"

enum { COPY_BYTES = 64 << 10 };

/* A file of the directory with the name of a segment. */
struct entry {
	struct spool_head head;
	uint64_t number;
	uint32_t size;
	uint32_t limit; /* end of its frames by a later seal; 0 */
	bool lost;      /* no header: it is unreadable */
};

struct recovery {
	struct entry *entries;
	uint32_t count;
	struct spool_holes *holes;
};

/* Is there nothing after the header? */
static bool
is_unused(int fd, uint32_t size)
{
	static const unsigned char zeros[4096];
	unsigned char at[sizeof(zeros)];

	for (uint32_t o = SPOOL_HEAD_BYTES, n; o < size; o += n) {
		n = size - o < sizeof(at) ? size - o : sizeof(at);
		if (file_io_read_all(fd, at, n, o) != 0 ||
		    memcmp(at, zeros, n) != 0)
			return false;
	}
	return true;
}

static bool
session_is(const struct session_id *id, const struct session_id *of)
{
	static const struct session_id none;

	return memcmp(id, of, sizeof(*id)) == 0 &&
	       memcmp(of, &none, sizeof(none)) != 0;
}

enum verdict { KEEP, LOST, UNLINK, ASIDE, IGNORE };

static enum verdict
judge(const struct spool *spool, int fd, struct entry *e)
{
	unsigned char at[SPOOL_HEAD_BYTES];
	struct stat st;

	if (fstat(fd, &st) != 0 || e->number >= 2 * SPOOL_NUMBER_FOREIGN)
		return ASIDE;
	if (st.st_size > SPOOL_SEGMENT_BYTES_MAX)
		return LOST;
	e->size = (uint32_t)st.st_size;
	if (e->size < sizeof(at) ||
	    file_io_read_all(fd, at, sizeof(at), 0) != 0 ||
	    !spool_get_head(at, &e->head))
		/* Created but unused: the header is synced before the first
		 * frame. */
		return is_unused(fd, e->size) ? UNLINK : LOST;
	if (session_is(&e->head.session, &spool->meta.next) ||
	    session_is(&e->head.session, &spool->meta.previous))
		return UNLINK;
	if (!session_is(&e->head.session, &spool->meta.session) ||
	    e->head.number != e->number)
		return ASIDE;
	return KEEP;
}

static void
classify(struct spool *spool, struct recovery *r, uint64_t number)
{
	struct entry *e = &r->entries[r->count];
	char name[SPOOL_NAME_BYTES];
	enum verdict verdict = IGNORE;
	int fd;

	*e = (struct entry){ .number = number };
	spool_segment_name(name, number);
	fd = spool_open_file(spool->dir, name, O_RDONLY);
	if (fd >= 0) {
		verdict = judge(spool, fd, e);
		close(fd);
	}
	if ((number < SPOOL_NUMBER_FOREIGN || verdict == KEEP) &&
	    number >= spool->next_number)
		spool->next_number = number + 1;
	if (verdict == UNLINK)
		unlinkat(spool->dir, name, 0);
	if (verdict == ASIDE)
		spool_quarantine_move(spool, number);
	e->lost = verdict == LOST;
	if (verdict == KEEP || verdict == LOST)
		r->count++;
}

/* All or nothing: an overlooked segment would count as deleted, and its
 * numbers would be used again. */
static int
list_entries(struct spool *spool, struct recovery *r, struct err *err)
{
	uint64_t *numbers;
	uint32_t count;

	if (spool_list(spool->dir, &numbers, &count) != 0) {
		err_set(err, "the directory: %s", strerror(errno));
		free(numbers);
		return -1;
	}
	spool->next_number = spool_quarantine_highest(spool) + 1;
	r->entries = memory_zero(count + 1, sizeof(*r->entries));
	for (uint32_t i = 0; i < count; i++)
		classify(spool, r, numbers[i]);
	free(numbers);
	return 0;
}

static int
open_entry(struct spool *spool, const struct entry *e, int flags,
    struct spool_scan *scan)
{
	char name[SPOOL_NAME_BYTES];
	int fd = spool_open_file(
	    spool->dir, spool_segment_name(name, e->number), flags);

	if (fd >= 0)
		spool_scan_init(scan, &spool->window, fd, &e->head, e->size,
		    spool->streams_count);
	return fd;
}

static void
close_entry(struct spool *spool, int fd)
{
	spool_window_move(&spool->window, -1, 0);
	close(fd);
}

/* The seals at the start of a segment belong to older ones. */
static void
take_seals(struct spool *spool, struct recovery *r, uint32_t from)
{
	uint32_t offset = SPOOL_HEAD_BYTES, at = offset;
	struct spool_scan scan;
	struct spool_frame f;
	int fd = open_entry(spool, &r->entries[from], O_RDONLY, &scan);

	if (fd < 0)
		return;
	while (spool_scan_next(&scan, &offset, &f, NULL) && offset == at &&
	       f.type == SPOOL_SEAL && f.seq < r->entries[from].number) {
		for (uint32_t i = from; i-- > 0;) {
			struct entry *e = &r->entries[i];

			if (e->number == f.seq && f.last_seq <= e->size &&
			    f.last_seq >= SPOOL_HEAD_BYTES)
				e->limit = (uint32_t)f.last_seq;
		}
		at = offset += SPOOL_FRAME_BYTES;
	}
	close_entry(spool, fd);
}

/* Drop the newest segments that have no frames; only the last one with frames
 * may have a torn tail.  An unreadable segment had frames. */
static void
find_last(struct spool *spool, struct recovery *r)
{
	while (r->count > 0 && !r->entries[r->count - 1].lost) {
		const struct entry *e = &r->entries[r->count - 1];
		char name[SPOOL_NAME_BYTES];
		struct spool_extent x = { .end = SPOOL_HEAD_BYTES };
		struct spool_scan scan;
		int fd = open_entry(spool, e, O_RDONLY, &scan);

		if (fd >= 0) {
			spool_scan_extent(&scan, true, 0, &x);
			close_entry(spool, fd);
		}
		if (x.end > SPOOL_HEAD_BYTES || x.damaged)
			return;
		unlinkat(spool->dir, spool_segment_name(name, e->number), 0);
		r->count--;
	}
}

/* Add the frames of a segment to the index. */
static void
take_frames(struct spool *spool, struct recovery *r, struct spool_scan *scan,
    struct spool_segment *segment, const struct spool_extent *x)
{
	uint32_t offset = SPOOL_HEAD_BYTES, expect = offset;
	struct spool_frame f;

	while (spool_scan_next(scan, &offset, &f, NULL) && offset < x->end) {
		uint32_t skipped = (offset - expect) / SPOOL_FRAME_BYTES;

		if (x->sealed && skipped > x->lost)
			skipped = x->lost;
		spool_holes_lose(r->holes, skipped);
		if (f.type == SPOOL_SEAL) {
			if (f.seq < segment->number &&
			    (segment->cuts == 0 || f.seq < segment->cuts))
				segment->cuts = f.seq;
		} else {
			spool_holes_see(r->holes, spool, segment, &f);
		}
		if (f.type == SPOOL_BATCH)
			spool_segment_note(segment, offset, &f);
		expect = offset += spool_span(f.bytes);
	}
	spool_holes_lose(r->holes, x->tail);
	if (x->damaged)
		spool_holes_count(r->holes, x->sealed, x->lost);
}

/* Rewrite the frames and zero the rest.  A process that died, or a sync that
 * failed, may have left the last commit in memory only. */
static int
repair(int fd, const struct spool_extent *x)
{
	unsigned char *at = memory_alloc(COPY_BYTES);
	uint32_t to = x->damaged || x->dirty < x->end ? x->end : x->dirty;
	int rc = 0;

	for (uint32_t o = x->commit, n; o < to && rc == 0; o += n) {
		uint32_t bound = o < x->end ? x->end : to;

		n = bound - o < COPY_BYTES ? bound - o : COPY_BYTES;
		if (o >= x->end)
			memset(at, 0, n);
		else
			rc = file_io_read_all(fd, at, n, o);
		if (rc == 0)
			rc = file_io_write_all(fd, at, n, o);
	}
	free(at);
	return rc == 0 ? fdatasync(fd) : -1;
}

/* Continue in the last segment, or seal it in the next one. */
static int
settle_last(struct spool *spool, struct spool_segment *segment, int fd,
    const struct spool_extent *x, struct err *err)
{
	if (repair(fd, x) != 0)
		return err_set(err, "segment %" PRIu64 ": %s", segment->number,
		    strerror(errno));
	if (!x->damaged && x->dirty > x->end)
		spool->counters->torn_bytes += x->dirty - x->end;
	if (x->sealed)
		return 0;
	if (!x->damaged && segment->size - segment->end > SPOOL_FRAME_BYTES) {
		segment->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (segment->fd < 0)
			return err_set(err, "%s", strerror(errno));
		spool->active = segment;
		return 0;
	}
	spool->cuts[spool->cuts_count++] = (struct spool_cut){ segment->number,
		segment->end, segment->frames, segment->crcs };
	return 0;
}

static int
take_entry(struct spool *spool, struct recovery *r, uint32_t i, struct err *err)
{
	const struct entry *e = &r->entries[i];
	bool last = i == r->count - 1;
	struct spool_segment *segment;
	struct spool_extent x;
	struct spool_scan scan;
	int fd, rc = 0;

	if (e->lost) {
		uint32_t size = e->size > 0 ? e->size : SPOOL_SEGMENT_BYTES_MAX;

		spool_holes_lose(r->holes, size / SPOOL_FRAME_BYTES);
		spool_holes_count(r->holes, false, 0);
		return 0;
	}
	fd = open_entry(spool, e, last ? O_RDWR : O_RDONLY, &scan);
	if (fd < 0)
		return err_set(
		    err, "segment %" PRIu64 ": %s", e->number, strerror(errno));
	spool_scan_extent(&scan, last, e->limit, &x);
	segment = spool_segment_new(spool, e->number, e->head.salt, e->size);
	segment->end = x.end;
	segment->frames = x.frames;
	segment->crcs = x.crcs;
	if (x.damaged)
		spool_quarantine_copy(spool, fd, e->number, e->size);
	spool_scan_init(
	    &scan, &spool->window, fd, &e->head, e->size, spool->streams_count);
	take_frames(spool, r, &scan, segment, &x);
	if (last)
		rc = settle_last(spool, segment, fd, &x, err);
	close_entry(spool, fd);
	return rc;
}

int
spool_recover(struct spool *spool, enum spool_found acked, struct err *err)
{
	struct recovery r = { .holes = spool_holes_new() };
	int rc = list_entries(spool, &r, err);

	for (uint32_t i = 0; i < r.count; i++) {
		if (!r.entries[i].lost)
			take_seals(spool, &r, i);
	}
	if (rc == 0)
		find_last(spool, &r);
	for (uint32_t i = 0; i < r.count && rc == 0; i++)
		rc = take_entry(spool, &r, i, err);
	if (rc == 0 && fsync(spool->dir) != 0)
		rc = err_set(err, "the directory: %s", strerror(errno));
	if (rc == 0)
		rc = spool_holes_close(r.holes, spool, acked, err);
	/* Only after the gaps are on disk: they are all that is left of it. */
	for (uint32_t i = 0; i < r.count && rc == 1; i++) {
		if (r.entries[i].lost)
			spool_quarantine_move(spool, r.entries[i].number);
	}
	spool_holes_free(&r.holes);
	free(r.entries);
	return rc < 0 ? -1 : 0;
}
