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

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/clickhouse/client.h"

struct takeover_report {
	uint32_t epoch, partitions;
	uint32_t ended; /* claims of others */
};

/* After clickhouse_find and schema_check; the store is locked (admin_lock). Can
 * be repeated.  -1: the archive has more of a partition than the store, or does
 * not answer. */
int takeover_store(struct clickhouse *client, const char *store,
    struct takeover_report *report, struct err *err);

#endif
