/*
 * import_row - one row of what older tools left behind, as a record.
 *
 * cascade: a row of the event table, {"PartitionKey", "RowKey" (seconds since
 * the epoch, as text), "Event" ("source:name"), "NodeId", "Message"}; the
 * message is none when it is absent or null.
 *
 * emits: a call of the recorder, {"node", "source", "event", "ts" (text or
 * null), "clock_us", "message", "prefix"}; source and event are lower-cased as
 * the recorder did, the time is ts or else clock_us.
 *
 * perf: no lines; agents/import/perf.h reads it.  scanner: no file; it is
 * agents/import/scanner/job.h that does.  testrun: two files; agents/
 * testrun.h says what their lines become.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_ROW_H
#define AGENTS_IMPORT_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/format/json_fields.h"
#include "proto/record/record.h"

enum {
	IMPORT_LINE_BYTES_MAX = 1 << 20, /* of a line, or a report */
	/* A message and a prefix, packed. */
	IMPORT_PAIRS_BYTES = RECORD_TEXT_BYTES_MAX + 1024,
};

/* The numbers are in the names of sessions: never change one. */
enum import_kind {
	IMPORT_CASCADE,
	IMPORT_EMITS,
	IMPORT_PERF,
	IMPORT_SCANNER,
	IMPORT_TESTRUN,
};

/* A row that was read: its texts are valid until the next one is, and views
 * of the line that it was made from. */
struct import_row {
	struct text partition; /* empty for emits */
	struct record record;  /* record.node is set */
	bool aside;            /* not what people count: a definition */
	struct json_fields object;
	char source[NAME_BYTES_MAX + 1], name[NAME_BYTES_MAX + 1];
	unsigned char pairs[IMPORT_PAIRS_BYTES];
};

/* Read `line` (no newline) of a cascade or of emits.  -1: what is wrong with
 * it.  The row must be zeroed before the first call. */
int import_row_parse(struct import_row *row, enum import_kind kind,
    struct text line, struct err *err);

/* For who makes rows of another kind.  Read `line` into row->object; the record
 * is an event so far, of nobody and without attributes. */
int import_row_load(struct import_row *row, struct text line, struct err *err);
/* One more attribute, or property. */
int import_row_put(struct import_row *row, const char *key,
    const struct value *value, struct err *err);

void import_row_clear(struct import_row *row);

#endif
