/*
 * table_batch - rows that Azure Table takes together or not at all.
 *
 * An entity group transaction: at most 100 rows of one partition and 4 MiB,
 * each inserted or replaced.  What is sent is multipart/mixed with a change set
 * in it; what comes back is 202 whatever became of it, and says in it.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_AZURE_TABLE_BATCH_H
#define EXPORTERS_CLOUD_AZURE_TABLE_BATCH_H

#include <stdio.h>

#include "exporters/cloud/http/service_error.h"
#include "proto/record/record.h"

enum {
	TABLE_BATCH_ROWS_MAX = 100,
	TABLE_BATCH_BYTES_MAX = 4 << 20,
	TABLE_NAME_BYTES_MAX = 63,
};

#define TABLE_BATCH_TYPE                                                       \
	"Content-Type: multipart/mixed; boundary=batch_poolscope"

struct table_batch; /* opaque */

/* Rows of `table`, whose addresses begin with `base`; both must live as
 * long. */
struct table_batch *table_batch_new(const char *base, const char *table);
void table_batch_free(struct table_batch **batch);

/* 1: taken, or there already; 0: no room, or of another partition; -1: no row
 * of a table. */
int table_batch_add(struct table_batch *batch, struct text partition,
    const struct record *record, struct err *err);
uint32_t table_batch_rows(const struct table_batch *batch);
/* All of it, valid until the next call. */
struct text table_batch_end(struct table_batch *batch);
/* Begin anew. */
void table_batch_clear(struct table_batch *batch);

/* Attributes that did not fit a message, since the beginning. */
uint64_t table_batch_left_out(const struct table_batch *batch);

/* The status of the first part of the answer that is not 2xx, and why; 0: it
 * is no such answer; else that of all, 204. */
int table_batch_status(struct text answer, struct service_error *service_error);

/* A name of letters and digits, 3 to 63. */
int table_check_name(const char *name, struct err *err);
/* A partition's name as a key: without / \ # ? and control characters. */
int table_check_partition(struct text partition, struct err *err);

#endif
