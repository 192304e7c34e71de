/*
 * spool_scan - walks a segment with arbitrary content.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/scan.h"

#include <string.h>

#include "proto/hash/crc32c.h"

enum { PAGE = 4096 };

void
spool_scan_init(struct spool_scan *scan, struct spool_window *window, int fd,
    const struct spool_head *head, uint32_t size)
{
	spool_window_move(window, fd, head->number);
	*scan = (struct spool_scan){ .window = window,
		.number = head->number,
		.salt = head->salt,
		.size = size,
		.budget = 4 * (uint64_t)size };
}

/* Is there a complete frame at `offset`?  Each false candidate uses up budget,
 * so that a file full of them does not take time quadratic in its size. */
static bool
frame_at(struct spool_scan *scan, uint32_t offset, struct spool_frame *frame,
    const unsigned char **body)
{
	const unsigned char *at = spool_window_view(
	    scan->window, offset, SPOOL_FRAME_BYTES, scan->size);
	uint32_t span;

	if (at == NULL || !spool_peek_frame(at, offset, scan->size, frame))
		return false;
	span = spool_span(frame->bytes);
	if (span > scan->budget)
		return false;
	at = spool_window_view(scan->window, offset, span, scan->size);
	if (at == NULL || !spool_frame_is_whole(at, scan->salt, frame)) {
		scan->budget -= span;
		return false;
	}
	if (body != NULL)
		*body = at + SPOOL_FRAME_BYTES;
	return true;
}

/* The next position from `offset` on where a frame may begin: skips bytes that
 * do not start with the magic, and unreadable pages. */
static uint32_t
next_beginning(struct spool_scan *scan, uint32_t offset)
{
	while (scan->size - offset >= SPOOL_FRAME_BYTES) {
		uint32_t bytes = PAGE - offset % PAGE;
		const unsigned char *at;

		if (bytes > scan->size - offset)
			bytes = scan->size - offset;
		at = spool_window_view(scan->window, offset, bytes, scan->size);
		for (uint32_t i = 0; at != NULL && i + 4 <= bytes; i += 8) {
			if (memcmp(at + i, "PSFR", 4) == 0)
				return offset + i;
		}
		offset += bytes;
	}
	return scan->size;
}

bool
spool_scan_next(struct spool_scan *scan, uint32_t *offset,
    struct spool_frame *frame, const unsigned char **body)
{
	uint32_t at = *offset;

	while (at < scan->size && scan->size - at >= SPOOL_FRAME_BYTES) {
		if (frame_at(scan, at, frame, body)) {
			*offset = at;
			return true;
		}
		at = next_beginning(scan, at + 8);
	}
	return false;
}

/* The end of the last nonzero byte, at least `from`. */
static uint32_t
find_dirty(struct spool_scan *scan, uint32_t from)
{
	static const unsigned char zeros[PAGE];
	uint32_t dirty = from;

	for (uint32_t o = from, n; o < scan->size; o += n) {
		const unsigned char *at;

		n = PAGE - o % PAGE;
		if (n > scan->size - o)
			n = scan->size - o;
		at = spool_window_view(scan->window, o, n, scan->size);
		if (at != NULL && memcmp(at, zeros, n) == 0)
			continue;
		for (dirty = o + n; at != NULL && at[dirty - o - 1] == 0;)
			dirty--;
	}
	return dirty;
}

/* Evaluate the frames after all of them were walked over. */
static void
judge(
    struct spool_scan *scan, bool last, uint32_t limit, struct spool_extent *x)
{
	uint32_t bound = limit > 0 ? limit : scan->size;

	if (x->sealed)
		return;
	x->dirty = find_dirty(scan, x->end);
	/* A torn commit is no longer than the commit buffer. */
	if (last && x->dirty - x->end > SPOOL_COMMIT_BYTES_MAX) {
		x->damaged = true;
		x->tail = (x->dirty - x->end) / SPOOL_FRAME_BYTES;
	}
	if (!last && x->end < bound) {
		x->damaged = true;
		x->tail = (bound - x->end) / SPOOL_FRAME_BYTES;
	}
}

static void
take_seal(struct spool_extent *x, const struct spool_frame *seal)
{
	x->sealed = true;
	if (seal->records == x->frames && (uint32_t)seal->chain == x->crcs)
		return;
	x->damaged = true;
	if (seal->records >= x->frames)
		x->lost = seal->records - x->frames;
}

void
spool_scan_extent(
    struct spool_scan *scan, bool last, uint32_t limit, struct spool_extent *x)
{
	uint32_t offset = SPOOL_HEAD_BYTES, expect = offset, torn = 0;
	struct spool_extent sure; /* without a possibly torn tail */
	struct spool_frame f;

	*x = (struct spool_extent){ .end = offset, .commit = offset };
	sure = *x;
	while (!x->sealed && spool_scan_next(scan, &offset, &f, NULL) &&
	       (limit == 0 || offset < limit)) {
		unsigned char crc[4];

		if (offset != expect && torn == 0)
			torn = expect;
		/* A later commit was begun, so the torn place had been
		 * synced. */
		if (torn > 0 && (!last || offset - f.back > torn)) {
			x->damaged = true;
			torn = 0;
		}
		x->commit = offset - f.back;
		expect = offset += spool_span(f.bytes);
		x->end = expect;
		if (f.type == SPOOL_SEAL && f.seq == scan->number) {
			take_seal(x, &f);
		} else {
			spool_put32(crc, f.crc);
			x->crcs = crc32c(x->crcs, crc, 4);
			x->frames++;
		}
		if (torn == 0)
			sure = *x;
	}
	*x = sure;
	judge(scan, last, limit, x);
}
