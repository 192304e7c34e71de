/*
 * rebuild - all phases, statistics and runs again, from what is stored.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_WRITER_REBUILD_H
#define AGGREGATOR_WRITER_REBUILD_H

#include "aggregator/writer/writer_private.h"

enum { REBUILD_ROWS = 32 << 10 }; /* of one transaction */

/* From the start when it was interrupted.  With the number of a partition:
 * those of that one; 0: of all. */
enum db_result rebuild_all(
    struct writer *writer, uint32_t partition, struct err *err);

/*
 * Runs again, from what is reported of them besides events: the
 * entities that describe them, so that runs without a single event are there.
 */
/* Of one partition, or of all (0); in bounded transactions of its own. */
enum db_result rebuild_runs(
    struct writer *writer, uint32_t partition, struct err *err);

#endif
