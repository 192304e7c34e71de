/*
 * import_source - rows, one after another, as often as they are wanted.
 *
 * What an import is made of looks the same to who sends it, whether it is a
 * file or a directory of them.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_SOURCE_H
#define AGENTS_IMPORT_SOURCE_H

#include "agents/import/perf.h"
#include "agents/import/testrun.h"

enum { IMPORT_PATH_BYTES = 4096 };

struct import_source {
	enum import_kind kind;
	const char *name;            /* for messages */
	uint64_t bytes;              /* of all of it */
	const unsigned char *digest; /* IMPORT_DIGEST_BYTES: says what it is */

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
	void *arg;
};

/* The rows of one file, lines or reports, or of the files of one directory. */
struct import_rows {
	enum import_kind kind;
	const char *name; /* for messages */
	struct text node; /* of rows that do not say theirs */
	struct import_file file[IMPORT_TESTRUN_FILES]; /* in this order */
	char path[IMPORT_TESTRUN_FILES][IMPORT_PATH_BYTES];
	bool is_open[IMPORT_TESTRUN_FILES];
	uint32_t at; /* which one is being read */
	uint64_t bytes;
	unsigned char digest[IMPORT_DIGEST_BYTES];
	struct import_perf perf;
};

/* Read what is at `path` once; `node` must live as long. */
int import_rows_open(struct import_rows *rows, enum import_kind kind,
    const char *path, struct text node, struct err *err);
void import_rows_close(struct import_rows *rows);

/* Valid while the rows are open. */
struct import_source import_rows_source(struct import_rows *rows);

#endif
