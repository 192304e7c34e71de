/*
 * folder - files that wait in a directory.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporters/grow.h"
#include "proto/clock.h"

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
