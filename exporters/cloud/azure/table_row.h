/*
 * table_row - an event as a row of the older tool's event table.
 *
 * PartitionKey, RowKey (the time in seconds, as text), Event ("source:name"),
 * NodeId and, unless there is none, Message: the attribute "message", and
 * behind it the others as "key=value", with commas between, as that tool's own
 * messages are ("prefix" is of its tables' names and left out).
 *
 * The time has nine decimals, and behind them a zero and thirty digits that say
 * which record it is, less than half a nanosecond: the same record is the same
 * row, two records never are, and whoever reads the time as a number gets
 * the one that was meant.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_AZURE_TABLE_ROW_H
#define EXPORTERS_CLOUD_AZURE_TABLE_ROW_H

#include <stdio.h>

#include "proto/format/json.h"
#include "proto/record/record.h"

enum {
	TABLE_ROW_KEY_BYTES = 64,
	/* The service's limit is 64 KiB of UTF-16. */
	TABLE_ROW_MESSAGE_BYTES_MAX = 32 << 10,
};

void table_row_key(
    char to[static TABLE_ROW_KEY_BYTES], const struct record *record);

/* The message, a view into `to`; empty when there is none.  `left_out`: how
 * many attributes did not fit any more. */
struct text table_row_message(char to[static TABLE_ROW_MESSAGE_BYTES_MAX],
    const struct record *record, uint32_t *left_out);

/* The row as a JSON object. */
void table_row_put(struct json *json, struct text partition,
    const struct record *record, struct text message);

#endif
