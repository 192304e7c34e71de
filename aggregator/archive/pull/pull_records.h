/*
 * pull_records - read the records of a partition, hour by hour, into row
 * blocks.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_PULL_PULL_RECORDS_H
#define AGGREGATOR_ARCHIVE_PULL_PULL_RECORDS_H

#include "aggregator/archive/pull/pull_into.h"

/* After pull_state: names are those of the store.  Sets the counts of the
 * partition.  -1: they cannot be read whole. */
int pull_records(struct pull_into *into, struct err *err);

enum { PULL_HOURS_MAX = 24 };

/* What was read of some hours. */
struct pull_hours {
	uint64_t bytes; /* of the row blocks */
	int64_t oldest_ns,
	    last_ns; /* the oldest and the newest record were
			received; oldest > last: there are none */
};

/* Read the records of one kind of at most PULL_HOURS_MAX hours from all shards,
 * next to those that the store has; the counts of the partition stay as they
 * are. */
int pull_record_hours(struct pull_into *into, enum record_kind kind,
    int32_t first, int32_t hours, struct pull_hours *got, struct err *err);

#endif
