/*
 * phase_memory - what the indexer remembers of keys and nodes.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/phase_memory.h"

#include <stdlib.h>

#include "proto/base/memory.h"

static uint32_t
states_max(const struct phase_memory *memory)
{
	return memory->states_max > 0 ? memory->states_max
				      : PHASE_MEMORY_STATES;
}

/* A power of two, at most half full. */
static uint32_t
slots(const struct phase_memory *memory)
{
	uint32_t slots = 2;

	while (slots < 2 * states_max(memory))
		slots *= 2;
	return slots;
}

static void
forget(struct phase_memory *memory, struct phase_memory_half *half)
{
	uint32_t count = half->slot != NULL ? slots(memory) : 0;

	for (uint32_t i = 0; i < count; i++)
		if (half->slot[i].more != NULL) {
			memory->queued -= half->slot[i].more->count;
			pairer_clear(half->slot[i].more);
			free(half->slot[i].more);
		}
	free(half->memory);
	*half = (struct phase_memory_half){ .slot = NULL };
}

void
phase_memory_forget(struct phase_memory *memory)
{
	forget(memory, &memory->young);
	forget(memory, &memory->old);
}

static bool
same(const struct key_phase *a, const struct key_phase *b)
{
	return a->key_hash == b->key_hash && a->scope == b->scope &&
	       a->phase == b->phase && a->partition == b->partition;
}

static uint32_t
first_slot(const struct phase_memory *memory, const struct key_phase *key)
{
	/* The hash is secret, so nobody can choose keys of one slot; scopes
	 * and phases are small numbers. */
	uint64_t mix =
	    key->key_hash ^ ((uint64_t)key->scope << 32 | key->phase) *
				UINT64_C(0x9e3779b97f4a7c15);

	mix ^= (uint64_t)key->partition << 17;
	mix *= UINT64_C(0xbf58476d1ce4e5b9);
	return (uint32_t)(mix >> 32) & (slots(memory) - 1);
}

/* The slot of the key, or the empty one where it would be. */
static struct phase_state *
slot_of(const struct phase_memory *memory, struct phase_memory_half *half,
    const struct key_phase *key)
{
	uint32_t mask = slots(memory) - 1, i;

	for (i = first_slot(memory, key); half->slot[i].key.partition != 0;
	     i = (i + 1) & mask)
		if (same(&half->slot[i].key, key))
			break;
	return &half->slot[i];
}

void
phase_memory_prefetch(
    const struct phase_memory *memory, const struct key_phase *key)
{
	uint32_t i = first_slot(memory, key);

	if (memory->young.slot != NULL)
		__builtin_prefetch(&memory->young.slot[i]);
	if (memory->old.slot != NULL)
		__builtin_prefetch(&memory->old.slot[i]);
}

struct phase_state *
phase_memory_find(struct phase_memory *memory, const struct key_phase *key)
{
	struct phase_state *found, *to, moved;

	if (memory->young.slot != NULL) {
		found = slot_of(memory, &memory->young, key);
		if (found->key.partition != 0)
			return found;
	}
	if (memory->old.slot == NULL)
		return NULL;
	found = slot_of(memory, &memory->old, key);
	if (found->key.partition == 0)
		return NULL;
	/* It moves; the key stays behind, so that others are found.  `old` may
	 * be freed meanwhile. */
	moved = *found;
	found->more = NULL;
	to = phase_memory_add(memory, key);
	*to = moved;
	return to;
}

static void
begin_half(struct phase_memory *memory, struct phase_memory_half *half)
{
	uintptr_t at;

	half->memory =
	    memory_zero(slots(memory) + 1, sizeof(struct phase_state));
	at = (uintptr_t)half->memory + PHASE_MEMORY_LINE - 1;
	half->slot = (void *)(at - at % PHASE_MEMORY_LINE);
}

static void
make_room(struct phase_memory *memory)
{
	if (memory->young.slot != NULL &&
	    memory->young.used < states_max(memory) &&
	    memory->queued < states_max(memory))
		return;
	forget(memory, &memory->old);
	memory->old = memory->young;
	memory->young = (struct phase_memory_half){ .used = 0 };
	begin_half(memory, &memory->young);
}

struct phase_state *
phase_memory_add(struct phase_memory *memory, const struct key_phase *key)
{
	struct phase_state *state;

	make_room(memory);
	state = slot_of(memory, &memory->young, key);
	*state = (struct phase_state){ .key = *key, .last_ns = INT64_MIN };
	memory->young.used++;
	return state;
}

void
phase_state_get(const struct phase_state *state, struct pairer *pairer)
{
	const struct pairer_instant one = { 0, 0, 1 };

	pairer_reset(pairer);
	if (state->waits)
		pairer_pass(pairer, &one, state->start_ns, 0, false);
	for (uint32_t i = 0; state->more != NULL && i < state->more->count; i++)
		pairer_pass(pairer, &one,
		    pairer_waiting(state->more, i).time_ns, 0, true);
}

void
phase_state_put(struct phase_memory *memory, struct phase_state *state,
    const struct pairer *pairer, bool fifo)
{
	const struct pairer_instant one = { 0, 0, 1 };

	if (!fifo) {
		state->waits = pairer->count > 0;
		if (state->waits)
			state->start_ns = pairer_waiting(pairer, 0).time_ns;
		return;
	}
	if (state->more == NULL)
		state->more = memory_zero(1, sizeof(*state->more));
	memory->queued -= state->more->count;
	pairer_reset(state->more);
	for (uint32_t i = 0; i < pairer->count; i++)
		pairer_pass(state->more, &one,
		    pairer_waiting(pairer, i).time_ns, 0, true);
	memory->queued += state->more->count;
}
