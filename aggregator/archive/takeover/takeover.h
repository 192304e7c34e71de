/*
 * takeover - give the partitions of a store that was made of the archive to
 * that store.
 *
 * The store gets an epoch, which is higher than all others; those that had the
 * partitions before end where the store began.  Their aggregators see that
 * before they write again, and stop.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_TAKEOVER_TAKEOVER_H
#define AGGREGATOR_ARCHIVE_TAKEOVER_TAKEOVER_H

#include "proto/answer/answer.h"
#include "proto/base/err.h"
#include "proto/clickhouse/client.h"

/* After clickhouse_find and schema_check; the store is locked (admin_lock). Can
 * be repeated.  Prints a row for each partition of the store.  -1: the archive
 * has more of a partition than the store, or does not answer. */
int takeover_store(struct clickhouse *client, const char *store,
    struct answer *answer, struct err *err);
extern const struct answer_column takeover_columns[];

#endif
