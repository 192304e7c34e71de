/*
 * file_io - reads and writes of a file that complete or fail.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/file_io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The progress of a step of `n` bytes; 0: try again, -1: failed, with errno
 * `nothing` if the kernel transferred nothing and reported no error. */
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

bool
file_io_is_full(int error)
{
	return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

const char *
file_io_sentence(int error)
{
	switch (error) {
	case ENOSPC: return "the disk is full; make room on it";
	case EDQUOT:
		return "the disk quota of this user or directory is used up; "
		       "raise it or make room";
	case EFBIG:
		return "the file is as large as this process may make one; "
		       "raise the limit (ulimit -f, LimitFSIZE)";
	default: return strerror(error);
	}
}

static void
ignore(int signal)
{
	(void)signal;
}

/* Unlike SIG_IGN, a handler is not inherited through exec. */
void
file_io_catch_limit(void)
{
	struct sigaction action = { .sa_handler = ignore,
		.sa_flags = SA_RESTART },
			 before;

	if (sigaction(SIGXFSZ, NULL, &before) == 0 &&
	    before.sa_handler != SIG_IGN)
		sigaction(SIGXFSZ, &action, NULL);
}

int
file_io_sync(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int rc, wrong;

	if (fd < 0)
		return -1;
	rc = fsync(fd);
	wrong = errno;
	close(fd);
	errno = wrong;
	return rc;
}

int
file_io_sync_parent(const char *path)
{
	size_t bytes = strlen(path);
	char dir[PATH_MAX];

	/* A path may end with slashes; "/" is its own directory. */
	while (bytes > 1 && path[bytes - 1] == '/')
		bytes--;
	while (bytes > 0 && path[bytes - 1] != '/')
		bytes--;
	if (bytes == 0)
		return file_io_sync(".");
	if (bytes >= sizeof(dir)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(dir, path, bytes);
	dir[bytes] = '\0';
	return file_io_sync(dir);
}

const char *
file_io_temporary_dir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir == NULL || *dir == '\0' ? "/tmp" : dir;
}

int
file_io_nameless(struct err *err)
{
	const char *dir = file_io_temporary_dir();
	char path[PATH_MAX];
	int fd;

	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* Not every file system supports files without a name. */
	if ((size_t)snprintf(path, sizeof(path), "%s/poolscope-XXXXXX", dir) >=
	    sizeof(path))
		return err_set(err, "$TMPDIR is too long");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	unlink(path);
	return fd;
}
