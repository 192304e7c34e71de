/*
 * trusted_file - small files that only their owner, or root, can write.
 * SPDX-License-Identifier: MIT
 */
#include "proto/keys/trusted_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/hash/hash.h"
#include "proto/os/whole_file.h"

enum { PATH_BYTES = 4096 };

/* The directory of a path, with a dot at the end. */
static int
directory_of(char to[static PATH_BYTES], const char *path)
{
	const char *slash = strrchr(path, '/');
	int directory = slash != NULL ? (int)(slash - path) + 1 : 0;
	int n = snprintf(to, PATH_BYTES, "%.*s.", directory, path);

	if (n >= 0 && n < PATH_BYTES)
		return 0;
	errno = ENAMETOOLONG;
	return -1;
}

/* Root may use files of another user: those of the directory's owner. */
static bool
is_trusted(uid_t owner, const char *path)
{
	char directory[PATH_BYTES];
	struct stat st;

	if (owner == geteuid() || owner == 0)
		return true;
	return geteuid() == 0 && directory_of(directory, path) == 0 &&
	       stat(directory, &st) == 0 && st.st_uid == owner;
}

static int
check_mode(const struct stat *st, const char *path, enum trusted_file kind,
    struct err *err)
{
	bool list = kind == TRUSTED_FILE_LIST;

	if (!S_ISREG(st->st_mode))
		return err_set(err, "%.300s is not a regular file", path);
	if (!is_trusted(st->st_uid, path))
		return err_set(err,
		    "%.300s belongs to another user (uid %u), who could change "
		    "it",
		    path, (unsigned)st->st_uid);
	if ((st->st_mode & (list ? 022 : 077)) != 0)
		return err_set(err,
		    "%.300s can be %s by others (mode %04o): run chmod %s",
		    path, list ? "changed" : "read",
		    (unsigned)st->st_mode & 07777, list ? "go-w" : "600");
	return 0;
}

int
trusted_file_open(
    const char *path, enum trusted_file kind, bool *missing, struct err *err)
{
	/* Opening a pipe must not wait for its other end. */
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	struct stat st;
	int fd;

	if (kind != TRUSTED_FILE_SECRET)
		flags |= O_NOFOLLOW;
	fd = open(path, flags);
	if (missing != NULL)
		*missing = fd < 0 && errno == ENOENT;
	if (fd < 0 && errno == ELOOP && kind != TRUSTED_FILE_SECRET)
		return err_set(err, "%.300s is a symbolic link", path);
	if (fd < 0)
		return err_set(err, "%.300s: %s%s", path, strerror(errno),
		    errno == ENOENT && kind == TRUSTED_FILE_KEY
			? " (create keys with poolscope keys new)"
			: "");
	if (fstat(fd, &st) != 0)
		err_set(err, "%.300s: %s", path, strerror(errno));
	else if (check_mode(&st, path, kind, err) == 0)
		return fd;
	close(fd);
	return -1;
}

ssize_t
trusted_file_read(int fd, void *to, size_t room)
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

/* A file that root creates in another user's directory must belong to the
 * owner of the directory, or not be created. */
static int
owner_of(const char *directory, struct stat *st, const struct stat **owner)
{
	*owner = NULL;
	if (geteuid() != 0)
		return 0;
	if (stat(directory, st) != 0)
		return -1;
	if (st->st_uid != 0)
		*owner = st;
	return 0;
}

int
trusted_file_write(const char *path, const void *at, size_t bytes, bool replace,
    struct err *err)
{
	char directory[PATH_BYTES], temporary[PATH_BYTES + 32];
	struct whole_file file = {
		.path = path, .temporary = temporary, .is_new = !replace
	};
	struct stat st;
	uint64_t random;

	assert(bytes <= UINT32_MAX);
	hash_random_bytes(&random, sizeof(random));
	if (directory_of(directory, path) != 0 ||
	    owner_of(directory, &st, &file.owner) != 0)
		return err_set(err, "%.300s: %s", path, strerror(errno));
	/* The dot of the directory is the first character of the temporary
	 * name. */
	snprintf(temporary, sizeof(temporary), "%snew-%016" PRIx64, directory,
	    random);
	if (whole_file_write(&file, at, (uint32_t)bytes) != 0)
		return err_set(err, "%.300s: %s", path, strerror(errno));
	return 0;
}
