/*
 * client_ring - a bounded queue of bytes from one thread to another.
 * SPDX-License-Identifier: MIT
 */
#include "agents/client/ring.h"

void
lib_ring_init(struct lib_ring *ring, void *at, uint32_t size)
{
	ring->at = at;
	ring->size = size;
	ring->reserved = ring->tail_seen = 0;
	atomic_init(&ring->head, 0);
	atomic_init(&ring->tail, 0);
}

const void *
lib_ring_peek(struct lib_ring *ring, uint32_t *bytes)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
	const struct lib_ring_head *at;

	if (tail == head)
		return NULL;
	at = lib_ring_at(ring, tail);
	if (at->used == LIB_RING_PAD) {
		/* Never published without a record behind it. */
		tail += at->bytes;
		atomic_store_explicit(&ring->tail, tail, memory_order_release);
		at = lib_ring_at(ring, tail);
	}
	*bytes = at->used;
	return at + 1;
}

void
lib_ring_take(struct lib_ring *ring)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	atomic_store_explicit(&ring->tail,
	    tail + lib_ring_at(ring, tail)->bytes, memory_order_release);
}

bool
lib_ring_is_empty(const struct lib_ring *ring)
{
	return atomic_load_explicit(&ring->tail, memory_order_acquire) ==
	       atomic_load_explicit(&ring->head, memory_order_acquire);
}
