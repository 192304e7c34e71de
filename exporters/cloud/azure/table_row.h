/*
 * table_row - convert an event to a row of the older tool's event table.
 *
 * PartitionKey, RowKey (the time in seconds, as text), Event ("source:name"),
 * NodeId and, if not empty, Message: the attribute "message", then the others
 * as "key=value", separated by commas, in the format of that tool's own
 * messages ("prefix" is part of its table names and omitted).
 *
 * The time has nine decimals, followed by a zero and thirty digits that
 * identify the record and amount to less than half a nanosecond: the same
 * record is the same row, two records never share a row, and a reader that
 * parses the time as a number gets the original time.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_AZURE_TABLE_ROW_H
#define EXPORTERS_CLOUD_AZURE_TABLE_ROW_H

#include <stdio.h>

#include "proto/json/json.h"
#include "proto/record/record.h"

enum {
	TABLE_ROW_KEY_BYTES = 64,
	/* The service's limit is 64 KiB of UTF-16. */
	TABLE_ROW_MESSAGE_BYTES_MAX = 32 << 10,
};

void table_row_key(
    char to[static TABLE_ROW_KEY_BYTES], const struct record *record);

/* The message, a view into `to`; may be empty.  `left_out` is the number of
 * attributes that did not fit. */
struct text table_row_message(char to[static TABLE_ROW_MESSAGE_BYTES_MAX],
    const struct record *record, uint32_t *left_out);

/* The row as a JSON object. */
void table_row_put(struct json *json, struct text partition,
    const struct record *record, struct text message);

#endif
