/*
 * import_job - a profiled job of a Scanner database as rows.
 *
 * DB/jobs/ID/descriptor.bin says how many workers there were,
 * profile_0.bin ... and profile_master.bin what each of them recorded.  All
 * files are read once, several at a time, before the first row is given: their
 * content names the import, and what is damaged is known.  Then they are
 * read again, one after another.  proto/record/scanner.h says what comes out.
 *
 * Times in the files are relative to a moment that is in none of them: the
 * master's start of the job, or without its file the earliest worker's.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_SCANNER_JOB_H
#define AGENTS_IMPORT_SCANNER_JOB_H

#include "agents/import/source.h"

enum { IMPORT_SCANNER_READERS = 8 /* files that are read at a time */ };

struct import_scanner_options {
	const char *job;    /* id or name */
	uint64_t subsample; /* number of workers to import; 0: all */
	uint64_t seed;      /* which ones */
};

struct import_scanner; /* opaque */

/* Find the job and read its files.  Damage is reported on standard error.  -1:
 * there is no such job, or nothing of it can be read. */
int import_scanner_open(struct import_scanner **scanner, const char *db,
    const struct import_scanner_options *options, struct err *err);
void import_scanner_close(struct import_scanner **scanner);

/* As import_send wants it; its close closes the scanner, its bad things are
 * damaged places. */
struct import_source import_scanner_source(struct import_scanner *scanner);

#endif
