/*
 * partitions - the partitions of a store: list them, drop one.
 *
 * The aggregator of the store may be running.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ADMIN_PARTITIONS_H
#define AGGREGATOR_ADMIN_PARTITIONS_H

#include <stdbool.h>

#include "aggregator/tables/tables.h"
#include "proto/answer/answer.h"
#include "proto/base/err.h"

/* Give each partition with what is stored of it, sorted by name, and the rows
 * of the partition table in the file `routes`, which need not exist. */
int partitions_list(struct answer *answer, const char *store,
    const char *routes, struct err *err);
extern const struct answer_table partitions_tables[];

struct partitions_drop {
	const char *store;
	struct text partition;
	/* Give up when the indexer makes no progress for this time. */
	int64_t timeout_ns;
	bool dry_run; /* only count */
};

/* Delete a partition that should not exist, such as one whose name a shell has
 * changed.  The aggregator must be running if it has batches to index.  What
 * senders send meanwhile is deleted, too, or makes the partition again.  After
 * a crash the same call resumes.  `counts`: what was deleted, or with `dry_run`
 * what would be.  -1 also if the store has no such partition. */
int partitions_drop(const struct partitions_drop *drop,
    struct partition_counts *counts, struct err *err);

#endif
