/*
 * result_file - a TestResults file of a benchmark: its test and entries.
 *
 * The JSON mapping of a protobuf message: 64-bit integers may be texts, what is
 * zero is absent.  Read whole; the text as it is in the file stays beside what
 * was read of it.
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
	RESULT_NAME_BYTES_MAX = 1500, /* of a test, of an entry */
	RESULT_DIGEST_BYTES = 16,
};

struct result_entry {
	struct text name;
	/* `wallTime` in seconds as it is written: VALUE_INT, VALUE_FLOAT (NaN
	 * and Infinity may stand there as bare words), or VALUE_TEXT where the
	 * file has a text ("NaN"); VALUE_INT 0 when it is absent. */
	struct value timing;
	struct text info; /* the entry's own JSON, as it is in the file */
};

struct result_file {
	struct text text; /* all of the file */
	struct text test; /* its `name` */
	int64_t start_us; /* UTC; of startTime as a double, half to even */
	struct result_entry *entries; /* in the order of the file */
	uint32_t count, bad;          /* bad: entries that were left out */
	/* BLAKE2b of the text: what the file is, whatever it is called. */
	unsigned char digest[RESULT_DIGEST_BYTES];
	struct err complaint; /* what is wrong with the first bad entry */
	void *memory;         /* texts that are not those of the file */
};

/* -1: the file cannot be used, and why.  An entry that cannot be read is left
 * out and counted; `strict`: then the file cannot be used.  `text` must live
 * as long. */
int result_file_read(
    struct result_file *result, struct text text, bool strict, struct err *err);
void result_file_clear(struct result_file *result);

#endif
