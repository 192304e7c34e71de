/*
 * client_ring - a bounded queue of bytes from one thread to another.
 *
 * One producer, one consumer, no locks, no waiting: a record that does not fit
 * is refused.  A record is contiguous and begins at a multiple of 8.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_CLIENT_RING_H
#define AGENTS_CLIENT_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In front of each record, and of the rest of the ring when a record does not
 * fit before its end. */
struct client_ring_head {
	uint32_t bytes; /* with this, a multiple of 8 */
	uint32_t used;  /* of the record; CLIENT_RING_PAD: skip */
};

#define CLIENT_RING_PAD UINT32_MAX
enum { CLIENT_RING_AHEAD = 256 };

struct client_ring {
	unsigned char *at;
	uint32_t size; /* a power of two; 0: refuses everything */
	/* The producer's side, on a cache line of its own. */
	_Alignas(64) _Atomic uint64_t head; /* written up to here */
	uint64_t reserved;                  /* ... and being written */
	uint64_t tail_seen;
	/* The consumer's. */
	_Alignas(64) _Atomic uint64_t tail; /* read up to here */
};

/* `at` has `size` bytes, aligned to 8. */
void client_ring_init(struct client_ring *ring, void *at, uint32_t size);

/* ---- the producer, in a few nanoseconds ---- */

static inline struct client_ring_head *
client_ring_at(const struct client_ring *ring, uint64_t place)
{
	return (struct client_ring_head *)(void *)(ring->at +
						   (place & (ring->size - 1)));
}

/* Room for a record of `bytes`, or NULL.  The producer fills it and publishes
 * it; without that it is as if nothing had been reserved. */
static inline void *
client_ring_reserve(struct client_ring *ring, uint32_t bytes)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	uint32_t whole =
	    (uint32_t)sizeof(struct client_ring_head) + ((bytes + 7) & ~7u);
	uint32_t to_end, wanted;
	struct client_ring_head *at;

	if (bytes > ring->size / 2)
		return NULL;
	to_end = ring->size - (uint32_t)(head & (ring->size - 1));
	wanted = whole <= to_end ? whole : to_end + whole;
	if (head + wanted - ring->tail_seen > ring->size) {
		ring->tail_seen =
		    atomic_load_explicit(&ring->tail, memory_order_acquire);
		if (head + wanted - ring->tail_seen > ring->size)
			return NULL;
	}
	at = client_ring_at(ring, head);
	if (whole > to_end) {
		*at = (struct client_ring_head){ to_end, CLIENT_RING_PAD };
		at = client_ring_at(ring, head + to_end);
	}
	*at = (struct client_ring_head){ whole, bytes };
	ring->reserved = head + wanted;
	/* The consumer's processor has these cache lines: fetch those of later
	 * records in advance. */
	__builtin_prefetch(
	    client_ring_at(ring, ring->reserved + CLIENT_RING_AHEAD), 1);
	return at + 1;
}

static inline void
client_ring_publish(struct client_ring *ring)
{
	atomic_store_explicit(
	    &ring->head, ring->reserved, memory_order_release);
}

/* Is more than half of it in use, as the producer sees it?  Reads the
 * consumer's position only when it seems so. */
static inline bool
client_ring_is_half_full(struct client_ring *ring)
{
	if (ring->reserved - ring->tail_seen <= ring->size / 2)
		return false;
	ring->tail_seen =
	    atomic_load_explicit(&ring->tail, memory_order_acquire);
	return ring->reserved - ring->tail_seen > ring->size / 2;
}

/* ---- the consumer ---- */

/* The oldest record or NULL, valid until it is taken. */
const void *client_ring_peek(struct client_ring *ring, uint32_t *bytes);
void client_ring_take(struct client_ring *ring);

/* Everything published has been taken. */
bool client_ring_is_empty(const struct client_ring *ring);

#endif
