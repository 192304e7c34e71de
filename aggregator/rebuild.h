/*
 * rebuild - all phases, statistics and runs again, from what is stored.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_REBUILD_H
#define AGGREGATOR_REBUILD_H

#include "aggregator/fold_core.h"

enum { REBUILD_ROWS = 32 << 10 }; /* of one transaction */

/* From the start when it was interrupted.  With the number of a partition:
 * those of that one; 0: of all. */
enum db_result rebuild_all(
    struct fold *fold, uint32_t partition, struct err *err);

#endif
