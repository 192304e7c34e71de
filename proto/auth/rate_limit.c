/*
 * rate_limit - limits the bytes a second that each key may send.
 * SPDX-License-Identifier: MIT
 */
#include "proto/auth/rate_limit.h"

#include <stdlib.h>
#include <string.h>

#include "proto/auth/forwarded_peer.h"
#include "proto/hash/hash.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

enum { SLOTS = 8192, TRIES = 8, WAIT_MIN_MS = 50, WAIT_MAX_MS = 5000 };
#define BURST_NS (RATE_LIMIT_BURST_SECONDS * NS_PER_SECOND)

struct slot {
	unsigned char key[ZSOCK_KEY_BYTES];
	/* When the bytes so far would have arrived at exactly the rate. */
	int64_t paid_ns;
};

struct rate_limit {
	uint64_t per_second;
	struct hash_key secret;
	struct slot at[SLOTS];
};

struct rate_limit *
rate_limit_new(uint64_t per_second)
{
	struct rate_limit *rate_limit = memory_zero(1, sizeof(*rate_limit));

	rate_limit->per_second = per_second;
	rate_limit->secret = hash_key_random();
	return rate_limit;
}

void
rate_limit_free(struct rate_limit **rate_limit)
{
	free(*rate_limit);
	*rate_limit = NULL;
}

void
rate_limit_change(struct rate_limit *rate_limit, uint64_t per_second)
{
	rate_limit->per_second = per_second;
}

/* The key to charge: the forwarded identity, if there is one. */
static bool
find_key(const struct zsock_message *message, struct zsock_peer *peer)
{
	bool forwarded;

	forwarded_peer_get(&message->route, peer, &forwarded);
	if (!forwarded)
		*peer = message->peer;
	return peer->keyed;
}

/* The key's slot, or a free one; NULL: no limit applies. */
static struct slot *
find(struct rate_limit *rate_limit,
    const unsigned char key[static ZSOCK_KEY_BYTES], int64_t now_ns)
{
	struct slot *least = NULL, *slot;
	uint64_t hash;

	if (rate_limit->per_second == 0)
		return NULL;
	hash = hash_bytes(rate_limit->secret, key, ZSOCK_KEY_BYTES);
	for (uint32_t i = 0; i < TRIES; i++) {
		slot = &rate_limit->at[(hash + i) % SLOTS];
		if (memcmp(slot->key, key, ZSOCK_KEY_BYTES) == 0)
			return slot;
		if (least == NULL || slot->paid_ns < least->paid_ns)
			least = slot;
	}
	/* If no slot is free, share that of the key with the least debt. */
	if (least->paid_ns <= now_ns)
		memcpy(least->key, key, ZSOCK_KEY_BYTES);
	return least;
}

static struct slot *
find_sender(struct rate_limit *rate_limit, const struct zsock_message *message,
    int64_t now_ns)
{
	struct zsock_peer peer;

	return find_key(message, &peer) ? find(rate_limit, peer.key, now_ns)
					: NULL;
}

static uint32_t
wait_ms(const struct slot *slot, int64_t now_ns)
{
	int64_t ms;

	if (slot == NULL || slot->paid_ns - now_ns <= BURST_NS)
		return 0;
	ms = (slot->paid_ns - now_ns - BURST_NS) / (NS_PER_SECOND / 1000);
	if (ms < WAIT_MIN_MS)
		return WAIT_MIN_MS;
	return ms < WAIT_MAX_MS ? (uint32_t)ms : WAIT_MAX_MS;
}

static void
charge(const struct rate_limit *rate_limit, struct slot *slot, uint64_t amount,
    int64_t now_ns)
{
	if (slot == NULL)
		return;
	if (slot->paid_ns < now_ns)
		slot->paid_ns = now_ns;
	slot->paid_ns +=
	    (int64_t)(amount * NS_PER_SECOND / rate_limit->per_second);
}

uint32_t
rate_limit_wait_ms(struct rate_limit *rate_limit,
    const struct zsock_message *message, int64_t now_ns)
{
	return wait_ms(find_sender(rate_limit, message, now_ns), now_ns);
}

void
rate_limit_charge(struct rate_limit *rate_limit,
    const struct zsock_message *message, int64_t now_ns)
{
	charge(rate_limit, find_sender(rate_limit, message, now_ns),
	    message->frame.bytes, now_ns);
}

uint32_t
rate_limit_take_of_key(struct rate_limit *rate_limit,
    const unsigned char key[static ZSOCK_KEY_BYTES], uint64_t amount,
    int64_t now_ns)
{
	struct slot *slot = find(rate_limit, key, now_ns);
	uint32_t ms = wait_ms(slot, now_ns);

	if (ms == 0)
		charge(rate_limit, slot, amount, now_ns);
	return ms;
}

bool
rate_limit_take(struct rate_limit *rate_limit,
    const struct zsock_message *message, int64_t now_ns)
{
	if (rate_limit_wait_ms(rate_limit, message, now_ns) > 0)
		return false;
	rate_limit_charge(rate_limit, message, now_ns);
	return true;
}
