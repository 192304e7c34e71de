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

#endif
