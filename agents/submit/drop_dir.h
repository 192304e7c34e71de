/*
 * drop_dir - the directory where events wait for an agent.
 *
 *     DIR/tmp/UUID   being written
 *     DIR/new/UUID   complete: one put frame
 *     DIR/bad/       what was not one; at most DROP_DIR_BAD_MAX, oldest go
 *
 * The sender's side is drop_dir_leave.  The agent's side must keep to one
 * order, or a crash loses or doubles an event: take into the spool, commit,
 * remove, drop_dir_sync, and only then may the batch be sent (proto/spool.md).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SUBMIT_DROP_DIR_H
#define AGENTS_SUBMIT_DROP_DIR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/record/record.h"

enum {
	DROP_DIR_NAME_BYTES = 33,   /* 32 hexadecimal digits and NUL */
	DROP_DIR_FILES_MAX = 10000, /* waiting; then drop_dir_leave refuses */
	DROP_DIR_BAD_MAX = 64,
};

/* Leave a frame for the agent, named by its first uuid; on disk when 0.  The
 * directory is made when it is not there.  1: no room (the bound, or the
 * disk). */
int drop_dir_leave(const char *dir, const unsigned char uuid[RECORD_ID_BYTES],
    struct text frame, struct err *err);

struct drop_dir; /* opaque */

int drop_dir_open(struct drop_dir **drop_dir, const char *dir, struct err *err);
void drop_dir_close(struct drop_dir **drop_dir);

/* An inotify descriptor that is readable when something may have come; -1
 * when the kernel gave none and a timer must do. */
int drop_dir_fd(const struct drop_dir *drop_dir);
/* Take the notices off the descriptor. */
void drop_dir_drain(struct drop_dir *drop_dir);

/* Go through what waits, at most `files_max` files: `take` gets the name and
 * the content (a view, valid during the call) of each; what it takes for bad
 * (false) is moved to bad/.  A file that is not regular, has two names or is
 * too long is bad without a look at its content.  Returns how many files
 * `take` got, or -1. */
int drop_dir_scan(struct drop_dir *drop_dir, int files_max,
    bool (*take)(void *arg, const char *name, struct text frame), void *arg,
    struct err *err);

/* Whose file `take` is about. */
uid_t drop_dir_owner(const struct drop_dir *drop_dir);

/* Remove a file that was taken; one that is gone already is no error. */
int drop_dir_remove(
    struct drop_dir *drop_dir, const char *name, struct err *err);
/* Move a file to bad/ and say so in one line of the log. */
void drop_dir_refuse(
    struct drop_dir *drop_dir, const char *name, const char *why);
/* Have the removals on disk. */
int drop_dir_sync(struct drop_dir *drop_dir, struct err *err);

#endif
