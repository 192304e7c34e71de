/*
 * move - move a partition from one store to another.
 *
 * proto/store.md, "Partitions and their stores", has the steps.  Each step is
 * one transaction or can be repeated, and both stores record the progress:
 * after a crash of any process the same call resumes.  Both aggregators may be
 * running; that of the source must, if it has batches to index.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_MOVE_MOVE_H
#define AGGREGATOR_MOVE_MOVE_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

struct move_options {
	const char *from, *to; /* directories of stores; `to` need not exist */
	struct text partition;
	/* Address of `to` for brokers; NULL: do not change the table. */
	const char *endpoint;
	const char *table; /* file of the partition table */
	/* Give up when the source's indexer makes no progress for this time. */
	int64_t timeout_ns;
};

/* Returns when the partition is only in `to`. */
int move_partition(const struct move_options *options, struct err *err);

/* Cancel a move that has not assigned the partition to the target yet; it
 * stays in the source. */
int move_cancel(const struct move_options *options, struct err *err);

#endif
