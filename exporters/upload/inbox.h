/*
 * inbox - files that wait in a directory, and the one they go to.
 *
 * Several processes may work on the same directories: who has a file holds a
 * lock on it, and looks again under the lock whether it is still there.  Local
 * file systems only, as flock(2) is.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_INBOX_H
#define EXPORTERS_UPLOAD_INBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

/* Of more files those that are oldest; the others behind the last of them. */
enum { INBOX_FILES_MAX = 65536 };

struct inbox {
	const char *path; /* as given */
	int fd;
};

/* A regular file, as it was when it was seen last. */
struct inbox_file {
	char *name;       /* one's own */
	int64_t mtime_ns; /* the nearest there is: years 1677 to 2262 */
	uint64_t bytes;
	dev_t dev;
	ino_t ino;
};

struct inbox_list {
	struct inbox_file *at; /* the oldest first */
	uint32_t count, room;
	bool more; /* there are others */
};

int inbox_open(struct inbox *inbox, const char *path, struct err *err);
void inbox_close(struct inbox *inbox);
bool inbox_is_same(const struct inbox *a, const struct inbox *b);

/* What is no regular file is passed over.  `after` NULL: from the oldest; else
 * what is behind it: later, or of the same time with a name that is. */
int inbox_list(struct inbox *inbox, const struct inbox_file *after,
    struct inbox_list *list, struct err *err);
void inbox_list_clear(struct inbox_list *list);

enum inbox_taken {
	INBOX_TAKEN,
	INBOX_LOCKED, /* somebody else has it */
	INBOX_GONE,   /* moved, removed, or no regular file any more */
	INBOX_FAILED, /* `err` says why */
};

/* Open and lock it; `file` says what it is now.  `fd` is the lock: closing it
 * lets go. */
enum inbox_taken inbox_take(
    struct inbox *inbox, struct inbox_file *file, int *fd, struct err *err);
/* Is the same file, unchanged, still called so? */
bool inbox_has(const struct inbox *inbox, const struct inbox_file *file);

/* Move it under its name.  What is in `to` is never replaced: if that is the
 * same, byte for byte, `file` is removed; else it becomes NAME.TAG.  Across
 * file systems it is copied and synced first.  What was changed meanwhile, or
 * came in its place, stays: `*gone`; there may be a copy then of what `fd` is.
 */
int inbox_move(struct inbox *from, const struct inbox_file *file, int fd,
    struct inbox *to, const char *tag, bool *gone, struct err *err);

#endif
