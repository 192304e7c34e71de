/*
 * owned_partitions - the partitions of a store, read by other processes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_MOVE_OWNED_PARTITIONS_H
#define AGGREGATOR_MOVE_OWNED_PARTITIONS_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

struct owned_partition {
	struct text partition;
	/* Of struct owner, or "going": gone, but its rows still exist. */
	const char *state;
	uint64_t records;
	int64_t since_ns;
	const char
	    *other_store; /* the store at the other end of a move, or "" */
};

/* Call `on_owned` for each partition, sorted by name; its argument is valid
 * during the call.  The aggregator may be running. */
int owned_partitions_each(const char *store,
    void (*on_owned)(void *arg, const struct owned_partition *owned_partition),
    void *arg, struct err *err);

#endif
