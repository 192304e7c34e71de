/*
 * move - carries a partition from one store into another.
 *
 * proto/store.md, "Partitions and their stores", has the steps.  Each is a
 * transaction, or is begun anew, and what was reached stands in both stores:
 * after a crash of anybody the same call goes on.  The aggregators of both may
 * run; that of the source must, if it has batches to indexer.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_MOVE_MOVE_H
#define AGGREGATOR_MOVE_MOVE_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

struct move_options {
	const char *from, *to; /* directories of stores; `to` may be new */
	struct text partition;
	const char *endpoint; /* where brokers find `to`; NULL: no table */
	const char *table;    /* the partition table */
	int64_t timeout_ns;   /* without progress of the source's indexer */
};

/* Returns when the partition is in `to`, and only there. */
int move_partition(const struct move_options *options, struct err *err);

/* Leave a move that was begun and is not past the switch; the partition is the
 * source's again. */
int move_cancel(const struct move_options *options, struct err *err);

#endif
