/*
 * file_io - read and write a file completely or fail; make its name survive a
 * crash.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_FILE_IO_H
#define PROTO_OS_FILE_IO_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

/* 0, or -1 and errno; ENODATA: the file is shorter. */
int file_io_write_all(
    int fd, const void *from, uint32_t bytes, uint64_t offset);
int file_io_read_all(int fd, void *to, uint32_t bytes, uint64_t offset);

/* Does the error mean that a file cannot grow: a full disk, a quota, or the
 * limit of the process for the size of a file? */
bool file_io_is_full(int error);
/* Which of these limits was met, and what to do; of another error what
 * strerror says. */
const char *file_io_sentence(int error);
/* From here on, writing beyond that limit (ulimit -f) fails with EFBIG instead
 * of ending the process.  Programs that are executed are not affected. */
void file_io_catch_limit(void);

/* Sync a file, or a directory so that its names survive a crash; and the
 * directory that contains a path.  0, or -1 and errno. */
int file_io_sync(const char *path);
int file_io_sync_parent(const char *path);

/* $TMPDIR, or /tmp. */
const char *file_io_temporary_dir(void);
/* Create a file without a name in that directory; returns a descriptor for
 * reading and writing, or -1. */
int file_io_nameless(struct err *err);

#endif
