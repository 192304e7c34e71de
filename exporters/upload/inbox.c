/*
 * inbox - the files that wait in a directory.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/inbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"

/*
 * Copy a file to another directory, where it appears complete or not at all.
 *
 * The copy has no name until it is complete, so that a killed process leaves
 * nothing.  On file systems without unnamed files (O_TMPFILE) the copy is
 * called .poolscope.NUMBER and locked until then; unlocked files with such
 * names are leftovers of killed processes, and are removed by the next copy.
 */

enum { COPY_BYTES = 64 << 10, NAME_BYTES = 64, DIGITS = 16, TRIES = 8 };
#define PREFIX ".poolscope."

/* Like renameat, but never replaces a file: EEXIST. */
static int
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

/* Copy `fd`, with its times and mode, to `as` in the directory `to`; never
 * replaces a file: EEXIST.  -1: errno. */
static int
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
	MEMORY_GROW(list->at, list->room, list->count);
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

/* Does the name still refer to the same, unchanged file? */
static bool
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

enum { INBOX_NAME_BYTES = 256 };

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
	char as[INBOX_NAME_BYTES];
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
