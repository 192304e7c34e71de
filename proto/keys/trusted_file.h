/*
 * trusted_file - small files that only their owner, or root, can have written.
 *
 * What is read is a regular file of this user or of root's, whole and within
 * a bound; what is written is there whole or not at all, also after a crash.
 * Root reads, and writes, those of the owner of a directory for them.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_KEYS_TRUSTED_FILE_H
#define PROTO_KEYS_TRUSTED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "proto/base/err.h"

enum trusted_file {
	TRUSTED_FILE_SECRET, /* no one else reads it; links are followed */
	TRUSTED_FILE_KEY,    /* the same, and it is no symbolic link */
	TRUSTED_FILE_LIST, /* others may read it, and it is no symbolic link */
};

/* Returns a descriptor for reading, or -1; `missing`, unless NULL, tells a
 * file that is not there from all else. */
int trusted_file_open(
    const char *path, enum trusted_file kind, bool *missing, struct err *err);

/* All of it, or `room` bytes of something longer; -1: errno. */
ssize_t trusted_file_read(int fd, void *to, size_t room);

/* Write and sync a file of mode 0600 beside `path` and give it that name.
 * Unless `replace` a file that has the name is an error and stays. */
int trusted_file_write(const char *path, const void *at, size_t bytes,
    bool replace, struct err *err);

#endif
