/*
 * import_file - lines of a file that is read more than once.
 *
 * The hash of the whole content is part of the session, so the file is read
 * once before its first line is returned.  Input that cannot be read twice,
 * such as standard input, is copied to an unnamed temporary file.
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
	unsigned char digest[IMPORT_DIGEST_BYTES]; /* BLAKE2b of the content */
	struct stat before;

	char *buffer;
	size_t used,
	    at;   /* bytes in the buffer; offset of the next line in it */
	bool end; /* nothing follows the buffer */
	uint64_t offset; /* offset after the line that was returned last */
	uint64_t line;   /* its number, from 1 */
};

/* Open `path` ("-": standard input) and read it once. */
int import_file_open(
    struct import_file *file, const char *path, struct err *err);
/* The same for a file found in a folder: it must be a regular file. */
int import_file_open_found(
    struct import_file *file, const char *path, struct err *err);
void import_file_close(struct import_file *file);

/* Continue with the first line. */
void import_file_rewind(struct import_file *file);

enum import_next {
	IMPORT_LINE,
	IMPORT_TOO_LONG, /* skipped completely */
	IMPORT_END,
	IMPORT_FAILED, /* cannot be read, or has changed */
};

/* The next line, without its end; a view, valid until the next call. */
enum import_next import_file_next(
    struct import_file *file, struct text *line, struct err *err);

/* For input that is not lines: view the next `least` bytes (at most
 * IMPORT_LINE_BYTES_MAX + 1), and whatever else is buffered.  There are fewer
 * only at the end of the file.  A view, valid until the next call.  -1: as
 * IMPORT_FAILED. */
int import_file_see(
    struct import_file *file, size_t least, struct text *view, struct err *err);
/* Skip this number of viewed bytes; lines are counted. */
void import_file_take(struct import_file *file, size_t bytes);

/* The permissions that import_file_open will need for `path`; for a folder:
 * all of its content, except the targets of links that lead elsewhere. */
void import_file_sandbox(struct sandbox *sandbox, const char *path);

#endif
