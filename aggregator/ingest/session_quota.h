/*
 * session_quota - limits the new sessions that each node begins in an hour.
 *
 * The counts are in a hash table of fixed size, keyed at random.  A node that
 * takes the slot of another resets the count of that one: the limit is against
 * floods and need not be exact.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_SESSION_QUOTA_H
#define AGGREGATOR_INGEST_SESSION_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/hash/hash.h"
#include "proto/base/text.h"

enum { SESSION_QUOTA_NODES = 4096 };

struct session_quota {
	uint64_t per_hour; /* 0: no limit */
	struct hash_key key;
	struct session_quota_node {
		uint64_t node; /* hash of the node */
		int64_t hour;
		uint64_t count;
	} at[SESSION_QUOTA_NODES];
};

void session_quota_init(struct session_quota *session_quota, uint64_t per_hour);
/* Count a new session; false: it would exceed the limit, and is not counted. */
bool session_quota_take(struct session_quota *session_quota,
    struct text partition, struct text node, int64_t now_ns);
/* Reset the counts of all nodes. */
void session_quota_forget(struct session_quota *session_quota);

#endif
