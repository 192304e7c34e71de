/*
 * spool_quarantine - stores unusable files for inspection: damaged segments in
 * quarantine/, refused batches in refused/.  Both are bounded, the oldest
 * files are deleted first, and the program never reads them again.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/spool_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/memory.h"

enum {
	QUARANTINE_FILES = 8,
	QUARANTINE_BYTES = 64 << 20,
	REFUSED_FILES = 64,
	REFUSED_BYTES = 64 << 20,
	COPY_BYTES = 64 << 10,
};

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int
spool_list(int dir, uint64_t **numbers, uint32_t *count)
{
	/* A separate descriptor: a shared one has a shared position. */
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	uint32_t room = 0;
	const struct dirent *e;
	uint64_t number;
	int wrong;

	*numbers = NULL;
	*count = 0;
	if (d == NULL) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while (errno = 0, (e = readdir(d)) != NULL) {
		if (!spool_parse_name(e->d_name, &number))
			continue;
		*MEMORY_ADD(*numbers, room, *count) = number;
	}
	wrong = errno;
	closedir(d);
	if (*count > 0)
		qsort(*numbers, *count, sizeof(number), compare);
	errno = wrong;
	return wrong == 0 ? 0 : -1;
}

static int
open_folder(const struct spool *spool, const char *name, bool make)
{
	if (make)
		mkdirat(spool->dir, name, 0700);
	return openat(
	    spool->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static uint64_t
size_of(int dir, uint64_t number)
{
	char name[SPOOL_NAME_BYTES];
	struct stat st;

	spool_segment_name(name, number);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return 0;
	return (uint64_t)st.st_size;
}

/* Delete the oldest until one more file of `bytes` is within the bounds;
 * returns the highest number of our own files. */
static uint64_t
make_room(int dir, uint64_t bytes, uint32_t files_max, uint64_t bytes_max)
{
	uint64_t *numbers, total = bytes, highest = 0;
	char name[SPOOL_NAME_BYTES];
	uint32_t count;

	spool_list(dir, &numbers, &count);
	for (uint32_t i = 0; i < count; i++)
		total += size_of(dir, numbers[i]);
	for (uint32_t i = 0; i < count; i++) {
		if (numbers[i] < SPOOL_NUMBER_FOREIGN)
			highest = numbers[i];
		if (count - i < files_max && total <= bytes_max)
			continue;
		total -= size_of(dir, numbers[i]);
		unlinkat(dir, spool_segment_name(name, numbers[i]), 0);
	}
	free(numbers);
	return highest;
}

uint64_t
spool_quarantine_highest(const struct spool *spool)
{
	int dir = open_folder(spool, "quarantine", false);
	uint64_t *numbers, highest = 0;
	uint32_t count;

	if (dir < 0)
		return 0;
	spool_list(dir, &numbers, &count);
	for (uint32_t i = 0; i < count; i++) {
		if (numbers[i] < SPOOL_NUMBER_FOREIGN)
			highest = numbers[i];
	}
	free(numbers);
	close(dir);
	return highest;
}

/* Unreadable blocks stay holes of the copy. */
static void
copy_bytes(int from, int to, uint32_t bytes)
{
	unsigned char *at = memory_alloc(COPY_BYTES);
	uint32_t n;

	for (uint32_t o = 0; o < bytes; o += n) {
		n = bytes - o < COPY_BYTES ? bytes - o : COPY_BYTES;
		if (file_io_read_all(from, at, n, o) != 0)
			memset(at, 0, n);
		if (file_io_write_all(to, at, n, o) != 0)
			break;
	}
	free(at);
}

void
spool_quarantine_copy(
    struct spool *spool, int fd, uint64_t number, uint32_t bytes)
{
	int dir = open_folder(spool, "quarantine", true);
	char name[SPOOL_NAME_BYTES];
	struct stat st;
	int to;

	spool_segment_name(name, number);
	/* Once: it stays damaged until it is acknowledged and deleted. */
	if (dir < 0 || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		if (dir >= 0)
			close(dir);
		return;
	}
	spool->counters->quarantined++;
	make_room(dir, bytes, QUARANTINE_FILES, QUARANTINE_BYTES);
	to = bytes > QUARANTINE_BYTES
		 ? -1
		 : spool_open_file(dir, name, O_RDWR | O_CREAT | O_EXCL);
	if (to >= 0) {
		copy_bytes(fd, to, bytes);
		fsync(to);
		close(to);
	}
	close(dir);
}

void
spool_quarantine_move(struct spool *spool, uint64_t number)
{
	int dir = open_folder(spool, "quarantine", true);
	uint64_t bytes = size_of(spool->dir, number);
	char name[SPOOL_NAME_BYTES];

	spool->counters->quarantined++;
	if (dir < 0)
		return; /* it stays, and is skipped again next time */
	make_room(dir, bytes, QUARANTINE_FILES, QUARANTINE_BYTES);
	spool_segment_name(name, number);
	if (bytes > QUARANTINE_BYTES)
		unlinkat(spool->dir, name, 0);
	else
		renameat(spool->dir, name, dir, name);
	close(dir);
}

/* A segment that names the partition and has the batch. */
static uint32_t
put_refused(unsigned char *at, const struct spool_head *head,
    const struct spool_frame *frame, const void *body, struct text partition)
{
	struct spool_frame name = { .type = SPOOL_STREAM,
		.bytes = partition.bytes,
		.stream = frame->stream };
	struct spool_frame copy = *frame;
	uint32_t offset = SPOOL_HEAD_BYTES;

	spool_put_head(at, head);
	spool_put_frame(at + offset, head->salt, &name, partition.at);
	offset += spool_span(name.bytes);
	copy.back = offset - SPOOL_HEAD_BYTES;
	spool_put_frame(at + offset, head->salt, &copy, body);
	return offset + spool_span(copy.bytes);
}

int
spool_refused_put(struct spool *spool, const struct session_id *session,
    const struct spool_frame *frame, const void *body, struct text partition,
    struct err *err)
{
	uint32_t bytes = SPOOL_HEAD_BYTES + spool_span(partition.bytes) +
			 spool_span(frame->bytes);
	int dir = open_folder(spool, "refused", true), fd = -1, rc = -1;
	unsigned char *at = memory_alloc(bytes);
	struct spool_head head = { .session = *session };
	char name[SPOOL_NAME_BYTES];

	if (dir >= 0) {
		head.number =
		    1 + make_room(dir, bytes, REFUSED_FILES, REFUSED_BYTES);
		spool_segment_name(name, head.number);
		fd = spool_open_file(dir, name, O_RDWR | O_CREAT | O_EXCL);
	}
	put_refused(at, &head, frame, body, partition);
	if (fd >= 0 && file_io_write_all(fd, at, bytes, 0) == 0 &&
	    fsync(fd) == 0 && fsync(dir) == 0)
		rc = 0;
	if (rc != 0)
		err_set(err, "refused/: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
	free(at);
	return rc;
}
