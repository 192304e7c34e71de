/*
 * inbox - the files that wait in a directory, and move to another.
 *
 * Several processes may share the directories: a process holds a lock on the
 * file it processes, and checks under the lock that the file still exists.
 * Local file systems only, a limitation of flock(2).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_INBOX_H
#define EXPORTERS_UPLOAD_INBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

/* If there are more files, the list has the oldest; the next list begins after
 * the last of them. */
enum { INBOX_FILES_MAX = 65536 };

struct inbox {
	const char *path; /* as the user gave it */
	int fd;
};

/* A regular file, in its last observed state. */
struct inbox_file {
	char *name;       /* owned */
	int64_t mtime_ns; /* clamped to the years 1677 to 2262 */
	uint64_t bytes;
	dev_t dev;
	ino_t ino;
};

struct inbox_list {
	struct inbox_file *at; /* oldest first */
	uint32_t count, room;
	bool more; /* there are more files */
};

int inbox_open(struct inbox *inbox, const char *path, struct err *err);
void inbox_close(struct inbox *inbox);
bool inbox_is_same(const struct inbox *a, const struct inbox *b);

/* List regular files.  `after` NULL: from the oldest; otherwise files after it
 * in the order of time, then name. */
int inbox_list(struct inbox *inbox, const struct inbox_file *after,
    struct inbox_list *list, struct err *err);
void inbox_list_clear(struct inbox_list *list);

enum inbox_taken {
	INBOX_TAKEN,
	INBOX_LOCKED, /* another process has locked it */
	INBOX_GONE,   /* moved, removed, or no longer a regular file */
	INBOX_FAILED, /* `err` is set */
};

/* Open and lock the file and update `file`.  Closing `fd` releases the lock. */
enum inbox_taken inbox_take(
    struct inbox *inbox, struct inbox_file *file, int *fd, struct err *err);

/* Move the file under its name.  Never replaces a file in `to`: if that is
 * identical, `file` is removed; otherwise it becomes NAME.TAG.  Across file
 * systems it is first copied and synced.  A file that was changed or replaced
 * in the meantime stays and `*gone` is set; a copy of `fd` may exist then. */
int inbox_move(struct inbox *from, const struct inbox_file *file, int fd,
    struct inbox *to, const char *tag, bool *gone, struct err *err);

#endif
