/*
 * copy_file - copy a file to another directory, where it appears complete or
 * not at all.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/directory/copy_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/hash/hash.h"

enum { COPY_BYTES = 64 << 10, NAME_BYTES = 64, DIGITS = 16, TRIES = 8 };
#define PREFIX ".poolscope."

/* Like renameat, but never replaces a file: EEXIST. */
int
copy_file_rename(int from, const char *name, int to, const char *as)
{
	struct stat a, b;

	if (renameat2(from, name, to, as, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	/* The file system has no atomic operation for it: `name` may change
	 * between the two steps. */
	if (linkat(from, name, to, as, 0) != 0)
		return -1;
	if (fstatat(from, name, &a, AT_SYMLINK_NOFOLLOW) != 0 ||
	    fstatat(to, as, &b, AT_SYMLINK_NOFOLLOW) != 0 ||
	    a.st_ino != b.st_ino)
		return 0;
	return unlinkat(from, name, 0);
}

/* Copies from the current position of `fd`; -1: errno. */
static int
copy_bytes(int fd, int to)
{
	char bytes[COPY_BYTES];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		ssize_t done = 0, w;

		for (; done < n; done += w) {
			w = write(to, bytes + done, (size_t)(n - done));
			if (w < 0)
				return -1;
		}
		at += n;
	}
	return n < 0 ? -1 : fsync(to);
}

/* ---- temporary names ---- */

static bool
is_ours(const char *name)
{
	const size_t prefix = sizeof(PREFIX) - 1;

	return strncmp(name, PREFIX, prefix) == 0 &&
	       strspn(name + prefix, "0123456789abcdef") == DIGITS &&
	       name[prefix + DIGITS] == '\0';
}

/* A lock means that another process is still copying. */
static void
remove_left(int dir, const char *name)
{
	int fd =
	    openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlinkat(dir, name, 0);
	close(fd);
}

/* Remove leftovers of killed processes.  Errors are harmless. */
static void
sweep(int to)
{
	int fd = openat(to, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (dir == NULL) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir)) != NULL)
		if (is_ours(entry->d_name))
			remove_left(to, entry->d_name);
	closedir(dir);
}

/* Create the file and lock it before another process can remove it. */
static int
open_named(int to, char name[static NAME_BYTES], mode_t mode)
{
	struct stat st;
	uint64_t random;

	for (int i = 0; i < TRIES; i++) {
		int fd;

		hash_random_bytes(&random, sizeof(random));
		snprintf(name, NAME_BYTES, PREFIX "%016" PRIx64, random);
		fd = openat(to, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (fd < 0)
			return -1;
		if (flock(fd, LOCK_EX) == 0 && fstat(fd, &st) == 0 &&
		    st.st_nlink > 0)
			return fd;
		close(fd);
	}
	errno = EBUSY;
	return -1;
}

/* ---- copying ---- */

/* `name` is "" for an unnamed file. */
static int
open_copy(int to, char name[static NAME_BYTES], mode_t mode)
{
	int fd = openat(to, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);

	name[0] = '\0';
	/* linkat names the file through this path */
	if (fd >= 0 && access("/proc/self/fd", X_OK) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	sweep(to);
	return open_named(to, name, mode);
}

static int
name_copy(int fd, const char *name, int to, const char *as)
{
	char path[NAME_BYTES];

	if (name[0] != '\0')
		return copy_file_rename(to, name, to, as);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, path, to, as, AT_SYMLINK_FOLLOW);
}

int
copy_file(int fd, int to, const char *as)
{
	char name[NAME_BYTES];
	struct timespec times[2];
	struct stat st;
	int copy, rc, number;

	if (fstat(fd, &st) != 0)
		return -1;
	copy = open_copy(to, name, st.st_mode & 0777);
	if (copy < 0)
		return -1;
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	rc = copy_bytes(fd, copy);
	if (rc == 0)
		rc = futimens(copy, times);
	if (rc == 0)
		rc = name_copy(copy, name, to, as);
	number = errno;
	if (rc != 0 && name[0] != '\0')
		unlinkat(to, name, 0);
	close(copy);
	errno = number;
	return rc;
}
