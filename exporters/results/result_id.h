/*
 * result_id - ids of results in a store, chosen so that their order is the
 * order of the queries.  proto/wire.md, "Result files".
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RESULTS_RESULT_ID_H
#define EXPORTERS_RESULTS_RESULT_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"

#define RESULT_KIND_TEST   "result.test"   /* a test that has results */
#define RESULT_KIND_RUN    "result"        /* a file: one run of a test */
#define RESULT_KIND_ENTRY  "result.entry"  /* a timing in a file */
#define RESULT_KIND_UPLOAD "result.upload" /* a target that has the file */

/* TEST/NEWNESS/DIGEST/NUMBER: 24, 16, 32 and 5 hexadecimal digits; a run has
 * no number. */
enum {
	RESULT_ID_NAME_BYTES = 24,
	RESULT_ID_DIGEST_AT = RESULT_ID_NAME_BYTES + 1 + 16 + 1,
	RESULT_ID_DIGEST_BYTES = 32,
	RESULT_ID_RUN_BYTES = RESULT_ID_DIGEST_AT + RESULT_ID_DIGEST_BYTES,
	RESULT_ID_BYTES = RESULT_ID_RUN_BYTES + 1 + 5 + 1,
};

/* 24 hexadecimal digits: a hash of the name of the test or, if `entry` is not
 * empty, of the names of test and entry. */
void result_id_name(char to[static 25], struct text test, struct text entry);
/* The id of entry `number` (from 0) of the file with the id `run`; only the
 * low 20 bits of `number` are used. */
void result_id_entry(char to[static RESULT_ID_BYTES],
    const char run[static RESULT_ID_RUN_BYTES], struct text test,
    struct text entry, uint32_t number);
/* 16 hexadecimal digits that increase as the time decreases: newest first. */
void result_id_time(char to[static 17], int64_t start_us);
bool result_id_get_time(struct text digits, int64_t *start_us);

#endif
