/*
 * ended_sessions - removes the rows of sessions that ended.
 *
 * Each start of an agent begins a session, and each session has a row for each
 * of its partitions in the journal.  A row goes when nothing came for 7 days,
 * which is far longer than agents retain what was acknowledged.  A session
 * whose name is derived from its content (an import) is recognized by its row
 * as long as its records exist: that row goes with them.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_ENDED_SESSIONS_H
#define AGGREGATOR_INGEST_ENDED_SESSIONS_H

#include <stdint.h>

#include "aggregator/journal/journal.h"
#include "proto/os/clock.h"

#define ENDED_SESSIONS_IDLE_NS (7 * 24 * 3600 * NS_PER_SECOND)

/* Initialize with zeros. */
struct ended_sessions {
	int64_t retain_ns; /* how long records are kept; 0: for ever */
	/* The key from which the next call continues; 0 bytes: the first. */
	unsigned char at[16 + NAME_BYTES_MAX];
	uint32_t at_bytes;
};

/* Look at the next rows, in the open transaction of the journal, and remove
 * those of ended sessions.  Their number. */
uint32_t ended_sessions_collect(struct ended_sessions *ended_sessions,
    struct journal *journal, int64_t now_ns);

#endif
