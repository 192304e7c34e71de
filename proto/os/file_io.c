/*
 * file_io - reads and writes of a file that complete or fail.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/file_io.h"

#include <errno.h>
#include <unistd.h>

/* How far a step of `n` came; 0: once more, -1: it failed, with `nothing`
 * when the kernel did nothing and says no error. */
static ssize_t
step(ssize_t n, int nothing)
{
	if (n > 0)
		return n;
	if (n == 0)
		errno = nothing;
	return n < 0 && errno == EINTR ? 0 : -1;
}

int
file_io_write_all(int fd, const void *from, uint32_t bytes, uint64_t offset)
{
	const unsigned char *at = from;

	for (uint32_t done = 0; done < bytes;) {
		ssize_t n = step(
		    pwrite(fd, at + done, bytes - done, (off_t)(offset + done)),
		    EIO);

		if (n < 0)
			return -1;
		done += (uint32_t)n;
	}
	return 0;
}

int
file_io_read_all(int fd, void *to, uint32_t bytes, uint64_t offset)
{
	unsigned char *at = to;

	for (uint32_t done = 0; done < bytes;) {
		ssize_t n = step(
		    pread(fd, at + done, bytes - done, (off_t)(offset + done)),
		    ENODATA);

		if (n < 0)
			return -1;
		done += (uint32_t)n;
	}
	return 0;
}
