/*
 * shim - stands between the program and the C library where files change.
 *
 * These definitions take precedence over the library's, for the program and
 * for the shared libraries it uses.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/fault/opens.h"
#include "tests/fault/states/log.h"
#include "tests/fault/states/states.h"

/* ---- names ---- */

static int
note_open(int fd, bool existed, int flags)
{
	struct stat st;
	char *path;

	if (fd < 0 || !states_recording || (flags & O_CREAT) == 0)
		return fd;
	path = states_path(fd, NULL);
	if (path != NULL && !existed && fstat(fd, &st) == 0) {
		states_add(OP_CREATE, states_new_file(st.st_ino))->path = path;
		return fd;
	}
	free(path);
	if (existed && (flags & O_TRUNC) != 0 && states_file(fd) >= 0)
		states_add(OP_SIZE, (uint32_t)states_file(fd));
	return fd;
}

int
do_open(int dir, const char *name, int flags, mode_t mode)
{
	struct stat st;
	bool existed;
	REAL(int, "openat64", int, const char *, int, ...);

	if ((flags & (O_CREAT | O_TRUNC)) != 0 && states_dead())
		return -1;
	existed = states_recording && fstatat(dir, name, &st, 0) == 0;
	return note_open(real(dir, name, flags, mode), existed, flags);
}

int
mkdirat(int dir, const char *name, mode_t mode)
{
	REAL(int, "mkdirat", int, const char *, mode_t);
	int rc = states_dead() ? -1 : real(dir, name, mode);
	char *path = rc == 0 ? states_path(dir, name) : NULL;

	if (path != NULL)
		states_add(OP_FOLDER, 0)->path = path;
	return rc;
}

int
mkdir(const char *name, mode_t mode)
{
	return mkdirat(AT_FDCWD, name, mode);
}

int
renameat2(int dir, const char *name, int to_dir, const char *to, unsigned flags)
{
	REAL(int, "renameat2", int, const char *, int, const char *, unsigned);
	int rc = states_dead() ? -1 : real(dir, name, to_dir, to, flags);
	char *path = rc == 0 ? states_path(dir, name) : NULL;

	if (path != NULL) {
		struct op *op = states_add(
		    flags & RENAME_EXCHANGE ? OP_EXCHANGE : OP_RENAME, 0);

		op->path = path;
		op->to = states_path(to_dir, to);
		assert(op->to != NULL);
	}
	return rc;
}

int
renameat(int dir, const char *name, int to_dir, const char *to)
{
	return renameat2(dir, name, to_dir, to, 0);
}

int
rename(const char *name, const char *to)
{
	return renameat2(AT_FDCWD, name, AT_FDCWD, to, 0);
}

int
unlinkat(int dir, const char *name, int flags)
{
	REAL(int, "unlinkat", int, const char *, int);
	int rc = states_dead() ? -1 : real(dir, name, flags);
	char *path = rc == 0 ? states_path(dir, name) : NULL;

	if (path != NULL)
		states_add(OP_UNLINK, 0)->path = path;
	return rc;
}

int
unlink(const char *name)
{
	return unlinkat(AT_FDCWD, name, 0);
}

/* ---- contents ---- */

ssize_t
pwrite64(int fd, const void *data, size_t bytes, off_t offset)
{
	REAL(ssize_t, "pwrite64", int, const void *, size_t, off_t);
	bool fail = states_file(fd) >= 0 && states_fails();
	int error = errno;
	ssize_t n;

	if (fail && (bytes < 2 || states_killed()))
		return -1;
	n = real(fd, data, fail ? bytes / 2 : bytes, offset);
	if (n > 0)
		states_note_write(fd, data, (size_t)n, (uint64_t)offset);
	if (fail) {
		errno = error;
		return -1;
	}
	return n;
}

ssize_t
pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
	return pwrite64(fd, data, bytes, offset);
}

ssize_t
write(int fd, const void *data, size_t bytes)
{
	REAL(ssize_t, "write", int, const void *, size_t);
	off_t offset = states_file(fd) >= 0 ? lseek(fd, 0, SEEK_CUR) : 0;
	ssize_t n =
	    states_file(fd) >= 0 && states_fails() ? -1 : real(fd, data, bytes);

	if (n > 0)
		states_note_write(fd, data, (size_t)n, (uint64_t)offset);
	return n;
}

ssize_t
pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
	ssize_t all = 0;

	for (int i = 0; i < count; i++) {
		ssize_t n = pwrite64(
		    fd, parts[i].iov_base, parts[i].iov_len, offset + all);

		if (n < 0)
			return all > 0 ? all : -1;
		all += n;
	}
	return all;
}

ssize_t
pwritev64(int fd, const struct iovec *parts, int count, off_t offset)
{
	return pwritev(fd, parts, count, offset);
}

ssize_t
writev(int fd, const struct iovec *parts, int count)
{
	ssize_t all = 0;

	for (int i = 0; i < count; i++) {
		ssize_t n = write(fd, parts[i].iov_base, parts[i].iov_len);

		if (n < 0)
			return all > 0 ? all : -1;
		all += n;
	}
	return all;
}

static int
do_sync(int fd, int (*real)(int))
{
	int64_t file = states_file(fd);
	char *path;

	if (file < 0) {
		path = states_path(fd, NULL);
		if (path == NULL)
			return real(fd);
		if (states_fails()) {
			free(path);
			return -1;
		}
		states_add(OP_SYNC_DIR, 0)->path = path;
		return 0;
	}
	/* The states_recording decides what is on disk, so the disk may sleep.
	 */
	if (states_fails()) {
		int error = errno;

		if (!states_killed())
			states_add(OP_DOOM, (uint32_t)file);
		errno = error;
		return -1;
	}
	states_add(OP_SYNC, (uint32_t)file);
	return 0;
}

int
fdatasync(int fd)
{
	REAL(int, "fdatasync", int);

	return do_sync(fd, real);
}

int
fsync(int fd)
{
	REAL(int, "fsync", int);

	return do_sync(fd, real);
}

int
ftruncate64(int fd, off_t size)
{
	REAL(int, "ftruncate64", int, off_t);
	int64_t file = states_file(fd);
	int rc = file >= 0 && states_fails() ? -1 : real(fd, size);

	if (rc == 0 && file >= 0)
		states_add(OP_SIZE, (uint32_t)file)->offset = (uint64_t)size;
	return rc;
}

int
ftruncate(int fd, off_t size)
{
	return ftruncate64(fd, size);
}

int
posix_fallocate64(int fd, off_t offset, off_t bytes)
{
	REAL(int, "posix_fallocate64", int, off_t, off_t);
	int64_t file = states_file(fd);
	int rc = file >= 0 && states_fails() ? errno : real(fd, offset, bytes);

	if (rc == 0 && file >= 0)
		states_add(OP_GROW, (uint32_t)file)->offset =
		    (uint64_t)(offset + bytes);
	return rc;
}

int
posix_fallocate(int fd, off_t offset, off_t bytes)
{
	return posix_fallocate64(fd, offset, bytes);
}
