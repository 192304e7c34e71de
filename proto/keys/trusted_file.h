/*
 * trusted_file - small files that only their owner, or root, can write.
 *
 * Reading takes a regular file of this user or of root, whole and within a
 * bound; writing is atomic, also across a crash.  Root reads and writes on
 * behalf of the owner of the directory.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_KEYS_TRUSTED_FILE_H
#define PROTO_KEYS_TRUSTED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "proto/base/err.h"

enum trusted_file {
	TRUSTED_FILE_SECRET, /* only the owner can read it; may be a link */
	TRUSTED_FILE_KEY,    /* only the owner can read it; no symbolic link */
	TRUSTED_FILE_LIST,   /* others may read it; no symbolic link */
};

/* Returns a descriptor for reading, or -1; `missing`, unless NULL, is set to
 * whether the file does not exist. */
int trusted_file_open(
    const char *path, enum trusted_file kind, bool *missing, struct err *err);

/* Reads the whole file, or `room` bytes of a longer one; -1: errno. */
ssize_t trusted_file_read(int fd, void *to, size_t room);

/* Write and sync a temporary file of mode 0600 and rename it to `path`.
 * Unless `replace`, an existing file stays and is an error. */
int trusted_file_write(const char *path, const void *at, size_t bytes,
    bool replace, struct err *err);

#endif
