/*
 * import_source - rows that can be read repeatedly.
 *
 * It gives import_send one interface to a file and to a directory of files.
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
	IMPORT_RECORDS,
};

struct import_source {
	enum import_kind kind;
	const char *name; /* for messages */
	uint64_t bytes;   /* size of the content */
	const unsigned char
	    *digest;  /* IMPORT_DIGEST_BYTES: identifies the content */
	uint64_t bad; /* errors that opening found and reported, not next */

	/* The next row; its texts are valid until the next call.
	 * IMPORT_TOO_LONG: `err` has the error of a row. */
	enum import_next (*next)(
	    void *arg, struct import_row *row, struct err *err);
	/* The number of bytes read so far, and the file and number of the last
	 * line. */
	uint64_t (*offset)(const void *arg);
	uint64_t (*line)(const void *arg);
	const char *(*file)(const void *arg); /* NULL: name */
	/* Continue with the first row. */
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
	uint32_t at; /* index of the current file */
	uint64_t bytes;
	unsigned char digest[IMPORT_DIGEST_BYTES];
};

void import_files_close(struct import_files *files);
/* Continue with the first line of the first file. */
void import_files_rewind(struct import_files *files);

/* Parse the next line of all files that is not empty. */
enum import_next import_files_next_row(struct import_files *files,
    int (*parse)(
	void *arg, struct import_row *row, struct text line, struct err *err),
    void *arg, struct import_row *row, struct err *err);

/* All but next, which the format adds.  Its close also frees the object. */
struct import_source import_files_source(
    struct import_files *files, enum import_kind kind);

/* A source of a new object of `bytes` bytes, zeroed.  Its only file is `path`,
 * called `name` in messages (NULL: as `path`); read it once. */
int import_files_new(struct import_source *source, size_t bytes,
    enum import_kind kind, const char *path, const char *name, struct err *err);

#endif
