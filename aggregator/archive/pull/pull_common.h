/*
 * pull_common - the facts that all partitions of a store share (rows/common.h),
 * once in the store: the archive has them for each partition.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_PULL_PULL_COMMON_H
#define AGGREGATOR_ARCHIVE_PULL_PULL_COMMON_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/archive/pull/pull_into.h"

/* Those of a partition, as they come. */
struct pull_common {
	struct buffer rows; /* keys and values by turns, of position `pos` */
	uint64_t pos;
};

/* Is this key of table meta one of them? */
bool pull_common_is(struct text key);

void pull_common_begin(struct pull_common *common);
/* Aggregators send all of them together: those of an older position were
 * removed. */
int pull_common_add(struct pull_common *common, struct text key,
    struct text value, uint64_t pos, struct err *err);
/* Write them to the store, or see that it has the same. */
int pull_common_end(
    struct pull_common *common, struct pull_into *into, struct err *err);
void pull_common_clear(struct pull_common *common);

#endif
