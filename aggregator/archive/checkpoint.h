/*
 * checkpoint - how far an epoch has come.
 *
 * A row of table `checkpoints` in one shard, which the epoch chooses: what was
 * sent up to there counts, whatever shard has it.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_CHECKPOINT_H
#define AGGREGATOR_ARCHIVE_CHECKPOINT_H

#include "aggregator/archive/pass.h"
#include "proto/clickhouse/client.h"

struct checkpoint {
	struct pass_place place;
};

/* The checkpoint of an epoch, the newest of those that replicas have; all
 * zeros: none. */
int checkpoint_read(struct clickhouse *client, uint32_t epoch,
    struct checkpoint *checkpoint, struct err *err);
/* Write it: returns 0 when as many replicas as there should be have it. */
int checkpoint_commit(struct clickhouse *client, uint32_t epoch,
    const struct checkpoint *checkpoint, struct err *err);

#endif
