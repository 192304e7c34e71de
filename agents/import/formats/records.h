/*
 * import_records - the lines of `poolscope dump --format jsonl` as records.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_FORMATS_RECORDS_H
#define AGENTS_IMPORT_FORMATS_RECORDS_H

#include "agents/import/batches.h"
#include "agents/import/row.h"

/* Attributes or values of a record, as MessagePack. */
struct import_records_room {
	unsigned char bytes[IMPORT_BODY_BYTES_MAX];
};

/* Parse a line.  The record keeps its identity and time of receipt if the line
 * has them: record.id.seq is not 0.  -1: it is no record that can be imported.
 */
int import_records_parse(struct import_row *row,
    struct import_records_room *room, struct text line, struct err *err);

#endif
