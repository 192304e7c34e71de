/*
 * session_quota - how many new sessions each node has begun in this hour.
 *
 * A table of fixed size, keyed by a hash with a key of this process: a node
 * whose place is taken by another begins to count anew.  The limit is against
 * floods, not exact.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_SESSION_QUOTA_H
#define AGGREGATOR_INGEST_SESSION_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/hash.h"
#include "proto/base/text.h"

enum { QUOTA_NODES = 4096 };

struct quota {
	uint64_t per_hour; /* 0: no limit */
	struct hash_key key;
	struct quota_node {
		uint64_t node; /* its hash */
		int64_t hour;
		uint64_t count;
	} at[QUOTA_NODES];
};

void quota_init(struct quota *quota, uint64_t per_hour);
/* Count one more; false, and not counted: it is beyond the limit. */
bool quota_take(struct quota *quota, struct text partition, struct text node,
    int64_t now_ns);
/* Nobody has begun any. */
void quota_forget(struct quota *quota);

#endif
