/*
 * lockfile - files that a running process holds.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/os/log.h"

/* ---- files that must keep their names ---- */

struct held_file {
	struct held_file *next;
	char *path;
	dev_t device;
	ino_t inode;
	int (*renew)(void *arg, struct err *err);
	void *arg;
};

static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;
static struct held_file *held_first;

static bool
identify(struct held_file *held)
{
	struct stat st;

	if (lstat(held->path, &st) != 0)
		return false;
	held->device = st.st_dev;
	held->inode = st.st_ino;
	return true;
}

struct held_file *
held_file_add(
    const char *path, int (*renew)(void *arg, struct err *err), void *arg)
{
	struct held_file *held = memory_zero(1, sizeof(*held));

	held->path = memory_string(path);
	held->renew = renew;
	held->arg = arg;
	if (!identify(held)) {
		free(held->path);
		free(held);
		return NULL;
	}
	pthread_mutex_lock(&held_lock);
	held->next = held_first;
	held_first = held;
	pthread_mutex_unlock(&held_lock);
	return held;
}

void
held_file_drop(struct held_file **held)
{
	struct held_file **link;

	if (*held == NULL)
		return;
	pthread_mutex_lock(&held_lock);
	for (link = &held_first; *link != *held; link = &(*link)->next)
		;
	*link = (*held)->next;
	pthread_mutex_unlock(&held_lock);
	free((*held)->path);
	free(*held);
	*held = NULL;
}

static bool
is_there(const struct held_file *held)
{
	struct stat st;

	/* A disk or a directory that cannot be asked now says nothing. */
	if (lstat(held->path, &st) != 0)
		return errno != ENOENT && errno != ENOTDIR;
	return st.st_dev == held->device && st.st_ino == held->inode;
}

static int
renew_held(struct held_file *held, struct err *err)
{
	struct err why = { 0 };

	if (held->renew == NULL)
		return err_set(err,
		    "%s was removed or replaced while it was in use",
		    held->path);
	if (held->renew(held->arg, &why) != 0 || !identify(held))
		return err_set(err,
		    "%s was removed or replaced while it was in use, and "
		    "could not be made again: %s",
		    held->path, why.text);
	log_warn("%s was removed or replaced while it was in use; it is there "
		 "again",
	    held->path);
	return 0;
}

int
held_file_check(struct err *err)
{
	int rc = 0;

	pthread_mutex_lock(&held_lock);
	for (struct held_file *at = held_first; at != NULL && rc == 0;
	     at = at->next)
		if (!is_there(at))
			rc = renew_held(at, err);
	pthread_mutex_unlock(&held_lock);
	return rc;
}

/* ---- locks ---- */

enum { TRIES = 20, PAUSE_NS = 10000000 };

/* Does the path still refer to the file that we locked?  The previous holder
 * may have removed it between our open and our flock. */
static bool
is_current(int fd, const char *path)
{
	struct stat ours, named;

	return fstat(fd, &ours) == 0 && stat(path, &named) == 0 &&
	       ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

static long
read_pid(int fd)
{
	char text[32];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	return strtol(text, NULL, 10);
}

static int
write_pid(int fd, const char *path, struct err *err)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

	if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)n, 0) != n)
		return err_set(err, "%s: %s", path, strerror(errno));
	return 0;
}

static void
refused(int fd, const char *path, int why, long *holder, struct err *err)
{
	if (why != EWOULDBLOCK) {
		err_set(err, "%s: %s", path, strerror(why));
		return;
	}
	*holder = read_pid(fd);
	if (*holder > 0) {
		err_set(err, "%s is held by process %ld", path, *holder);
		return;
	}
	*holder = LOCKFILE_PID_UNKNOWN;
	err_set(err, "%s is held by another process", path);
}

/* One that looks who holds a file (lockfile_holder) holds it for a moment. */
static bool
lock(int fd)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	for (int i = 0; i < TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return true;
		if (errno != EWOULDBLOCK)
			return false;
		nanosleep(&pause, NULL);
	}
	errno = EWOULDBLOCK;
	return false;
}

static int
not_opened(const char *path, int why, struct err *err)
{
	struct stat st;

	if (why == ELOOP)
		return err_set(err, "%s is a link: remove it", path);
	if (why == EACCES && lstat(path, &st) == 0 && st.st_uid != geteuid())
		return err_set(err,
		    "%s belongs to another user (uid %u): remove it", path,
		    (unsigned)st.st_uid);
	return err_set(err, "%s: %s", path, strerror(why));
}

/* Others may have put a file of theirs in the place of ours. */
static int
check_file(int fd, const char *path, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_nlink > 1)
		return err_set(err,
		    "%s is not a file of its own, as a lock must be: remove it",
		    path);
	if (st.st_uid == geteuid() || st.st_uid == 0)
		return 0;
	return err_set(err, "%s belongs to another user (uid %u): remove it",
	    path, (unsigned)st.st_uid);
}

static int
take(int *taken, const char *path, long *holder, struct err *err)
{
	int fd;

	*holder = LOCKFILE_NOT_HELD;
	for (;;) {
		fd = open(path,
		    O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		    0600);
		if (fd < 0)
			return not_opened(path, errno, err);
		if (check_file(fd, path, err) != 0) {
			close(fd);
			return -1;
		}
		if (!lock(fd)) {
			refused(fd, path, errno, holder, err);
			close(fd);
			return -1;
		}
		if (is_current(fd, path))
			break;
		close(fd);
	}
	if (write_pid(fd, path, err) != 0) {
		close(fd);
		return -1;
	}
	*taken = fd;
	return 0;
}

/* Somebody has removed or replaced the file: make it again. */
static int
take_again(void *arg, struct err *err)
{
	struct lockfile *lockfile = arg;
	long holder;
	int fd;

	if (take(&fd, lockfile->path, &holder, err) != 0)
		return -1;
	close(lockfile->fd);
	lockfile->fd = fd;
	return 0;
}

int
lockfile_take(
    struct lockfile *lockfile, const char *path, long *holder, struct err *err)
{
	*lockfile = (struct lockfile){ 0 };
	if (take(&lockfile->fd, path, holder, err) != 0)
		return -1;
	lockfile->path = memory_string(path);
	lockfile->held = held_file_add(path, take_again, lockfile);
	return 0;
}

/* Network file systems lock no directories: there the file has to do. */
static int
lock_dir(struct lockfile *lockfile, const char *dir, struct err *err)
{
	lockfile->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lockfile->dir < 0)
		return err_set(err, "%s: %s", dir, strerror(errno));
	lockfile->has_dir = true;
	if (lock(lockfile->dir) || errno != EWOULDBLOCK)
		return 0;
	return err_set(err,
	    "%s is in use by another process, whose lock file was removed",
	    dir);
}

int
lockfile_take_dir(struct lockfile *lockfile, const char *dir, const char *name,
    long *holder, struct err *err)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >=
	    (int)sizeof(path))
		return err_set(err, "%s: %s", dir, strerror(ENAMETOOLONG));
	if (lockfile_take(lockfile, path, holder, err) != 0)
		return -1;
	if (lock_dir(lockfile, dir, err) != 0) {
		*holder = LOCKFILE_PID_UNKNOWN;
		lockfile_release(lockfile);
		return -1;
	}
	return 0;
}

/* Who wrote the file could name the process of anybody, which its reader may
 * send a signal. */
static bool
is_of_owner(int fd, long pid)
{
	struct stat file, process;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%ld", pid);
	return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) &&
	       stat(path, &process) == 0 && file.st_uid == process.st_uid;
}

long
lockfile_holder(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	long holder = 0;

	if (fd < 0)
		return 0;
	if (flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		holder = read_pid(fd);
	if (holder > 0 && !is_of_owner(fd, holder))
		holder = 0;
	close(fd);
	return holder;
}

void
lockfile_touch(const struct lockfile *lockfile)
{
	struct timespec times[2];

	if (lockfile->path == NULL)
		return;
	/* UTIME_NOW may lie some milliseconds in the past. */
	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[1] = times[0];
	futimens(lockfile->fd, times);
}

void
lockfile_release(struct lockfile *lockfile)
{
	if (lockfile->path == NULL)
		return;
	held_file_drop(&lockfile->held);
	if (is_current(lockfile->fd, lockfile->path))
		unlink(lockfile->path);
	close(lockfile->fd);
	if (lockfile->has_dir)
		close(lockfile->dir);
	free(lockfile->path);
	lockfile->path = NULL;
}
