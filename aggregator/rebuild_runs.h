/*
 * rebuild_runs - runs again, from what is told of them besides events: the
 * entities that describe them, so that runs without a single event are there.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_REBUILD_RUNS_H
#define AGGREGATOR_REBUILD_RUNS_H

#include "aggregator/fold_core.h"

/* Of one partition, or of all (0); in bounded transactions of its own. */
enum db_result rebuild_runs(
    struct fold *fold, uint32_t partition, struct err *err);

#endif
