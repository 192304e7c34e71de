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
	const char *endpoint; /* address of `to` for brokers; NULL: keep the
				 partition table */
	const char *table;    /* the partition table */
	int64_t timeout_ns;   /* maximum time without progress of the source's
				 indexer */
};

/* Returns when the partition is in `to` only. */
int move_partition(const struct move_options *options, struct err *err);

/* Cancel a move that has not assigned the partition to the target yet; it
 * stays in the source. */
int move_cancel(const struct move_options *options, struct err *err);

#endif
