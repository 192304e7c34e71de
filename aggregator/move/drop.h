/*
 * move_drop - delete a partition that should not exist, such as one whose name
 * a shell has changed.
 *
 * The aggregator of the store may be running; it must, if it has batches of
 * the partition to index.  After a crash the same call resumes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_MOVE_DROP_H
#define AGGREGATOR_MOVE_DROP_H

#include <stdbool.h>

#include "aggregator/move/move.h"
#include "aggregator/tables/tables.h"

/* Of the options, `from`, `partition` and `timeout_ns` count.  `counts`: what
 * was deleted, or with `dry_run` what would be.  -1 also if the store has no
 * such partition. */
int move_drop(const struct move_options *options, bool dry_run,
    struct partition_counts *counts, struct err *err);

#endif
