/*
 * azure_table - the event table of the older tool in Azure Table: rows,
 * transactions of rows, and pages of rows.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_AZURE_TABLE_H
#define EXPORTERS_CLOUD_AZURE_TABLE_H

#include <stdint.h>
#include <stdio.h>

#include "exporters/cloud/xml.h"
#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/json/json.h"
#include "proto/record/record.h"

/*
 * A transaction of rows.
 *
 * An entity group transaction: at most 100 rows of one partition and 4 MiB,
 * each inserted or replaced, all or none.  The request is multipart/mixed with
 * a change set.  The answer always has status 202; its body contains the
 * actual result.
 */

enum {
	TABLE_BATCH_ROWS_MAX = 100,
	TABLE_BATCH_BYTES_MAX = 4 << 20,
	TABLE_NAME_BYTES_MAX = 63,
};

#define TABLE_BATCH_TYPE                                                       \
	"Content-Type: multipart/mixed; boundary=batch_poolscope"

struct table_batch; /* opaque */

/* For rows of `table`, whose addresses begin with `base`; both must outlive
 * the batch. */
struct table_batch *table_batch_new(const char *base, const char *table);
void table_batch_free(struct table_batch **batch);

/* Returns 1 if the row was added or is a duplicate, 0 if there is no room or
 * the row has another partition, -1 if the record cannot be a row. */
int table_batch_add(struct table_batch *batch, struct text partition,
    const struct record *record, struct err *err);
uint32_t table_batch_rows(const struct table_batch *batch);
/* The request body with the rows from `from` to `upto` - 1, valid until the
 * next call. */
struct text table_batch_part(
    struct table_batch *batch, uint32_t from, uint32_t upto);
/* The content of a row. */
struct text table_batch_row(const struct table_batch *batch, uint32_t row);
/* Remove all rows. */
void table_batch_clear(struct table_batch *batch);

/* Number of attributes that did not fit a message, since table_batch_new. */
uint64_t table_batch_left_out(const struct table_batch *batch);

/* The status and reason of the first part of the answer that is not 2xx; 204
 * if it has one of 2xx for each of the `rows`; 0 if the body is not such an
 * answer. */
int table_batch_status(
    struct text answer, uint32_t rows, struct service_error *service_error);

/* Is it a table name: 3 to 63 letters and digits? */
int table_check_name(const char *name, struct err *err);
/* Can the partition be a key: no / \ # ? and no control characters? */
int table_check_partition(struct text partition, struct err *err);

/*
 * Convert an event to a row of the older tool's event table.
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
 */

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

/*
 * Print rows of an event table, which Azure Table returns a page
 * at a time, as lines of JSON in the format of older exports.
 */

/* Write the rows of a page ({"value": [...]}) to `file` and count them, each
 * as {"PartitionKey":...,"RowKey":...,"Event":...,"NodeId":...,"Message":...}
 * without missing members.  Returns -1 if it is not a page. */
int table_page_write(
    struct text page, FILE *file, uint64_t *rows, struct err *err);

/* Escape a text for a quoted string of a filter by doubling its quotes.
 * Returns the length; 0: no room. */
size_t table_quote(char *to, size_t room, struct text text);

#endif
