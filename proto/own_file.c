/*
 * own_file - small files that only their owner, or root, can have written.
 * SPDX-License-Identifier: MIT
 */
#include "proto/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static int
check_mode(const struct stat *st, const char *path, enum own_file kind,
    struct err *err)
{
	bool list = kind == OWN_FILE_LIST;

	if (!S_ISREG(st->st_mode))
		return err_set(err, "%.300s is not a regular file", path);
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return err_set(err,
		    "%.300s belongs to another user (uid %u), who could "
		    "change it",
		    path, (unsigned)st->st_uid);
	if ((st->st_mode & (list ? 022 : 077)) != 0)
		return err_set(err,
		    "%.300s can be %s by others (mode %04o): chmod %s", path,
		    list ? "changed" : "read", (unsigned)st->st_mode & 07777,
		    list ? "go-w" : "600");
	return 0;
}

int
own_file_open(
    const char *path, enum own_file kind, bool *missing, struct err *err)
{
	/* Whoever opens a pipe must not wait for its other end. */
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	struct stat st;
	int fd;

	if (kind != OWN_FILE_SECRET)
		flags |= O_NOFOLLOW;
	fd = open(path, flags);
	if (missing != NULL)
		*missing = fd < 0 && errno == ENOENT;
	if (fd < 0 && errno == ELOOP && kind != OWN_FILE_SECRET)
		return err_set(err, "%.300s is a symbolic link", path);
	if (fd < 0)
		return err_set(err, "%.300s: %s", path, strerror(errno));
	if (fstat(fd, &st) != 0)
		err_set(err, "%.300s: %s", path, strerror(errno));
	else if (check_mode(&st, path, kind, err) == 0)
		return fd;
	close(fd);
	return -1;
}

ssize_t
own_file_read(int fd, void *to, size_t room)
{
	size_t bytes = 0;
	ssize_t n = 1;

	while (bytes < room && n != 0) {
		n = read(fd, (char *)to + bytes, room - bytes);
		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0)
			bytes += (size_t)n;
	}
	return (ssize_t)bytes;
}

static int
write_all(int fd, const char *at, size_t bytes)
{
	while (bytes > 0) {
		ssize_t n = write(fd, at, bytes);

		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0) {
			at += n;
			bytes -= (size_t)n;
		}
	}
	return fsync(fd);
}

static int
sync_directory(const char *path, int directory_bytes)
{
	char name[PATH_BYTES];
	int fd, rc;

	snprintf(name, sizeof(name), "%.*s.", directory_bytes, path);
	fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	rc = fsync(fd);
	close(fd);
	return rc;
}

int
own_file_write(const char *path, const void *at, size_t bytes, bool replace,
    struct err *err)
{
	const char *slash = strrchr(path, '/');
	int directory = slash != NULL ? (int)(slash - path) + 1 : 0;
	char temporary[PATH_BYTES];
	int n, fd, rc;

	n = snprintf(
	    temporary, sizeof(temporary), "%.*s.new-XXXXXX", directory, path);
	if (n < 0 || (size_t)n >= sizeof(temporary))
		return err_set(
		    err, "%.300s...: %s", path, strerror(ENAMETOOLONG));
	fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */
	if (fd < 0)
		return err_set(err, "%.300s: %s", path, strerror(errno));
	rc = write_all(fd, at, bytes);
	if (close(fd) != 0)
		rc = -1;
	if (rc == 0)
		rc = replace ? rename(temporary, path) : link(temporary, path);
	if (rc != 0)
		err_set(err, "%.300s: %s", path, strerror(errno));
	if (rc != 0 || !replace)
		unlink(temporary);
	if (rc == 0 && sync_directory(path, directory) != 0)
		rc = err_set(err, "%.300s: %s", path, strerror(errno));
	return rc;
}
