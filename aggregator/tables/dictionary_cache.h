/*
 * dictionary_cache - numbers of recently used names, in memory of fixed size.
 * The caller looks up in the store what the cache does not have.
 *
 * Names are compared by a 64-bit hash with a random key of the process, so
 * nobody can provoke a collision.  By chance one happens in 2^64 / 65,536
 * lookups.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TABLES_DICTIONARY_CACHE_H
#define AGGREGATOR_TABLES_DICTIONARY_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/hash/hash.h"
#include "proto/base/text.h"

struct dictionary_slot {
	uint64_t hash;
	uint32_t number;  /* 0: empty */
	uint32_t is_node; /* 1; 2: a host that only imported */
};

/* Short texts that occur again and again (event names, attribute keys) are
 * compared themselves, which is faster than the keyed hash. */
enum { DICTIONARY_MEMOS = 256, DICTIONARY_MEMO_BYTES = 24 };

struct dictionary_memo {
	uint32_t partition, number; /* number 0: empty */
	uint32_t bytes;
	char at[DICTIONARY_MEMO_BYTES];
};

struct dictionary_cache {
	struct hash_key key;
	/* Sets of one cache line, most recently used first. */
	struct dictionary_slot *slots;
	struct dictionary_memo memo[DICTIONARY_MEMOS];
};

void dictionary_cache_init(struct dictionary_cache *cache);
void dictionary_cache_clear(struct dictionary_cache *cache);
void dictionary_cache_forget(struct dictionary_cache *cache);

/* Returns the slot of a text.  Number 0: the text is unknown, and the caller
 * fills the slot.  Valid until the next call. */
struct dictionary_slot *dictionary_cache_slot(
    struct dictionary_cache *cache, uint32_t partition, struct text text);

/* The number of a short text; 0: it is not stored, or another text has replaced
 * it. */
uint32_t dictionary_cache_find_short(
    const struct dictionary_cache *cache, uint32_t partition, struct text text);
/* Store a short text; does nothing for texts that are empty or too long. */
void dictionary_cache_store_short(struct dictionary_cache *cache,
    uint32_t partition, struct text text, uint32_t number);

#endif
