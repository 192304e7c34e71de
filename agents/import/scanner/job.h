/*
 * import_scanner - a profiled job of a Scanner database as rows.
 *
 * DB/jobs/ID/descriptor.bin has the number of workers, profile_0.bin ... and
 * profile_master.bin the records of each.  All files are read once, several at
 * a time, before the first row is returned: their content identifies the
 * import, and damage is found.  Then they are read again, one after another.
 * proto/record/scanner.h describes the resulting records.
 *
 * Times in the files are relative to a time that no file has: the master's
 * start of the job, or without its file that of the earliest worker.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_SCANNER_JOB_H
#define AGENTS_IMPORT_SCANNER_JOB_H

#include "agents/import/source.h"

enum { IMPORT_SCANNER_READERS = 8 /* files read at a time */ };

struct import_scanner_options {
	const char *job;    /* id or name */
	uint64_t subsample; /* number of workers to import; 0: all */
	uint64_t seed;      /* seed of their selection */
};

struct import_scanner; /* opaque */

/* Find the job and read its files.  Damage is reported on standard error.  -1:
 * there is no such job, or nothing of it can be read. */
int import_scanner_open(struct import_scanner **scanner, const char *db,
    const struct import_scanner_options *options, struct err *err);

/* The source for import_send: its close closes the scanner, its `bad` is the
 * number of damaged places. */
struct import_source import_scanner_source(struct import_scanner *scanner);

#endif
