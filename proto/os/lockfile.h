/*
 * lockfile - a file that one living process holds.
 *
 * The file holds the pid and a newline.  The lock is flock(2)'s: it goes when
 * the process goes, however that happens, so a file that was left behind is
 * taken over and needs nobody to clean up.
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

/* Make the file (0600) if it is not there, lock it, write the pid.  -1 when
 * it cannot be made, or when another process holds it: `*holder` is then that
 * pid, else 0 (also when the holder has not written it yet). */
int lockfile_take(
    struct lockfile *lockfile, const char *path, long *holder, struct err *err);

/* The process that holds it; 0: nobody does, or it cannot be known. */
long lockfile_holder(const char *path);

/* Give the file the time of now: who asked the holder for something sees that
 * it is done.  A lock that is not held stays as it is. */
void lockfile_touch(const struct lockfile *lockfile);

/* Remove the file and let go.  A lock that is not held stays as it is. */
void lockfile_release(struct lockfile *lockfile);

#endif
