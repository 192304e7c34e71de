/*
 * spool_files - files of the spool's directory: regular files with allocated
 * blocks.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/spool_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int
spool_open_file(int dir, const char *name, int flags)
{
	struct stat st;
	int fd = openat(
	    dir, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

ssize_t
spool_read_file(int dir, const char *name, unsigned char *to, uint32_t max)
{
	struct stat st;
	int fd = spool_open_file(dir, name, O_RDONLY);
	ssize_t bytes = -1;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0) {
		bytes = st.st_size < (off_t)max ? st.st_size : (off_t)max;
		if (file_io_read_all(fd, to, (uint32_t)bytes, 0) != 0)
			bytes = -1;
	}
	close(fd);
	return bytes;
}

int
spool_allocate(int fd, uint64_t bytes)
{
	int rc;

	do
		rc = posix_fallocate(fd, 0, (off_t)bytes);
	while (rc == EINTR);
	return rc;
}

int
spool_read_head(
    int fd, uint32_t size, unsigned char to[static SPOOL_HEAD_BYTES])
{
	int failed = 0;

	memset(to, 0, SPOOL_HEAD_BYTES);
	for (uint32_t o = 0; o < size && o <= SPOOL_HEAD_COPY;
	     o += SPOOL_HEAD_COPY) {
		uint32_t n =
		    size - o < SPOOL_HEAD_ONE ? size - o : SPOOL_HEAD_ONE;

		if (file_io_read_all(fd, to + o, n, o) != 0) {
			memset(to + o, 0, SPOOL_HEAD_ONE);
			failed++;
		}
	}
	return failed == 2 ? -1 : 0;
}

bool
spool_file_is_unused(int fd, uint32_t size)
{
	static const unsigned char zeros[4096];
	unsigned char at[sizeof(zeros)];

	for (uint32_t o = SPOOL_HEAD_ONE, n; o < size; o += n) {
		if (o == SPOOL_HEAD_COPY)
			o += SPOOL_HEAD_ONE;
		n = o < SPOOL_HEAD_COPY ? SPOOL_HEAD_COPY - o : sizeof(at);
		if (o >= size)
			break;
		if (n > size - o)
			n = size - o;
		if (file_io_read_all(fd, at, n, o) != 0 ||
		    memcmp(at, zeros, n) != 0)
			return false;
	}
	return true;
}

const char *
spool_segment_name(char to[static SPOOL_NAME_BYTES], uint64_t number)
{
	snprintf(to, SPOOL_NAME_BYTES, "%020" PRIu64 ".seg", number);
	return to;
}

bool
spool_parse_name(const char *name, uint64_t *number)
{
	uint64_t n = 0;

	for (int i = 0; i < 20; i++) {
		unsigned digit = (unsigned char)name[i] - (unsigned)'0';

		if (digit > 9 || n > (UINT64_MAX - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*number = n;
	return strcmp(name + 20, ".seg") == 0;
}
