/*
 * lockfile - a file that one running process holds.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/memory.h"

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

int
lockfile_take(
    struct lockfile *lockfile, const char *path, long *holder, struct err *err)
{
	int fd;

	*holder = LOCKFILE_NOT_HELD;
	for (;;) {
		fd =
		    open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0)
			return err_set(err, "%s: %s", path, strerror(errno));
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
	lockfile->path = memory_string(path);
	lockfile->fd = fd;
	return 0;
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
	unlink(lockfile->path);
	close(lockfile->fd);
	free(lockfile->path);
	lockfile->path = NULL;
}
