/*
 * result_id - how results are called in a store, so that their order is the
 * one that is asked for.  proto/README.md, "Results".
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RESULT_ID_H
#define EXPORTERS_RESULT_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/text.h"

#define RESULT_KIND_TEST   "result.test"   /* a test that has results */
#define RESULT_KIND_RUN    "result"        /* a file: a test at a time */
#define RESULT_KIND_ENTRY  "result.entry"  /* a timing in it */
#define RESULT_KIND_UPLOAD "result.upload" /* a target that has the file */

/* TEST/NEWNESS/DIGEST/NUMBER: 24, 16, 32 and 5 hexadecimal digits. */
enum { RESULT_ID_BYTES = 24 + 1 + 16 + 1 + 32 + 1 + 5 + 1 };

/* 24 hexadecimal digits of a hash of the test's name, or of the test's and the
 * entry's (`entry` not empty). */
void result_id_name(char to[static 25], struct text test, struct text entry);
/* 16 hexadecimal digits that grow as the time falls: the newest comes first. */
void result_id_time(char to[static 17], int64_t start_us);
bool result_id_get_time(struct text digits, int64_t *start_us);

#endif
