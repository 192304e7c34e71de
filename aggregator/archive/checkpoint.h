/*
 * checkpoint - how far an epoch has come.
 *
 * A row of table `checkpoints` in one shard, which the epoch chooses: what was
 * sent up to there counts, whatever shard has it.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_CHECKPOINT_H
#define AGGREGATOR_ARCHIVE_CHECKPOINT_H

#include "aggregator/archive/owners.h"
#include "aggregator/archive/pass.h"

struct checkpoint {
	struct pass_place place;
	uint64_t applied; /* changes up to this one are in table state */
};

/* The checkpoint of the epoch, the newest of those that replicas have; all
 * zeros: none. */
int checkpoint_read(
    struct owners *owners, struct checkpoint *checkpoint, struct err *err);
/* Write it: returns 0 when as many replicas as there should be have it. */
int checkpoint_commit(struct owners *owners,
    const struct checkpoint *checkpoint, struct err *err);

#endif
