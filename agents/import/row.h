/*
 * import_row - a row of an older tool's data, as a record.
 *
 * cascade: a row of the event table, {"PartitionKey", "RowKey" (seconds since
 * the epoch, as text), "Event" ("source:name"), "NodeId", "Message"}; the
 * message may be absent or null.
 *
 * emits: a call of the recorder, {"node", "source", "event", "ts" (text or
 * null), "clock_us", "message", "prefix"}; source and event are converted to
 * lower case as the recorder did, the time is ts or else clock_us.
 *
 * Other modules read perf (agents/import/perf.h), scanner
 * (agents/import/scanner/job.h) and testrun (agents/import/testrun.h).
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
	IMPORT_LINE_BYTES_MAX = 1 << 20, /* of a line, or of a report */
	/* A message and a prefix, packed. */
	IMPORT_PAIRS_BYTES = RECORD_TEXT_BYTES_MAX + 1024,
};

/* The numbers are part of the names of sessions: never change one. */
enum import_kind {
	IMPORT_CASCADE,
	IMPORT_EMITS,
	IMPORT_PERF,
	IMPORT_SCANNER,
	IMPORT_TESTRUN,
};

/* A row: its texts are views of the line that it was read from, valid until
 * the next row is read. */
struct import_row {
	struct text partition; /* empty for emits */
	struct record record;  /* record.node is set */
	bool aside; /* a definition, which users do not count as a row */
	struct json_fields object;
	char source[NAME_BYTES_MAX + 1], name[NAME_BYTES_MAX + 1];
	unsigned char pairs[IMPORT_PAIRS_BYTES];
};

/* Read `line` (without newline) of kind cascade or emits.  -1: `err` has the
 * error.  The row must be zeroed before the first call. */
int import_row_parse(struct import_row *row, enum import_kind kind,
    struct text line, struct err *err);

/* For modules of other kinds.  Read `line` into row->object; the record is an
 * event without a node and attributes. */
int import_row_load(struct import_row *row, struct text line, struct err *err);
/* Add an attribute, or a property. */
int import_row_put(struct import_row *row, const char *key,
    const struct value *value, struct err *err);

void import_row_clear(struct import_row *row);

#endif
