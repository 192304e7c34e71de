/*
 * import_source - rows, one after another, as often as they are wanted.
 *
 * What an import is made of looks the same to who sends it, whether it is a
 * file or a directory of them.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_SOURCE_H
#define AGENTS_IMPORT_SOURCE_H

#include "agents/import_perf.h"

struct import_source {
	enum import_kind kind;
	const char *name;            /* for messages */
	uint64_t bytes;              /* of all of it */
	const unsigned char *digest; /* IMPORT_DIGEST_BYTES: says what it is */

	/* The next row, its texts valid until the one after it.
	 * IMPORT_TOO_LONG: something is bad, err says what. */
	enum import_next (*next)(
	    void *arg, struct import_row *row, struct err *err);
	/* How many bytes were read so far, and which line was the last. */
	uint64_t (*offset)(const void *arg);
	uint64_t (*line)(const void *arg);
	/* Back to the first row. */
	void (*rewind)(void *arg);
	void *arg;
};

/* The rows of one file: lines, or reports. */
struct import_rows {
	enum import_kind kind;
	struct import_file *file;
	struct import_perf perf;
};
/* `rows` and `file` must live as long. */
struct import_source import_rows_source(
    struct import_rows *rows, enum import_kind kind, struct import_file *file);

#endif
