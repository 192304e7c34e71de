/*
 * inbox - files that wait in a directory.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/inbox.h"

#include "exporters/upload/copy_file.h"
#include "proto/base/array.h"
#include "proto/os/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int
folder_open(struct folder *folder, const char *path, struct err *err)
{
	folder->path = path;
	folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->fd < 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	return 0;
}

void
folder_close(struct folder *folder)
{
	if (folder->fd >= 0)
		close(folder->fd);
	folder->fd = -1;
}

bool
folder_is_same(const struct folder *a, const struct folder *b)
{
	struct stat x, y;

	return fstat(a->fd, &x) == 0 && fstat(b->fd, &y) == 0 &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* ---- the list ----------------------------------------------------------- */

/* A file may be dated to a year that has no nanoseconds. */
static int64_t
nearest_ns(const struct timespec *time)
{
	int64_t ns;

	if (__builtin_mul_overflow(time->tv_sec, NS_PER_SECOND, &ns) ||
	    __builtin_add_overflow(ns, time->tv_nsec, &ns))
		return time->tv_sec < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

static void
note(struct folder_file *file, const struct stat *st)
{
	file->mtime_ns = nearest_ns(&st->st_mtim);
	file->bytes = (uint64_t)st->st_size;
	file->dev = st->st_dev;
	file->ino = st->st_ino;
}

static int
compare(const void *a, const void *b)
{
	const struct folder_file *x = a, *y = b;

	if (x->mtime_ns != y->mtime_ns)
		return x->mtime_ns < y->mtime_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void
sort(struct folder_list *list)
{
	if (list->count > 0)
		qsort(list->at, list->count, sizeof(*list->at), compare);
	while (list->count > FOLDER_FILES_MAX) {
		free(list->at[--list->count].name);
		list->more = true;
	}
}

static void
add(struct folder_list *list, const struct folder_file *file)
{
	list->at = grow(list->at, &list->room, list->count, sizeof(*list->at));
	list->at[list->count] = *file;
	list->at[list->count].name = strdup(file->name);
	if (list->at[list->count++].name == NULL)
		abort(); /* out of memory */
	if (list->count == 2 * FOLDER_FILES_MAX)
		sort(list);
}

int
folder_list(struct folder *folder, const struct folder_file *after,
    struct folder_list *list, struct err *err)
{
	/* Of its own: where this one stands in the directory is nobody
	 * else's. */
	int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (dir == NULL) {
		if (fd >= 0)
			close(fd);
		return err_set(err, "%s: %s", folder->path, strerror(errno));
	}
	while ((entry = readdir(dir)) != NULL) {
		struct folder_file file = { .name = entry->d_name };
		struct stat st;

		if (entry->d_type != DT_REG && entry->d_type != DT_UNKNOWN)
			continue;
		if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		note(&file, &st);
		if (after == NULL || compare(&file, after) > 0)
			add(list, &file);
	}
	sort(list);
	closedir(dir);
	return 0;
}

void
folder_list_clear(struct folder_list *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		free(list->at[i].name);
	free(list->at);
	*list = (struct folder_list){ .at = NULL };
}

/* ---- one file ----------------------------------------------------------- */

bool
folder_has(const struct folder *folder, const struct folder_file *file)
{
	struct folder_file now;
	struct stat st;

	if (fstatat(folder->fd, file->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	note(&now, &st);
	return now.dev == file->dev && now.ino == file->ino &&
	       now.mtime_ns == file->mtime_ns && now.bytes == file->bytes;
}

static enum folder_taken
say(const struct folder_file *file, struct err *err)
{
	char name[300];

	if (errno == ENOENT || errno == ELOOP || errno == ENXIO)
		return FOLDER_GONE;
	err_set(err, "%s: %s",
	    text_quote(name, sizeof(name), text_of(file->name)),
	    strerror(errno));
	return FOLDER_FAILED;
}

enum folder_taken
folder_take(
    struct folder *folder, struct folder_file *file, int *fd, struct err *err)
{
	enum folder_taken taken = FOLDER_GONE;
	struct stat st;

	*fd = openat(folder->fd, file->name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (*fd < 0)
		return say(file, err);
	if (flock(*fd, LOCK_EX | LOCK_NB) != 0)
		taken = errno == EWOULDBLOCK ? FOLDER_LOCKED : say(file, err);
	else if (fstat(*fd, &st) != 0)
		taken = say(file, err);
	else if (S_ISREG(st.st_mode)) {
		note(file, &st);
		/* Whoever had the lock before may have moved it. */
		if (folder_has(folder, file))
			return FOLDER_TAKEN;
	}
	close(*fd);
	*fd = -1;
	return taken;
}

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
