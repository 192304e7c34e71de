/*
 * dictionary_cache - numbers of names that were looked up before.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tables/dictionary_cache.h"

#include <stdlib.h>
#include <string.h>

enum {
	SETS = 1 << 14,
	WAYS = 4, /* one cache line a set */
	LINE_BYTES = 64,
};

void
names_cache_init(struct names_cache *cache)
{
	cache->key = hash_key_random();
	cache->slots =
	    aligned_alloc(LINE_BYTES, SETS * WAYS * sizeof(*cache->slots));
	if (cache->slots == NULL)
		abort();
	names_cache_forget(cache);
}

void
names_cache_clear(struct names_cache *cache)
{
	free(cache->slots);
	cache->slots = NULL;
}

void
names_cache_forget(struct names_cache *cache)
{
	memset(cache->slots, 0, SETS * WAYS * sizeof(*cache->slots));
	memset(cache->memo, 0, sizeof(cache->memo));
}

struct names_slot *
names_cache_slot(
    struct names_cache *cache, uint32_t partition, struct text text)
{
	struct hash_key key = cache->key;
	struct names_slot *set, hit;
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
		set[0] = (struct names_slot){ hash, 0, 0 };
	return set;
}

static bool
is_short(struct text text)
{
	return text.bytes > 0 && text.bytes <= NAMES_MEMO_BYTES;
}

static uint32_t
place_of(uint32_t partition, struct text text)
{
	uint32_t place = text.bytes * 31 + partition;

	place = place * 31 + (unsigned char)text.at[0];
	place = place * 31 + (unsigned char)text.at[text.bytes / 2];
	place = place * 31 + (unsigned char)text.at[text.bytes - 1];
	return place % NAMES_MEMOS;
}

uint32_t
names_cache_recall(
    const struct names_cache *cache, uint32_t partition, struct text text)
{
	const struct names_memo *memo;

	if (!is_short(text))
		return 0;
	memo = &cache->memo[place_of(partition, text)];
	if (memo->partition != partition || memo->bytes != text.bytes ||
	    memcmp(memo->at, text.at, text.bytes) != 0)
		return 0;
	return memo->number;
}

void
names_cache_memorize(struct names_cache *cache, uint32_t partition,
    struct text text, uint32_t number)
{
	struct names_memo *memo;

	if (!is_short(text))
		return;
	memo = &cache->memo[place_of(partition, text)];
	memo->partition = partition;
	memo->number = number;
	memo->bytes = text.bytes;
	memcpy(memo->at, text.at, text.bytes);
}
