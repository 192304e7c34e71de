/*
 * client_ring - a bounded queue of bytes from one thread to another.
 * SPDX-License-Identifier: MIT
 */
#include "agents/client/ring.h"

void
client_ring_init(struct client_ring *ring, void *at, uint32_t size)
{
	ring->at = at;
	ring->size = size;
	ring->reserved = ring->tail_seen = 0;
	atomic_init(&ring->head, 0);
	atomic_init(&ring->tail, 0);
}

const void *
client_ring_peek(struct client_ring *ring, uint32_t *bytes)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
	const struct client_ring_head *at;

	if (tail == head)
		return NULL;
	at = client_ring_at(ring, tail);
	if (at->used == CLIENT_RING_PAD) {
		/* Never published without a record after it. */
		tail += at->bytes;
		atomic_store_explicit(&ring->tail, tail, memory_order_release);
		at = client_ring_at(ring, tail);
	}
	*bytes = at->used;
	return at + 1;
}

void
client_ring_take(struct client_ring *ring)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	atomic_store_explicit(&ring->tail,
	    tail + client_ring_at(ring, tail)->bytes, memory_order_release);
}

bool
client_ring_is_empty(const struct client_ring *ring)
{
	return atomic_load_explicit(&ring->tail, memory_order_acquire) ==
	       atomic_load_explicit(&ring->head, memory_order_acquire);
}
