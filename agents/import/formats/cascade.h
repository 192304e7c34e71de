/*
 * import_cascade - rows of the event table of the older tool as events.
 *
 * A line is {"PartitionKey", "RowKey" (seconds since the epoch, as text),
 * "Event" ("source:name"), "NodeId", "Message"}; Message may be absent or
 * null.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_FORMATS_CASCADE_H
#define AGENTS_IMPORT_FORMATS_CASCADE_H

#include "agents/import/formats/format.h"

/* Read `line` (no newline).  -1: `err` has the error.  The row must be zeroed
 * before the first call. */
int import_cascade_parse(
    struct import_row *row, struct text line, struct err *err);

#endif
