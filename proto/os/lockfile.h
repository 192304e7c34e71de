/*
 * lockfile - a file that one running process holds.
 *
 * The file contains the pid and a newline.  The lock is flock(2): it ends with
 * the process, however that ends.  So the next process takes over a file that
 * was left behind.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_LOCKFILE_H
#define PROTO_OS_LOCKFILE_H

#include <stdbool.h>

#include "proto/base/err.h"

/* Zeroed: not held. */
struct lockfile {
	int fd;
	char *path; /* NULL: not held */
};

enum {
	LOCKFILE_NOT_HELD = 0,
	LOCKFILE_PID_UNKNOWN = -1, /* held; the pid is not written yet */
};

/* Create the file (0600) if needed, lock it, write the pid.  -1 when another
 * process holds it: `*holder` is then its pid or LOCKFILE_PID_UNKNOWN.  -1 also
 * when the file cannot be opened or written: `*holder` is then
 * LOCKFILE_NOT_HELD. */
int lockfile_take(
    struct lockfile *lockfile, const char *path, long *holder, struct err *err);

/* The process that holds it; 0: none, or unknown. */
long lockfile_holder(const char *path);

/* Set the time of the file to now: a process that asked the holder to do
 * something sees that it was done.  Does nothing if the lock is not held. */
void lockfile_touch(const struct lockfile *lockfile);

/* Remove the file and release the lock.  Does nothing if it is not held. */
void lockfile_release(struct lockfile *lockfile);

#endif
