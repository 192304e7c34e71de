/*
 * inbox - the files that wait in a directory.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/directory/inbox.h"

#include "exporters/upload/directory/copy_file.h"
#include "proto/base/memory.h"
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
inbox_open(struct inbox *inbox, const char *path, struct err *err)
{
	inbox->path = path;
	inbox->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (inbox->fd < 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	return 0;
}

void
inbox_close(struct inbox *inbox)
{
	if (inbox->fd >= 0)
		close(inbox->fd);
	inbox->fd = -1;
}

bool
inbox_is_same(const struct inbox *a, const struct inbox *b)
{
	struct stat x, y;

	return fstat(a->fd, &x) == 0 && fstat(b->fd, &y) == 0 &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* ---- the list ---- */

/* The year of a file may be outside the range of nanoseconds. */
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
note(struct inbox_file *file, const struct stat *st)
{
	file->mtime_ns = nearest_ns(&st->st_mtim);
	file->bytes = (uint64_t)st->st_size;
	file->dev = st->st_dev;
	file->ino = st->st_ino;
}

static int
compare(const void *a, const void *b)
{
	const struct inbox_file *x = a, *y = b;

	if (x->mtime_ns != y->mtime_ns)
		return x->mtime_ns < y->mtime_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void
sort(struct inbox_list *list)
{
	if (list->count > 0)
		qsort(list->at, list->count, sizeof(*list->at), compare);
	while (list->count > INBOX_FILES_MAX) {
		free(list->at[--list->count].name);
		list->more = true;
	}
}

static void
add(struct inbox_list *list, const struct inbox_file *file)
{
	list->at =
	    memory_grow(list->at, &list->room, list->count, sizeof(*list->at));
	list->at[list->count] = *file;
	list->at[list->count++].name = memory_string(file->name);
	if (list->count == 2 * INBOX_FILES_MAX)
		sort(list);
}

int
inbox_list(struct inbox *inbox, const struct inbox_file *after,
    struct inbox_list *list, struct err *err)
{
	/* A new open file description: its directory offset is not shared. */
	int fd = openat(inbox->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (dir == NULL) {
		if (fd >= 0)
			close(fd);
		return err_set(err, "%s: %s", inbox->path, strerror(errno));
	}
	while ((entry = readdir(dir)) != NULL) {
		struct inbox_file file = { .name = entry->d_name };
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
inbox_list_clear(struct inbox_list *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		free(list->at[i].name);
	free(list->at);
	*list = (struct inbox_list){ .at = NULL };
}

/* ---- one file ---- */

bool
inbox_has(const struct inbox *inbox, const struct inbox_file *file)
{
	struct inbox_file now;
	struct stat st;

	if (fstatat(inbox->fd, file->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	note(&now, &st);
	return now.dev == file->dev && now.ino == file->ino &&
	       now.mtime_ns == file->mtime_ns && now.bytes == file->bytes;
}

static enum inbox_taken
set_error(const struct inbox_file *file, struct err *err)
{
	char name[300];

	if (errno == ENOENT || errno == ELOOP || errno == ENXIO)
		return INBOX_GONE;
	err_set(err, "%s: %s",
	    text_quote(name, sizeof(name), text_of(file->name)),
	    strerror(errno));
	return INBOX_FAILED;
}

enum inbox_taken
inbox_take(
    struct inbox *inbox, struct inbox_file *file, int *fd, struct err *err)
{
	enum inbox_taken taken = INBOX_GONE;
	struct stat st;

	*fd = openat(inbox->fd, file->name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (*fd < 0)
		return set_error(file, err);
	if (flock(*fd, LOCK_EX | LOCK_NB) != 0)
		taken =
		    errno == EWOULDBLOCK ? INBOX_LOCKED : set_error(file, err);
	else if (fstat(*fd, &st) != 0)
		taken = set_error(file, err);
	else if (S_ISREG(st.st_mode)) {
		note(file, &st);
		/* The previous holder of the lock may have moved the file. */
		if (inbox_has(inbox, file))
			return INBOX_TAKEN;
	}
	close(*fd);
	*fd = -1;
	return taken;
}

enum { NAME_BYTES = 256 };

/* Unless another file has the name now. */
static int
remove_file(const struct inbox *from, const struct inbox_file *file, bool *gone)
{
	*gone = !inbox_has(from, file);
	return *gone ? 0 : unlinkat(from->fd, file->name, 0);
}

/* Between file systems: the copy is complete and on disk before it gets its
 * name, and has its name before the file is removed. */
static int
move_across(struct inbox *from, const struct inbox_file *file, int fd,
    struct inbox *to, const char *as, bool *gone)
{
	if (copy_file(fd, to->fd, as) != 0)
		return -1;
	/* Sync the new name too before the old one is removed. */
	if (fsync(to->fd) != 0)
		return -1;
	return remove_file(from, file, gone);
}

/* A file that replaced this one in the meantime has not been read: it is moved
 * back unless an even newer one exists. */
static int
return_newer(struct inbox *from, const struct inbox_file *file,
    struct inbox *to, char *as, bool *gone)
{
	struct inbox_file moved = *file;

	moved.name = as;
	*gone = !inbox_has(to, &moved);
	if (!*gone || copy_file_rename(to->fd, as, from->fd, file->name) == 0 ||
	    errno == EEXIST || errno == ENOENT)
		return 0;
	return -1;
}

static int
move_as(struct inbox *from, const struct inbox_file *file, int fd,
    struct inbox *to, char *as, bool *gone)
{
	if (copy_file_rename(from->fd, file->name, to->fd, as) == 0)
		return return_newer(from, file, to, as, gone);
	if (errno != EXDEV)
		return -1;
	return move_across(from, file, fd, to, as, gone);
}

/* Does `to` have an identical file of this name?  Preserves errno. */
static bool
is_same(struct inbox *to, const char *name, int fd)
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

/* `to` has a file of this name: move the file as NAME.TAG. */
static int
move_renamed(struct inbox *from, const struct inbox_file *file, int fd,
    struct inbox *to, const char *tag, bool *gone)
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
inbox_move(struct inbox *from, const struct inbox_file *file, int fd,
    struct inbox *to, const char *tag, bool *gone, struct err *err)
{
	char name[300];
	int rc;

	*gone = !inbox_has(from, file);
	if (*gone)
		return 0;
	rc = move_as(from, file, fd, to, file->name, gone);
	if (rc != 0 && errno == EEXIST)
		rc = move_renamed(from, file, fd, to, tag, gone);
	/* Removed in between, unless `to` itself was. */
	if (rc != 0 && errno == ENOENT && !inbox_has(from, file)) {
		*gone = true;
		rc = 0;
	}
	if (rc == 0)
		return 0;
	return err_set(err, "%s: cannot move it to %s: %s",
	    text_quote(name, sizeof(name), text_of(file->name)), to->path,
	    strerror(errno));
}
