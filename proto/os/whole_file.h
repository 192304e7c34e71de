/*
 * whole_file - small files that are there whole or not at all, also after a
 * crash.
 *
 * A file is written under a temporary name, synced, given its name, and its
 * directory is synced.  After an error the temporary name is gone.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_WHOLE_FILE_H
#define PROTO_OS_WHOLE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct whole_file {
	const char *path;
	/* In the same file system, and no file has it yet.  NULL: PATH.new,
	 * for a file with one writer at a time; one that a crash has left is
	 * written over. */
	const char *temporary;
	mode_t mode;              /* less the umask; 0: 0600 */
	const struct stat *owner; /* give the file to st_uid, st_gid; or NULL */
	bool is_new;              /* a file that has the name is EEXIST */
};

enum { WHOLE_FILE_UNSYNCED = -2 };

/* 0; -1 and errno: nothing has changed; WHOLE_FILE_UNSYNCED and errno: the
 * file has its name, which a crash may undo. */
int whole_file_write(
    const struct whole_file *file, const void *at, uint32_t bytes);

#endif
