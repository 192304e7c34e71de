/*
 * lockfile - files that a running process holds: locks, and others that must
 * keep their names.
 *
 * The file of a lock contains the pid and a newline.  The lock is flock(2): it
 * ends with the process, however that ends.  So the next process takes over a
 * file that was left behind.  A file that is removed while it is held is made
 * again (held_file_add); what must never be held twice, meanwhile either, locks
 * its directory as well.
 *
 * A file that somebody removes or replaces while it is open goes on taking
 * what is written to it, and all of that is gone when the process ends; the
 * next process makes another one.  So whoever holds a file open for long adds
 * it here, and a service checks them every HELD_FILE_PERIOD_NS.  Any thread may
 * add and drop.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_LOCKFILE_H
#define PROTO_OS_LOCKFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

/* ---- files that must keep their names ---- */

#define HELD_FILE_PERIOD_NS INT64_C(2000000000)

struct held_file; /* opaque */

/* Returns a new entry: `path` is to remain the file that it is now.  NULL: it
 * is none.  If it is another one later, `renew` may put that right; it neither
 * adds nor drops entries.  NULL: nothing can. */
struct held_file *held_file_add(
    const char *path, int (*renew)(void *arg, struct err *err), void *arg);
void held_file_drop(struct held_file **held);

/* -1: a file is gone or another one and could not be renewed; the process
 * should end, without removing files by name. */
int held_file_check(struct err *err);

/* ---- locks ---- */

/* Zeroed: not held. */
struct lockfile {
	int fd;
	char *path; /* NULL: not held */
	struct held_file *held;
	bool has_dir;
	int dir;
};

enum {
	LOCKFILE_NOT_HELD = 0,
	LOCKFILE_PID_UNKNOWN = -1, /* held; the pid is not written yet */
};

/* Create the file (0600) if needed, lock it, write the pid.  What is there must
 * be a file of this user or of root: no link, no pipe.  -1 when another
 * process holds it: `*holder` is then its pid or LOCKFILE_PID_UNKNOWN.  -1 also
 * when the file cannot be opened or written: `*holder` is then
 * LOCKFILE_NOT_HELD. */
int lockfile_take(
    struct lockfile *lockfile, const char *path, long *holder, struct err *err);

/* As lockfile_take, for DIR/NAME; and lock the directory itself, so that nobody
 * has it twice when the file is removed.  Of two names in a directory one at
 * most is taken so. */
int lockfile_take_dir(struct lockfile *lockfile, const char *dir,
    const char *name, long *holder, struct err *err);

/* The process that holds it; 0: none, unknown, or not one of the file's
 * owner. */
long lockfile_holder(const char *path);

/* Set the time of the file to now: a process that asked the holder to do
 * something sees that it was done.  Does nothing if the lock is not held. */
void lockfile_touch(const struct lockfile *lockfile);

/* Remove the file, unless it is another one, and release the lock.  Does
 * nothing if it is not held. */
void lockfile_release(struct lockfile *lockfile);

#endif
