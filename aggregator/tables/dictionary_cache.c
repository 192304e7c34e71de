/*
 * dictionary_cache - numbers of recently used names.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tables/dictionary_cache.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

enum {
	SETS = 1 << 14,
	WAYS = 4, /* a set is one cache line */
	LINE_BYTES = 64,
};

void
dictionary_cache_init(struct dictionary_cache *cache)
{
	cache->key = hash_key_random();
	cache->slots = memory_must(
	    aligned_alloc(LINE_BYTES, SETS * WAYS * sizeof(*cache->slots)));
	dictionary_cache_forget(cache);
}

void
dictionary_cache_clear(struct dictionary_cache *cache)
{
	free(cache->slots);
	cache->slots = NULL;
}

void
dictionary_cache_forget(struct dictionary_cache *cache)
{
	memset(cache->slots, 0, SETS * WAYS * sizeof(*cache->slots));
	memset(cache->memo, 0, sizeof(cache->memo));
}

struct dictionary_slot *
dictionary_cache_slot(
    struct dictionary_cache *cache, uint32_t partition, struct text text)
{
	struct hash_key key = cache->key;
	struct dictionary_slot *set, hit;
	uint64_t hash;
	int i;

	key.k0 ^= partition;
	hash = hash_bytes(key, text.at, text.bytes);
	set = cache->slots + (hash % SETS) * WAYS;
	for (i = 0; i < WAYS - 1; i++) {
		if (set[i].hash == hash && set[i].number != 0)
			break;
	}
	hit = set[i];
	for (; i > 0; i--)
		set[i] = set[i - 1];
	set[0] = hit;
	if (hit.hash != hash || hit.number == 0)
		set[0] = (struct dictionary_slot){ hash, 0, 0 };
	return set;
}

static bool
is_short(struct text text)
{
	return text.bytes > 0 && text.bytes <= DICTIONARY_MEMO_BYTES;
}

static uint32_t
slot_of(uint32_t partition, struct text text)
{
	uint32_t place = text.bytes * 31 + partition;

	place = place * 31 + (unsigned char)text.at[0];
	place = place * 31 + (unsigned char)text.at[text.bytes / 2];
	place = place * 31 + (unsigned char)text.at[text.bytes - 1];
	return place % DICTIONARY_MEMOS;
}

uint32_t
dictionary_cache_find_short(
    const struct dictionary_cache *cache, uint32_t partition, struct text text)
{
	const struct dictionary_memo *memo;

	if (!is_short(text))
		return 0;
	memo = &cache->memo[slot_of(partition, text)];
	if (memo->partition != partition || memo->bytes != text.bytes ||
	    memcmp(memo->at, text.at, text.bytes) != 0)
		return 0;
	return memo->number;
}

void
dictionary_cache_store_short(struct dictionary_cache *cache, uint32_t partition,
    struct text text, uint32_t number)
{
	struct dictionary_memo *memo;

	if (!is_short(text))
		return;
	memo = &cache->memo[slot_of(partition, text)];
	memo->partition = partition;
	memo->number = number;
	memo->bytes = text.bytes;
	memcpy(memo->at, text.at, text.bytes);
}
