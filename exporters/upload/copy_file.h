/*
 * copy_file - a copy of a file in another directory, which nobody sees
 * before it is whole.
 *
 * Without a name until it has its own, so that nothing is left of it when the
 * process is killed.  Where a file system has no such files (O_TMPFILE) it is
 * called .poolscope.NUMBER and locked meanwhile; what is called so and has no
 * lock was left by one that was killed, and is removed on that occasion.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_COPY_FILE_H
#define EXPORTERS_UPLOAD_COPY_FILE_H

/* Both return -1 and errno. */
/* Of `fd`, with its times and mode, into the directory `to` as `as`, which is
 * not replaced: EEXIST. */
int copy_file(int fd, int to, const char *as);
/* As renameat, but that nothing is replaced: EEXIST. */
int copy_file_rename(int from, const char *name, int to, const char *as);

#endif
