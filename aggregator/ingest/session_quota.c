/*
 * session_quota - limits the new sessions that each node begins in an hour.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/session_quota.h"

#include <string.h>

#include "proto/os/clock.h"

#define HOUR_NS (3600 * NS_PER_SECOND)

void
session_quota_init(struct session_quota *session_quota, uint64_t per_hour)
{
	session_quota->per_hour = per_hour;
	session_quota->key = hash_key_random();
	session_quota_forget(session_quota);
}

bool
session_quota_take(struct session_quota *session_quota, struct text partition,
    struct text node, int64_t now_ns)
{
	int64_t hour = now_ns / HOUR_NS;
	uint64_t hash =
	    hash_bytes(session_quota->key, node.at, node.bytes) ^
	    hash_bytes(session_quota->key, partition.at, partition.bytes) * 3;
	struct session_quota_node *at =
	    &session_quota->at[hash % SESSION_QUOTA_NODES];

	if (session_quota->per_hour == 0)
		return true;
	if (at->node != hash || at->hour != hour)
		*at = (struct session_quota_node){ .node = hash, .hour = hour };
	if (at->count >= session_quota->per_hour)
		return false;
	at->count++;
	return true;
}

void
session_quota_forget(struct session_quota *session_quota)
{
	memset(session_quota->at, 0, sizeof(session_quota->at));
}
