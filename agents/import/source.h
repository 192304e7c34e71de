/*
 * import_source - rows that can be read repeatedly.
 *
 * It gives import_send one interface to a file and to a directory of files.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_SOURCE_H
#define AGENTS_IMPORT_SOURCE_H

#include "agents/import/perf.h"
#include "agents/import/testrun.h"

enum { IMPORT_PATH_BYTES = 4096 };

struct import_source {
	enum import_kind kind;
	const char *name; /* for messages */
	uint64_t bytes;   /* size of the content */
	const unsigned char
	    *digest; /* IMPORT_DIGEST_BYTES: identifies the content */

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
	void *arg;
};

/* The rows of one file, lines or reports, or of the files of one directory. */
struct import_rows {
	enum import_kind kind;
	const char *name; /* for messages */
	struct text node; /* of rows that do not name theirs */
	struct import_file file[IMPORT_TESTRUN_FILES]; /* in this order */
	char path[IMPORT_TESTRUN_FILES][IMPORT_PATH_BYTES];
	bool is_open[IMPORT_TESTRUN_FILES];
	uint32_t at; /* index of the current file */
	uint64_t bytes;
	unsigned char digest[IMPORT_DIGEST_BYTES];
	struct import_perf perf;
};

/* Read the content of `path` once; `node` must outlive the rows. */
int import_rows_open(struct import_rows *rows, enum import_kind kind,
    const char *path, struct text node, struct err *err);
void import_rows_close(struct import_rows *rows);

/* Valid while the rows are open. */
struct import_source import_rows_source(struct import_rows *rows);

#endif
