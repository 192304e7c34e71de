/*
 * pull_state - read the rows of a partition that are kept as keys and values:
 * of each the newest version that counts.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_PULL_PULL_STATE_H
#define AGGREGATOR_ARCHIVE_PULL_PULL_STATE_H

#include "aggregator/archive/pull/pull_into.h"

/* 0: they are in the store.  1: the archive has gone on meanwhile, and may have
 * forgotten versions that were wanted.  -1: they cannot be read whole. */
int pull_state(struct pull_into *into, struct err *err);
/* The same of a table of rollups (tables_rollup), hours first .. end - 1, whose
 * rows pull_state leaves out for a mirror.  `*bytes` grows by what was stored.
 */
int pull_state_rollups(struct pull_into *into, unsigned table, int32_t first,
    int32_t end, uint64_t *bytes, struct err *err);

#endif
