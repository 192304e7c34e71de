/*
 * dedup_load - loads the uuids and submission numbers of the spool after a
 * start.
 *
 * Reads the batches accepted last, including acknowledged ones that are
 * retained: a client or a file of the fallback queue may submit any of them
 * again.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DEDUP_DEDUP_LOAD_H
#define AGENTS_DEDUP_DEDUP_LOAD_H

#include "agents/dedup/dedup_sequence.h"
#include "agents/dedup/dedup_uuid.h"
#include "agents/spool/spool.h"

void dedup_load_spool(struct spool *spool, struct dedup_uuid *dedup_uuid,
    struct dedup_sequence *dedup_sequence);

#endif
