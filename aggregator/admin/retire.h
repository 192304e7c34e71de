/*
 * retire - say that nodes are no longer part of their pool.
 *
 * Each node gets a bye (proto/delivery.md, "Stopped nodes"), as if its agent
 * had been stopped: whoever is heard again is back.  So the store's aggregator
 * must run; the names are those of the store.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ADMIN_RETIRE_H
#define AGGREGATOR_ADMIN_RETIRE_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

struct retire {
	const char *store, *endpoint; /* of its intake */
	struct text partition;
	struct text nodes; /* list; every name and pattern must be of a node */
};

/* `*count`: how many nodes the aggregator has noted. */
int retire_nodes(const struct retire *retire, uint32_t *count, struct err *err);

#endif
