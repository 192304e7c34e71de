/*
 * copy_file - copy a file to another directory, where it appears complete or
 * not at all.
 *
 * The copy has no name until it is complete, so that a killed process leaves
 * nothing.  On file systems without unnamed files (O_TMPFILE) the copy is
 * called .poolscope.NUMBER and locked until then; unlocked files with such
 * names are leftovers of killed processes, and are removed by the next copy.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_DIRECTORY_COPY_FILE_H
#define EXPORTERS_UPLOAD_DIRECTORY_COPY_FILE_H

/* Both return -1 and set errno. */
/* Copy `fd`, with its times and mode, to `as` in the directory `to`; never
 * replaces a file: EEXIST. */
int copy_file(int fd, int to, const char *as);
/* Like renameat, but never replaces a file: EEXIST. */
int copy_file_rename(int from, const char *name, int to, const char *as);

#endif
