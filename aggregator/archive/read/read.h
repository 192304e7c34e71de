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

#include "aggregator/db/db.h"
#include "proto/clickhouse/client.h"

struct archive_read; /* opaque */

/* Finds the cluster, checks its format and reads the list of partitions.  The
 * texts of the options must outlive the handle; `option` is the name of the one
 * with the address. */
int archive_read_open(struct archive_read **read,
    const struct clickhouse_options *options, const char *option,
    struct err *err);
void archive_read_close(struct archive_read **read);

/* The rows, for reader_open_shared; lives as long as the handle. */
struct db *archive_read_db(struct archive_read *read);
/* The next question is about this partition: facts that all partitions of a
 * store share are those of its head. */
void archive_read_use(struct archive_read *read, struct text partition);

#endif
