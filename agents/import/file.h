/*
 * import_file - lines of a file that is read more than once.
 *
 * The whole content names the import (its hash is in the session), so it is
 * read once before its first line is.  What cannot be read twice, such as
 * standard input, is copied to a temporary file without a name.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_FILE_H
#define AGENTS_IMPORT_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/service/sandbox.h"

enum { IMPORT_DIGEST_BYTES = 32 };

struct import_file {
	const char *name; /* for messages */
	int fd;
	uint64_t bytes;
	unsigned char digest[IMPORT_DIGEST_BYTES]; /* BLAKE2b of all of it */
	struct stat before;

	char *buffer;
	size_t used, at; /* bytes in the buffer; the next line begins at */
	bool end;        /* nothing follows the buffer */
	uint64_t offset; /* in the file, behind the last line that was given */
	uint64_t line;   /* its number, from 1 */
};

/* Open `path` ("-": standard input) and read it once. */
int import_file_open(
    struct import_file *file, const char *path, struct err *err);
/* The same of what was found in a folder: a regular file only, since nobody
 * may be at the other end of a pipe. */
int import_file_open_found(
    struct import_file *file, const char *path, struct err *err);
void import_file_close(struct import_file *file);

/* Back to the first line. */
void import_file_rewind(struct import_file *file);

enum import_next {
	IMPORT_LINE,
	IMPORT_TOO_LONG, /* was skipped whole */
	IMPORT_END,
	IMPORT_FAILED, /* could not be read, or is another file by now */
};

/* The next line, without its end; a view, valid until the next call. */
enum import_next import_file_next(
    struct import_file *file, struct text *line, struct err *err);

/* For what is no lines: see the next `least` bytes (at most
 * IMPORT_LINE_BYTES_MAX + 1), and what else is there.  Fewer are seen only at
 * the end of the file.  A view, valid until the next call.  -1: as
 * IMPORT_FAILED. */
int import_file_see(
    struct import_file *file, size_t least, struct text *view, struct err *err);
/* Go behind so many bytes that were seen; lines are counted. */
void import_file_take(struct import_file *file, size_t bytes);

/* What import_file_open will need of `path`; a folder: all that is in it, but
 * for what its links lead to elsewhere. */
void import_file_sandbox(struct sandbox *sandbox, const char *path);

#endif
