/*
 * table_batch - a transaction of rows of an Azure table.
 *
 * An entity group transaction: at most 100 rows of one partition and 4 MiB,
 * each inserted or replaced, all or none.  The request is multipart/mixed with
 * a change set.  The answer always has status 202; its body contains the
 * actual result.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_AZURE_TABLE_BATCH_H
#define EXPORTERS_CLOUD_AZURE_TABLE_BATCH_H

#include <stdio.h>

#include "exporters/cloud/common/service_error.h"
#include "proto/record/record.h"

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

#endif
