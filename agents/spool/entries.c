/*
 * spool_entry - a file with the name of a segment.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/entries.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/spool/spool_private.h"

static enum spool_entry_state
judge(int fd, struct spool_entry *e)
{
	unsigned char at[SPOOL_HEAD_BYTES];
	struct stat st;
	bool has_head;

	if (fstat(fd, &st) != 0) {
		e->why = errno;
		return SPOOL_ENTRY_UNREADABLE;
	}
	e->bytes = (uint64_t)st.st_size;
	if (e->number >= 2 * SPOOL_NUMBER_FOREIGN)
		return SPOOL_ENTRY_FOREIGN;
	if (e->bytes > SPOOL_SEGMENT_BYTES_MAX)
		return SPOOL_ENTRY_UNREADABLE;
	if (spool_read_head(fd, (uint32_t)e->bytes, at) != 0) {
		e->why = errno;
		return SPOOL_ENTRY_UNREADABLE;
	}
	e->format = spool_head_format(at);
	if (e->format != 0 && e->format != SPOOL_FORMAT)
		return SPOOL_ENTRY_FOREIGN;
	has_head = spool_get_head(at, &e->head);
	/* Created but unused: the header is synced before the first frame. */
	if (!has_head || e->bytes < sizeof(at)) {
		if (spool_file_is_unused(fd, (uint32_t)e->bytes))
			return SPOOL_ENTRY_EMPTY;
		if (!has_head)
			return SPOOL_ENTRY_UNREADABLE;
	}
	e->half = !spool_head_is_whole(at);
	return e->head.number == e->number ? SPOOL_ENTRY_SEALED
					   : SPOOL_ENTRY_FOREIGN;
}

static int
open_file(const struct spool *spool, uint64_t number, int flags)
{
	char name[SPOOL_NAME_BYTES];

	return spool_open_file(
	    spool->dir, spool_segment_name(name, number), flags);
}

int
spool_entry_read(
    const struct spool *spool, uint64_t number, struct spool_entry *e)
{
	int fd = open_file(spool, number, O_RDONLY);

	*e = (struct spool_entry){ .number = number,
		.state = SPOOL_ENTRY_UNREADABLE };
	if (fd < 0) {
		e->why = errno;
		return -1;
	}
	e->state = judge(fd, e);
	close(fd);
	return 0;
}

int
spool_entry_open(struct spool *spool, const struct spool_entry *e, int flags,
    struct spool_scan *scan)
{
	int fd = open_file(spool, e->number, flags);

	if (fd >= 0)
		spool_scan_init(
		    scan, &spool->window, fd, &e->head, (uint32_t)e->bytes);
	return fd;
}

void
spool_entry_close(struct spool *spool, int fd)
{
	spool_window_move(&spool->window, -1, 0);
	close(fd);
}

static void
take_seals(struct spool *spool, struct spool_entry *entries, uint32_t from)
{
	uint32_t offset = SPOOL_HEAD_BYTES, expect = offset;
	struct spool_scan scan;
	struct spool_frame f;
	int fd = spool_entry_open(spool, &entries[from], O_RDONLY, &scan);

	if (fd < 0)
		return;
	while (spool_scan_next(&scan, &offset, &f, NULL) && offset == expect &&
	       f.type == SPOOL_SEAL && f.seq < entries[from].number) {
		for (uint32_t i = 0; i < from; i++)
			if (entries[i].number == f.seq &&
			    f.last_seq >= SPOOL_HEAD_BYTES &&
			    f.last_seq <= entries[i].bytes)
				entries[i].limit = (uint32_t)f.last_seq;
		expect = offset += SPOOL_FRAME_BYTES;
	}
	spool_entry_close(spool, fd);
}

void
spool_entries_take_seals(
    struct spool *spool, struct spool_entry *entries, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (spool_entry_has_frames(&entries[i]))
			take_seals(spool, entries, i);
}

bool
spool_entries_is_last(
    const struct spool_entry *entries, uint32_t count, uint32_t i)
{
	for (uint32_t j = i + 1; j < count; j++)
		if (spool_entry_has_frames(&entries[j]) &&
		    entries[j].state != SPOOL_ENTRY_UNUSED &&
		    session_equal(
			&entries[j].head.session, &entries[i].head.session))
			return false;
	return true;
}

void
spool_entry_take_names(
    struct spool *spool, const struct spool_entry *e, bool all)
{
	uint32_t offset = SPOOL_HEAD_BYTES;
	const unsigned char *body;
	struct spool_scan scan;
	struct spool_frame f;
	int fd = spool_entry_open(spool, e, O_RDONLY, &scan);

	if (fd < 0)
		return;
	while (spool_scan_next(&scan, &offset, &f, &body)) {
		struct text name = { (const char *)body, f.bytes };
		char number[16];

		offset += spool_span(f.bytes);
		if (all && spool_is_batch(&f)) {
			snprintf(number, sizeof(number), "#%" PRIu32, f.stream);
			name = text_of(number);
		} else if (f.type != SPOOL_STREAM ||
			   text_check_name(name) != TEXT_OK)
			continue;
		spool_add_stream(spool, &e->head.session, f.stream, name);
	}
	spool_entry_close(spool, fd);
}

void
spool_entries_take_ends(struct spool *spool, const struct spool_entry *entries,
    uint32_t count, struct spool_ends *ends)
{
	for (uint32_t i = 0; i < count; i++) {
		struct spool_scan scan;
		int fd = -1;

		if (spool_entry_has_frames(&entries[i]))
			fd = spool_entry_open(
			    spool, &entries[i], O_RDONLY, &scan);
		if (fd < 0)
			continue;
		spool_ends_read(ends, &scan);
		spool_entry_close(spool, fd);
	}
	spool_ends_name(ends, spool);
}
