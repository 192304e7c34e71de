/*
 * folder_move - a file leaves a directory, and nothing is lost on the way.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_BYTES = 64 << 10, NAME_BYTES = 256 };

/* As renameat, but that nothing is replaced: EEXIST. */
static int
rename_new(int from, const char *name, int to, const char *as)
{
	if (renameat2(from, name, to, as, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	/* A file system that cannot do it at one go. */
	if (linkat(from, name, to, as, 0) != 0)
		return -1;
	return unlinkat(from, name, 0);
}

/* From where `fd` stands; -1: errno. */
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

/* A copy in `to` that nobody sees yet, with the times and mode of `fd`. */
static int
make_copy(int fd, struct folder *to, const char *temporary)
{
	struct stat st;
	struct timespec times[2];
	int copy, rc, number;

	if (fstat(fd, &st) != 0)
		return -1;
	copy = openat(to->fd, temporary,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	    st.st_mode & 0777);
	if (copy < 0)
		return -1;
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	rc = copy_bytes(fd, copy);
	if (rc == 0)
		rc = futimens(copy, times);
	number = errno;
	if (close(copy) != 0 && rc == 0) {
		rc = -1;
		number = errno;
	}
	if (rc != 0)
		unlinkat(to->fd, temporary, 0);
	errno = number;
	return rc;
}

/* Between file systems: the copy is whole and on disk before it has its name,
 * and has its name before the file goes. */
static int
move_across(struct folder *from, const struct folder_file *file, int fd,
    struct folder *to, const char *as)
{
	char temporary[64];
	int number;

	snprintf(temporary, sizeof(temporary), ".poolscope.%ld.%llx",
	    (long)getpid(), (unsigned long long)file->ino);
	if (make_copy(fd, to, temporary) != 0)
		return -1;
	if (rename_new(to->fd, temporary, to->fd, as) != 0) {
		number = errno;
		unlinkat(to->fd, temporary, 0);
		errno = number;
		return -1;
	}
	/* Its name, too, before the other one goes. */
	if (fsync(to->fd) != 0)
		return -1;
	return unlinkat(from->fd, file->name, 0);
}

static int
move_as(struct folder *from, const struct folder_file *file, int fd,
    struct folder *to, const char *as)
{
	if (rename_new(from->fd, file->name, to->fd, as) == 0)
		return 0;
	if (errno != EXDEV)
		return -1;
	return move_across(from, file, fd, to, as);
}

/* Is what is called so in `to` the same, byte for byte? */
static bool
is_same(struct folder *to, const char *name, int fd)
{
	char a[8192], b[8192];
	int other = openat(
	    to->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool same = other >= 0;
	struct stat st;
	off_t at = 0;
	ssize_t n = 1;

	if (same && (fstat(other, &st) != 0 || !S_ISREG(st.st_mode)))
		same = false;
	while (same && n > 0) {
		n = pread(fd, a, sizeof(a), at);
		same = n >= 0 && pread(other, b, sizeof(b), at) == n &&
		       memcmp(a, b, (size_t)n) == 0;
		at += n;
	}
	if (other >= 0)
		close(other);
	return same;
}

/* Something is called so. */
static int
move_beside(struct folder *from, const struct folder_file *file, int fd,
    struct folder *to, const char *tag)
{
	char as[NAME_BYTES];
	int cut = (int)(sizeof(as) - strlen(tag) - 2);

	if (is_same(to, file->name, fd))
		return unlinkat(from->fd, file->name, 0);
	snprintf(as, sizeof(as), "%.*s.%s", cut, file->name, tag);
	if (move_as(from, file, fd, to, as) == 0)
		return 0;
	if (errno == EEXIST && is_same(to, as, fd))
		return unlinkat(from->fd, file->name, 0);
	return -1;
}

int
folder_move(struct folder *from, const struct folder_file *file, int fd,
    struct folder *to, const char *tag, bool *gone, struct err *err)
{
	char name[300];
	int rc;

	*gone = !folder_has(from, file);
	if (*gone)
		return 0;
	rc = move_as(from, file, fd, to, file->name);
	if (rc != 0 && errno == EEXIST)
		rc = move_beside(from, file, fd, to, tag);
	if (rc == 0)
		return 0;
	return err_set(err, "%s: cannot be moved to %s: %s",
	    text_quote(name, sizeof(name), text_of(file->name)), to->path,
	    strerror(errno));
}
