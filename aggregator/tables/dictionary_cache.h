/*
 * dictionary_cache - numbers of names that were looked up before, in memory of
 * fixed size and nothing else: what it does not know, or knew once, the caller
 * finds in the store.
 *
 * Keyed by a random 64-bit hash of each process: nobody can aim at a
 * collision, and by chance one comes up in 2^64 / 65,536 lookups.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TABLES_DICTIONARY_CACHE_H
#define AGGREGATOR_TABLES_DICTIONARY_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/hash.h"
#include "proto/base/text.h"

struct dictionary_slot {
	uint64_t hash;
	uint32_t number; /* 0: empty */
	uint32_t is_node;
};

/* Short texts that come again and again (event names, keys) are found by
 * themselves, which is cheaper than a hash that nobody can aim at. */
enum { DICTIONARY_MEMOS = 256, DICTIONARY_MEMO_BYTES = 24 };

struct dictionary_memo {
	uint32_t partition, number; /* number 0: empty */
	uint32_t bytes;
	char at[DICTIONARY_MEMO_BYTES];
};

struct dictionary_cache {
	struct hash_key key;
	struct dictionary_slot *slots; /* sets of a cache line, newest first */
	struct dictionary_memo memo[DICTIONARY_MEMOS];
};

void dictionary_cache_init(struct dictionary_cache *cache);
void dictionary_cache_clear(struct dictionary_cache *cache);
void dictionary_cache_forget(struct dictionary_cache *cache);

/* The slot of a text, an empty one (number 0) to fill when it is not known;
 * valid until the next call. */
struct dictionary_slot *dictionary_cache_slot(
    struct dictionary_cache *cache, uint32_t partition, struct text text);

/* The number of a short text that was memorized last in its place, or 0. */
uint32_t dictionary_cache_recall(
    const struct dictionary_cache *cache, uint32_t partition, struct text text);
/* Does nothing for a text that is empty or too long. */
void dictionary_cache_memorize(struct dictionary_cache *cache,
    uint32_t partition, struct text text, uint32_t number);

#endif
