/*
 * whole_file - write small files completely or not at all, also across a
 * crash.
 *
 * A file is written under a temporary name, synced and renamed, and its
 * directory is synced.  After an error the temporary file is removed.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_WHOLE_FILE_H
#define PROTO_OS_WHOLE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct whole_file {
	const char *path;
	/* In the same file system, and not in use.  NULL: PATH.new, for a file
	 * with one writer at a time; a file of that name left by a crash is
	 * overwritten. */
	const char *temporary;
	mode_t mode;              /* reduced by the umask; 0: 0600 */
	const struct stat *owner; /* make st_uid, st_gid the owner; or NULL */
	bool for_group;           /* mode 0640, whatever the umask */
	bool is_new;              /* fail with EEXIST if the file exists */
};

enum { WHOLE_FILE_UNSYNCED = -2 };

/* 0; -1 and errno: nothing has changed; WHOLE_FILE_UNSYNCED and errno: the
 * file has its name, but a crash may undo that. */
int whole_file_write(
    const struct whole_file *file, const void *at, uint32_t bytes);

#endif
