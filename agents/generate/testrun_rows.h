/*
 * generate_testrun_rows - generates test runs as rows, to send them like an
 * import.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_GENERATE_TESTRUN_ROWS_H
#define AGENTS_GENERATE_TESTRUN_ROWS_H

#include "agents/generate/testruns.h"
#include "agents/import/source.h"

struct generate_rows {
	struct generate_runs runs;
	struct text node;        /* of all rows */
	struct generate_run run; /* the current run */
	uint32_t event;          /* index of its next event */
	uint64_t given;
	unsigned char digest[IMPORT_DIGEST_BYTES];
};

/* `runs` has begun.  The same runs of the same node are the same import. */
int generate_rows_open(struct generate_rows *rows,
    const struct generate_runs *runs, struct text node, struct err *err);
/* Returns each run before its events; valid while `rows` and the node are.  It
 * counts rows as bytes. */
struct import_source generate_rows_source(struct generate_rows *rows);

#endif
