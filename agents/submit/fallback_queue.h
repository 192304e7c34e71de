/*
 * fallback_queue - the directory where events wait for an agent.
 *
 *     DIR/tmp/NAME   being written
 *     DIR/new/NAME   complete: one submission frame
 *     DIR/bad/       what cannot be taken; at most FALLBACK_QUEUE_BAD_MAX
 *                    files, the oldest are deleted
 *
 * A name is random, and says nothing about the content.
 *
 * The sender's side is fallback_queue_leave.  The agent's side must keep to
 * one order, or a crash loses or doubles an event: take into the spool,
 * commit, remove, fallback_queue_sync, and only then may the batch be sent
 * (proto/spool.md).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SUBMIT_FALLBACK_QUEUE_H
#define AGENTS_SUBMIT_FALLBACK_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/record/record.h"

enum {
	FALLBACK_QUEUE_NAME_BYTES = 33,   /* 32 hexadecimal digits and NUL */
	FALLBACK_QUEUE_FILES_MAX = 10000, /* waiting files; at this count
					     fallback_queue_leave refuses */
	/* ... of a user, unless the directory is his or he is root; what is
	 * more than this of another one does not count */
	FALLBACK_QUEUE_SHARE_FILES = FALLBACK_QUEUE_FILES_MAX / 4,
	FALLBACK_QUEUE_BAD_MAX = 64,
};

/* Leave a frame for the agent; 0: it is on disk.
 * Creates the directory if necessary.  1: no room (the bound, or the disk, of
 * which `free_bytes` are left to others). */
int fallback_queue_leave(
    const char *dir, struct text frame, uint64_t free_bytes, struct err *err);

struct fallback_queue; /* opaque */

int fallback_queue_open(
    struct fallback_queue **fallback_queue, const char *dir, struct err *err);
void fallback_queue_close(struct fallback_queue **fallback_queue);

/* An inotify descriptor that is readable when a file may have come; -1 when
 * the kernel has none: use a timer. */
int fallback_queue_fd(const struct fallback_queue *fallback_queue);
/* Read and discard the notifications. */
void fallback_queue_drain(struct fallback_queue *fallback_queue);

/* Process at most `files_max` waiting files: `take` gets the name and the
 * content (a view, valid during the call) of each; if it returns false, the
 * file is malformed and moved to bad/.  A file that is not regular, has two
 * names, is too long or cannot be read is moved there unread.  Directories
 * are moved there, too, a few at a time if that is possible.  Returns the
 * number of files that were processed, or -1. */
int fallback_queue_scan(struct fallback_queue *fallback_queue, int files_max,
    bool (*take)(void *arg, const char *name, struct text frame), void *arg,
    struct err *err);

/* The owner of the file that `take` gets. */
uid_t fallback_queue_owner(const struct fallback_queue *fallback_queue);

/* Remove a file that was taken; it is no error if it is already gone. */
int fallback_queue_remove(
    struct fallback_queue *fallback_queue, const char *name, struct err *err);
/* Sync the removals to disk. */
int fallback_queue_sync(struct fallback_queue *fallback_queue, struct err *err);

#endif
