/*
 * import_row - a row of an older tool's data, as a record.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_ROW_H
#define AGENTS_IMPORT_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/json/json_fields.h"
#include "proto/record/record.h"

enum {
	IMPORT_LINE_BYTES_MAX = 1 << 20, /* of a line, or of a report */
	/* A message and a prefix, as MessagePack. */
	IMPORT_PAIRS_BYTES = RECORD_TEXT_BYTES_MAX + 1024,
};

/* A row: its texts are views of the line that it was read from, valid until
 * the next row is read. */
struct import_row {
	struct text partition; /* empty: the row names none */
	struct record record;  /* record.node is set */
	bool aside; /* a definition, which users do not count as a row */
	struct json_fields object;
	char source[NAME_BYTES_MAX + 1], name[NAME_BYTES_MAX + 1];
	unsigned char uuid[RECORD_ID_BYTES]; /* if record.key is a view of it */
	unsigned char pairs[IMPORT_PAIRS_BYTES];
};

/* Read `line` (no newline) into row->object; the record is an event without a
 * node and attributes.  The row must be zeroed before the first call. */
int import_row_load(struct import_row *row, struct text line, struct err *err);
/* Add an attribute, or a property. */
int import_row_put(struct import_row *row, const char *key,
    const struct value *value, struct err *err);
/* Add the attributes of an event; empty values are omitted. */
int import_row_put_message(struct import_row *row, struct text message,
    struct text prefix, struct err *err);

void import_row_clear(struct import_row *row);

#endif
