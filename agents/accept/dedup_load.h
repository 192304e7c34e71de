/*
 * dedup_load - learns after a start which uuids and puts the spool holds.
 *
 * Goes through what was accepted last, also what is acknowledged but kept: a
 * client or a file of the drop directory may bring any of it once more.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_DEDUP_LOAD_H
#define AGENTS_ACCEPT_DEDUP_LOAD_H

#include "agents/accept/dedup_sequence.h"
#include "agents/accept/dedup_uuid.h"
#include "agents/spool/spool.h"

void dedup_load_spool(struct spool *spool, struct dedup_uuid *dedup_uuid,
    struct dedup_sequence *dedup_sequence);

#endif
