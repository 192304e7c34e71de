/*
 * spool_segment - any bytes as a segment, as they are and with checksums that
 * are right: the walk against a slow one over memory, and what it says of the
 * end of the segment against the frames that it finds.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>
#include <sys/types.h>

#include "agents/spool/scan.h"
#include "tests/fuzz/judge_crc.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/spool_fix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	SIZE_MAX_TRIED = 128 << 10,
	FRAMES_MAX = SIZE_MAX_TRIED / SPOOL_FRAME_BYTES,
	FD = 1 << 20
};

/* What the walk found. */
static struct {
	uint32_t offset[FRAMES_MAX];
	bool own_seal[FRAMES_MAX];
	uint32_t count;
} found;

/* The first whole frame at or behind `offset`, by looking everywhere. */
static size_t
slow_next(const struct spool_head *head, const unsigned char *at, size_t size,
    size_t offset, struct spool_frame *f)
{
	unsigned char salt[8];

	spool_put64(salt, head->salt);
	for (; offset + SPOOL_FRAME_BYTES <= size; offset += 8) {
		if (spool_peek_frame(
			at + offset, (uint32_t)offset, (uint32_t)size, f) &&
		    f->crc == spool_fix_crc(judge_crc, at + offset, salt,
				  spool_span(f->bytes)))
			return offset;
	}
	return size;
}

static void
walk(struct spool_scan *scan, const struct spool_head *head,
    const unsigned char *at, size_t size)
{
	uint32_t offset = SPOOL_HEAD_BYTES;
	const unsigned char *body;
	struct spool_frame f, want;

	found.count = 0;
	for (;;) {
		uint32_t from = offset;
		bool is_there = spool_scan_next(scan, &offset, &f, &body);
		size_t slow = slow_next(head, at, size, from, &want);

		/* The walk may give up on a file of false beginnings. */
		if (!is_there && scan->budget < size)
			return;
		MUST(is_there == (slow < size));
		if (!is_there)
			return;
		MUST(scan->budget < size ? offset >= slow : offset == slow);
		MUST(memcmp(body, at + offset + SPOOL_FRAME_BYTES, f.bytes) ==
		     0);
		MUST(found.count < FRAMES_MAX);
		found.offset[found.count] = offset;
		found.own_seal[found.count++] =
		    f.type == SPOOL_SEAL && f.seq == head->number;
		offset += spool_span(f.bytes);
	}
}

static void
extent(struct spool_window *window, const struct spool_head *head,
    uint32_t size, bool last, uint32_t limit)
{
	struct spool_extent x;
	struct spool_scan scan;
	uint32_t frames = 0;

	spool_scan_init(&scan, window, FD, head, size);
	spool_scan_extent(&scan, last, limit, &x);
	MUST(x.end >= SPOOL_HEAD_BYTES && x.end <= size);
	MUST(x.commit >= SPOOL_HEAD_BYTES && x.commit <= x.end);
	MUST(x.dirty <= size && x.end % 8 == 0);
	MUST(!x.sealed || x.end > SPOOL_HEAD_BYTES);
	for (uint32_t i = 0; i < found.count && found.offset[i] < x.end; i++)
		frames += !found.own_seal[i];
	MUST(frames == x.frames);
}

/* Instead of a file (the linker's --wrap). */
static struct {
	const unsigned char *at;
	size_t size;
} file;

ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t offset);

ssize_t
__wrap_pread(int fd, void *to, size_t bytes, off_t offset)
{
	size_t left =
	    (size_t)offset < file.size ? file.size - (size_t)offset : 0;

	MUST(fd == FD);
	if (bytes > left)
		bytes = left;
	memcpy(to, file.at + offset, bytes);
	return (ssize_t)bytes;
}

static void
try_bytes(const unsigned char *at, size_t size)
{
	static struct spool_window window = { .fd = -1 };
	struct spool_scan scan;
	struct spool_head head;

	file.at = at;
	file.size = size;
	if (size >= SPOOL_HEAD_BYTES && spool_get_head(at, &head)) {
		spool_scan_init(&scan, &window, FD, &head, (uint32_t)size);
		walk(&scan, &head, at, size);
		extent(&window, &head, (uint32_t)size, true, 0);
		extent(&window, &head, (uint32_t)size, false, 0);
		extent(
		    &window, &head, (uint32_t)size, false, (uint32_t)size / 2);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned char at[SIZE_MAX_TRIED];

	if (size > sizeof(at))
		return 0;
	if (size > 0)
		memcpy(at, data, size);
	try_bytes(at, size);
	spool_fix_segment(at, size);
	try_bytes(at, size);
	return 0;
}
