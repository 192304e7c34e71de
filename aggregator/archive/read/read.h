/*
 * read - an archive as if it were a store.
 *
 * Rows of the store are made of the archive's typed rows when a reader asks for
 * them (aggregator/db/source.h), so the questions have one code for both and
 * the answers the same bytes.  Nothing is kept but ranges of rows that were
 * made; what the archive gets later is not seen.  proto/archive.md, "Reading",
 * says what is made of what.
 *
 * One thread uses a handle.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_READ_READ_H
#define AGGREGATOR_ARCHIVE_READ_READ_H

#include "aggregator/query/reader.h"
#include "proto/clickhouse/client.h"

struct archive_read; /* opaque */

/* Finds the cluster, checks its format and reads the list of partitions.  The
 * texts of the options must outlive the handle; `option` is the name of the one
 * with the address. */
int archive_read_open(struct archive_read **read,
    const struct clickhouse_options *options, const char *option,
    struct err *err);
void archive_read_close(struct archive_read **read);

/* A reader of the rows; close it before the handle. */
int archive_read_reader(
    struct archive_read *read, struct reader **reader, struct err *err);
/* As reader_answer.  The first page of a question (without a cursor) has what
 * was in the archive at most ARCHIVE_READ_OLD_NS ago. */
#define ARCHIVE_READ_OLD_NS (2 * NS_PER_SECOND)
int archive_read_answer(struct archive_read *read, struct reader *reader,
    const struct wire_header *header, const struct wire_query *query,
    struct wire_writer *w, bool *last, struct err *err);

#endif
