/*
 * generate_testrun_rows - made-up test runs as rows that are sent like an
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
	struct generate_run run; /* the one under way */
	uint32_t event;          /* the next of its events */
	uint64_t given;
	unsigned char digest[IMPORT_DIGEST_BYTES];
};

/* `runs` has begun.  The same runs of the same node are the same import. */
int generate_rows_open(struct generate_rows *rows,
    const struct generate_runs *runs, struct text node, struct err *err);
/* Each run before its events; valid as long as `rows` and the node are.  Its
 * bytes are rows. */
struct import_source generate_rows_source(struct generate_rows *rows);

#endif
