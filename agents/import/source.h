/*
 * import_source - rows, one after another, as often as they are wanted.
 *
 * What an import is made of looks the same to who sends it, whether it is a
 * file or a directory of them.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_SOURCE_H
#define AGENTS_IMPORT_SOURCE_H

#include "agents/import/file.h"
#include "agents/import/row.h"

enum { IMPORT_PATH_BYTES = 4096, IMPORT_FILES_MAX = 2 };

/* The format of the rows.  The numbers are in the names of sessions: never
 * change one, append. */
enum import_kind {
	IMPORT_CASCADE,
	IMPORT_EMITS,
	IMPORT_PERF,
	IMPORT_SCANNER,
	IMPORT_TESTRUN,
};

struct import_source {
	enum import_kind kind;
	const char *name;            /* for messages */
	uint64_t bytes;              /* of all of it */
	const unsigned char *digest; /* IMPORT_DIGEST_BYTES: says what it is */
	uint64_t bad; /* bad things that were found and reported by opening it,
			 not by next */

	/* The next row, its texts valid until the one after it.
	 * IMPORT_TOO_LONG: something is bad, err says what. */
	enum import_next (*next)(
	    void *arg, struct import_row *row, struct err *err);
	/* How many bytes were read so far, and which line of which file was
	 * the last. */
	uint64_t (*offset)(const void *arg);
	uint64_t (*line)(const void *arg);
	const char *(*file)(const void *arg); /* NULL: name */
	/* Back to the first row. */
	void (*rewind)(void *arg);
	void (*close)(void *arg); /* NULL: nothing to close */
	void *arg;
};

void import_source_close(struct import_source *source);

/* The files of an input, read one after another.  It is the first member of the
 * object of a format, so that the functions of import_files_source work for
 * it. */
struct import_files {
	const char *name;                          /* for messages */
	struct import_file file[IMPORT_FILES_MAX]; /* in this order */
	bool is_open[IMPORT_FILES_MAX];
	uint32_t at; /* which one is being read */
	uint64_t bytes;
	unsigned char digest[IMPORT_DIGEST_BYTES];
};

/* The only file is `path`, called `name` in messages (NULL: as `path`); read it
 * once.  `files` must be zeroed. */
int import_files_open(struct import_files *files, const char *path,
    const char *name, struct err *err);
void import_files_close(struct import_files *files);
/* Back to the first line of the first file. */
void import_files_rewind(struct import_files *files);

/* Parse the next line of all files that is not empty. */
enum import_next import_files_next_row(struct import_files *files,
    int (*parse)(
	void *arg, struct import_row *row, struct text line, struct err *err),
    void *arg, struct import_row *row, struct err *err);

/* All but next and close, which the format adds. */
struct import_source import_files_source(
    struct import_files *files, enum import_kind kind);

#endif
