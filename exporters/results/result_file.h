/*
 * result_file - parse a TestResults file of a benchmark: test and entries.
 *
 * The file is the JSON mapping of a protobuf message: 64-bit integers may be
 * strings, zeros are omitted.  The file is read whole, and its text is stored
 * together with the parsed values.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RESULTS_RESULT_FILE_H
#define EXPORTERS_RESULTS_RESULT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/record/record.h"

enum {
	RESULT_FILE_BYTES_MAX = RECORD_ENTITY_TEXT_BYTES_MAX,
	RESULT_ENTRIES_MAX = 65536,
	RESULT_NAME_BYTES_MAX = 1500, /* name of a test or an entry */
	RESULT_DIGEST_BYTES = 16,
};

struct result_entry {
	struct text name;
	/* `wallTime` in seconds as written: VALUE_INT; VALUE_FLOAT (bare NaN
	 * and Infinity are allowed); VALUE_TEXT if the file has a string
	 * ("NaN"); VALUE_INT 0 if it is absent. */
	struct value timing;
	struct text info; /* the JSON of the entry as in the file */
};

struct result_file {
	struct text text; /* the whole file */
	struct text test; /* its `name` */
	int64_t start_us; /* UTC; startTime as a double, rounded half to even */
	struct result_entry *entries; /* in the order of the file */
	uint32_t count, bad;          /* bad: number of skipped entries */
	/* BLAKE2b of the text: identifies the file under any name. */
	unsigned char digest[RESULT_DIGEST_BYTES];
	struct err complaint; /* error of the first bad entry */
	void *memory; /* decoded texts that differ from those of the file */
};

/* Returns -1 and sets `err` if the file is unusable.  Unreadable entries are
 * skipped and counted; with `strict` they make the file unusable.  `text` must
 * outlive the result. */
int result_file_read(
    struct result_file *result, struct text text, bool strict, struct err *err);
void result_file_clear(struct result_file *result);

#endif
