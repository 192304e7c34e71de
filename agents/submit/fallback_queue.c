/*
 * fallback_queue - the directory where events wait for an agent: the agent's
 * side.
 * SPDX-License-Identifier: MIT
 */
#include "agents/submit/fallback_queue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/config/instance.h"
#include "proto/os/log.h"
#include "proto/os/owner/trusted_dir.h"
#include "proto/wire/wire.h"

/* Most cannot be moved, or not deleted afterwards: they are not tried all. */
enum { DIRECTORIES_A_SCAN = 8 };

struct fallback_queue {
	int new_fd, bad_fd; /* directories */
	int inotify;        /* -1: none */
	uid_t owner;        /* of the file read last */
	uint64_t refused, reported;
	int64_t logged_ns;
	char frame[WIRE_PUT_BYTES_MAX];
};

static int
open_dir(int *fd, const char *dir, const char *part, struct err *err)
{
	char path[INSTANCE_PATH_BYTES];

	if (snprintf(path, sizeof(path), "%s/%s", dir, part) >=
	    (int)sizeof(path))
		return err_set(err, "%s: name too long", dir);
	if (instance_make_dir(path, err) != 0)
		return -1;
	*fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	/* A file that could not be removed afterwards must not be taken. */
	if (faccessat(*fd, ".", W_OK | X_OK, AT_EACCESS) != 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	return 0;
}

static void
watch(struct fallback_queue *fallback_queue, const char *dir)
{
	char path[INSTANCE_PATH_BYTES];

	snprintf(path, sizeof(path), "%s/new", dir);
	fallback_queue->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	/* A file that was created in new/, not moved there, is bad and takes
	 * up room: notice it as well. */
	if (fallback_queue->inotify >= 0 &&
	    inotify_add_watch(fallback_queue->inotify, path,
		IN_MOVED_TO | IN_CLOSE_WRITE) >= 0)
		return;
	log_warn(
	    "no change notifications for %s: %s; polling every few seconds",
	    path, strerror(errno));
	if (fallback_queue->inotify >= 0)
		close(fallback_queue->inotify);
	fallback_queue->inotify = -1;
}

/* A second descriptor: closedir closes the one it reads. */
static DIR *
open_listing(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = copy >= 0 ? fdopendir(copy) : NULL;

	if (listing == NULL && copy >= 0)
		close(copy);
	return listing;
}

static bool
is_random_name(const char *name)
{
	return strlen(name) == FALLBACK_QUEUE_NAME_BYTES - 1 &&
	       strspn(name, "0123456789abcdef") ==
		   FALLBACK_QUEUE_NAME_BYTES - 1;
}

/* Incomplete files of writers that died. */
static void
sweep_tmp(int tmp_fd)
{
	DIR *listing = open_listing(tmp_fd);
	const struct dirent *entry;
	struct stat st;

	while (listing != NULL && (entry = readdir(listing)) != NULL)
		if (is_random_name(entry->d_name) &&
		    fstatat(tmp_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ==
			0 &&
		    S_ISREG(st.st_mode) && time(NULL) - st.st_mtime > 3600)
			unlinkat(tmp_fd, entry->d_name, 0);
	if (listing != NULL)
		closedir(listing);
}

int
fallback_queue_open(
    struct fallback_queue **made, const char *dir, struct err *err)
{
	struct fallback_queue *fallback_queue =
	    memory_zero(1, sizeof(*fallback_queue));
	int tmp_fd = -1;

	fallback_queue->new_fd = fallback_queue->bad_fd =
	    fallback_queue->inotify = -1;
	if (instance_make_dir(dir, err) != 0 ||
	    trusted_dir_own(dir, err) != 0 ||
	    open_dir(&tmp_fd, dir, "tmp", err) != 0 ||
	    open_dir(&fallback_queue->new_fd, dir, "new", err) != 0 ||
	    open_dir(&fallback_queue->bad_fd, dir, "bad", err) != 0) {
		if (tmp_fd >= 0)
			close(tmp_fd);
		fallback_queue_close(&fallback_queue);
		return -1;
	}
	sweep_tmp(tmp_fd);
	close(tmp_fd);
	watch(fallback_queue, dir);
	*made = fallback_queue;
	return 0;
}

void
fallback_queue_close(struct fallback_queue **gone)
{
	struct fallback_queue *fallback_queue = *gone;

	*gone = NULL;
	if (fallback_queue == NULL)
		return;
	if (fallback_queue->new_fd >= 0)
		close(fallback_queue->new_fd);
	if (fallback_queue->bad_fd >= 0)
		close(fallback_queue->bad_fd);
	if (fallback_queue->inotify >= 0)
		close(fallback_queue->inotify);
	free(fallback_queue);
}

int
fallback_queue_fd(const struct fallback_queue *fallback_queue)
{
	return fallback_queue->inotify;
}

void
fallback_queue_drain(struct fallback_queue *fallback_queue)
{
	_Alignas(struct inotify_event) char notices[4096];

	/* Their content does not matter: the directory itself is read. */
	while (fallback_queue->inotify >= 0 &&
	       read(fallback_queue->inotify, notices, sizeof(notices)) > 0)
		;
}

/* Why a file must not be read, or NULL. */
static const char *
fault_of(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "is not a regular file";
	if (st->st_nlink != 1)
		return "has more than one name";
	if (st->st_size > WIRE_PUT_BYTES_MAX)
		return "is longer than 64 KiB";
	return NULL;
}

static void
report_passing(struct fallback_queue *fallback_queue, const char *name)
{
	if (errno != ENOENT && log_is_due(&fallback_queue->logged_ns))
		log_warn("fallback/new/%s: %s", name, strerror(errno));
}

/* May it be readable later, or is it gone? */
static bool
is_passing(int wrong)
{
	return wrong != EACCES && wrong != EPERM && wrong != ELOOP &&
	       wrong != ENXIO;
}

/* Those that no line has named. */
static void
report_refused(struct fallback_queue *fallback_queue)
{
	if (fallback_queue->refused == fallback_queue->reported ||
	    !log_is_due(&fallback_queue->logged_ns))
		return;
	log_warn("more files of fallback/new could not be taken, and are in "
		 "fallback/bad, which keeps the newest: %llu, at most %d",
	    (unsigned long long)(fallback_queue->refused -
				 fallback_queue->reported),
	    FALLBACK_QUEUE_BAD_MAX);
	fallback_queue->reported = fallback_queue->refused;
}

/* If there are too many, delete the oldest file of bad/; without `directories`
 * another one than these.  Only a directory that is empty can be deleted. */
static bool
keep_bound(struct fallback_queue *fallback_queue, bool directories)
{
	DIR *listing = open_listing(fallback_queue->bad_fd);
	const struct dirent *entry;
	struct stat st, oldest = { 0 };
	char name[NAME_MAX + 1] = "";
	int files = 0;

	while (listing != NULL && (entry = readdir(listing)) != NULL) {
		files += entry->d_name[0] != '.';
		if (entry->d_name[0] == '.' ||
		    fstatat(fallback_queue->bad_fd, entry->d_name, &st,
			AT_SYMLINK_NOFOLLOW) != 0 ||
		    (S_ISDIR(st.st_mode) && !directories))
			continue;
		if (*name == '\0' || st.st_mtime < oldest.st_mtime) {
			oldest = st;
			strcpy(name, entry->d_name);
		}
	}
	if (listing != NULL)
		closedir(listing);
	if (files <= FALLBACK_QUEUE_BAD_MAX)
		return true;
	return *name != '\0' &&
	       unlinkat(fallback_queue->bad_fd, name,
		   S_ISDIR(oldest.st_mode) ? AT_REMOVEDIR : 0) == 0;
}

/* Move it to bad/, which keeps its bound: directories that cannot be deleted
 * must not fill it. */
static int
move_aside(struct fallback_queue *fallback_queue, const char *name)
{
	if (renameat(fallback_queue->new_fd, name, fallback_queue->bad_fd,
		name) != 0)
		return -1;
	if (keep_bound(fallback_queue, true) ||
	    keep_bound(fallback_queue, false))
		return 0;
	renameat(fallback_queue->bad_fd, name, fallback_queue->new_fd, name);
	errno = ENOTEMPTY;
	return -1;
}

/* Move a file to bad/, and log one line a minute about it.  False: it stays. */
static bool
refuse(struct fallback_queue *fallback_queue, const char *name, const char *why)
{
	int rc = move_aside(fallback_queue, name);
	int wrong = errno;
	char shown[128];

	fallback_queue->refused += rc == 0;
	if (!log_is_due(&fallback_queue->logged_ns))
		return rc == 0;
	text_quote(shown, sizeof(shown), text_of(name));
	fallback_queue->reported = fallback_queue->refused;
	if (rc == 0)
		log_warn("fallback/new/%s %s: moved to fallback/bad "
			 "refused=%llu",
		    shown, why, (unsigned long long)fallback_queue->refused);
	else
		log_warn("fallback/new/%s %s, and cannot be moved: %s", shown,
		    why, strerror(wrong));
	return rc == 0;
}

/* Read one file.  1: it was read, 0: it was moved aside, -1: retry later. */
static int
read_file(
    struct fallback_queue *fallback_queue, const char *name, struct text *frame)
{
	int fd = openat(fallback_queue->new_fd, name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const char *why = NULL;
	struct stat st = { 0 };
	ssize_t n = 0;

	if (fd < 0 && is_passing(errno)) {
		report_passing(fallback_queue, name);
		return -1;
	}
	if (fd < 0) {
		why = errno == EACCES || errno == EPERM
			  ? "cannot be read"
			  : "is not a regular file";
		return refuse(fallback_queue, name, why) ? 0 : -1;
	}
	if (fstat(fd, &st) != 0)
		why = "cannot be examined";
	else
		why = fault_of(&st);
	fallback_queue->owner = st.st_uid;
	if (why == NULL)
		n = pread(fd, fallback_queue->frame,
		    sizeof(fallback_queue->frame), 0);
	close(fd);
	if (why != NULL)
		return refuse(fallback_queue, name, why) ? 0 : -1;
	if (n < 0) {
		report_passing(fallback_queue, name);
		return -1;
	}
	*frame = (struct text){ fallback_queue->frame, (uint32_t)n };
	return 1;
}

/* Also "." and "..". */
static bool
is_directory(DIR *listing, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(dirfd(listing), entry->d_name, &st,
		   AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(st.st_mode);
}

int
fallback_queue_scan(struct fallback_queue *fallback_queue, int files_max,
    bool (*take)(void *arg, const char *name, struct text frame), void *arg,
    struct err *err)
{
	DIR *listing = open_listing(fallback_queue->new_fd);
	const struct dirent *entry;
	int taken = 0, directories = 0;

	if (listing == NULL)
		return err_set(err, "fallback/new: %s", strerror(errno));
	while (taken < files_max && (entry = readdir(listing)) != NULL) {
		struct text frame;
		int rc;

		if (is_directory(listing, entry)) {
			if (entry->d_name[0] != '.' &&
			    directories++ < DIRECTORIES_A_SCAN)
				refuse(fallback_queue, entry->d_name,
				    "is a directory");
			continue;
		}
		if (!is_random_name(entry->d_name)) {
			taken += refuse(fallback_queue, entry->d_name,
			    "has an invalid name");
			continue;
		}
		rc = read_file(fallback_queue, entry->d_name, &frame);
		taken += rc >= 0;
		if (rc > 0 && !take(arg, entry->d_name, frame))
			refuse(fallback_queue, entry->d_name,
			    "is not a submission frame");
	}
	closedir(listing);
	report_refused(fallback_queue);
	return taken;
}

uid_t
fallback_queue_owner(const struct fallback_queue *fallback_queue)
{
	return fallback_queue->owner;
}

int
fallback_queue_remove(
    struct fallback_queue *fallback_queue, const char *name, struct err *err)
{
	if (unlinkat(fallback_queue->new_fd, name, 0) != 0 && errno != ENOENT)
		return err_set(
		    err, "fallback/new/%s: %s", name, strerror(errno));
	return 0;
}

int
fallback_queue_sync(struct fallback_queue *fallback_queue, struct err *err)
{
	if (fsync(fallback_queue->new_fd) != 0)
		return err_set(err, "fallback/new: %s", strerror(errno));
	return 0;
}
