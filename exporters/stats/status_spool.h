/*
 * status_spool - what the files of an agent's spool say to whoever may read
 * them.
 *
 * The agent writes what it accepts into segments, and into ACKED what the
 * aggregator has acknowledged, at most some seconds later (proto/spool.md).  So
 * a segment that was written long after ACKED has what nobody has acknowledged
 * for at least so long.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STATS_STATUS_SPOOL_H
#define EXPORTERS_STATS_STATUS_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

struct status_spool {
	int64_t bytes;      /* of its segments, which have full size from the
			       first record on */
	int64_t unacked_ns; /* how long before the newest record something was
			       acknowledged; 0: just before, or none is there */
};

/* False: `path` cannot be read. */
bool status_spool_read(struct status_spool *spool, const char *path);

#endif
