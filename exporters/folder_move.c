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

#include "exporters/folder_copy.h"

enum { NAME_BYTES = 256 };

/* Unless it is another one by now. */
static int
remove_file(
    const struct folder *from, const struct folder_file *file, bool *gone)
{
	*gone = !folder_has(from, file);
	return *gone ? 0 : unlinkat(from->fd, file->name, 0);
}

/* Between file systems: the copy is whole and on disk before it has its name,
 * and has its name before the file goes. */
static int
move_across(struct folder *from, const struct folder_file *file, int fd,
    struct folder *to, const char *as, bool *gone)
{
	if (folder_copy(fd, to->fd, as) != 0)
		return -1;
	/* Its name, too, before the other one goes. */
	if (fsync(to->fd) != 0)
		return -1;
	return remove_file(from, file, gone);
}

/* What came in its place since it was looked at has not been read yet: it goes
 * back, unless there is a still newer one. */
static int
look_again(struct folder *from, const struct folder_file *file,
    struct folder *to, char *as, bool *gone)
{
	struct folder_file moved = *file;

	moved.name = as;
	*gone = !folder_has(to, &moved);
	if (!*gone ||
	    folder_rename_new(to->fd, as, from->fd, file->name) == 0 ||
	    errno == EEXIST || errno == ENOENT)
		return 0;
	return -1;
}

static int
move_as(struct folder *from, const struct folder_file *file, int fd,
    struct folder *to, char *as, bool *gone)
{
	if (folder_rename_new(from->fd, file->name, to->fd, as) == 0)
		return look_again(from, file, to, as, gone);
	if (errno != EXDEV)
		return -1;
	return move_across(from, file, fd, to, as, gone);
}

/* Is what is called so in `to` the same, byte for byte?  Leaves errno. */
static bool
is_same(struct folder *to, const char *name, int fd)
{
	char a[8192], b[8192];
	int number = errno;
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
	errno = number;
	return same;
}

/* Something is called so. */
static int
move_beside(struct folder *from, const struct folder_file *file, int fd,
    struct folder *to, const char *tag, bool *gone)
{
	char as[NAME_BYTES];
	int cut = (int)(sizeof(as) - strlen(tag) - 2);

	if (is_same(to, file->name, fd))
		return remove_file(from, file, gone);
	snprintf(as, sizeof(as), "%.*s.%s", cut, file->name, tag);
	if (move_as(from, file, fd, to, as, gone) == 0)
		return 0;
	if (errno == EEXIST && is_same(to, as, fd))
		return remove_file(from, file, gone);
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
	rc = move_as(from, file, fd, to, file->name, gone);
	if (rc != 0 && errno == EEXIST)
		rc = move_beside(from, file, fd, to, tag, gone);
	/* Removed in between, if it is not `to` that was. */
	if (rc != 0 && errno == ENOENT && !folder_has(from, file)) {
		*gone = true;
		rc = 0;
	}
	if (rc == 0)
		return 0;
	return err_set(err, "%s: cannot be moved to %s: %s",
	    text_quote(name, sizeof(name), text_of(file->name)), to->path,
	    strerror(errno));
}
