/*
 * web_cache - answers that may be asked for again, by their tag.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/cache.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/web/tag.h"
#include "proto/base/memory.h"

struct entry {
	char tag[WEB_TAG_BYTES];
	struct web_body *body;
	uint64_t used; /* when it was asked for last, as a number */
};

struct web_cache {
	pthread_mutex_t lock;
	struct entry at[WEB_CACHE_ENTRIES_MAX];
	uint32_t count;
	uint64_t bytes, bytes_max, uses;
};

struct web_cache *
web_cache_new(uint64_t bytes_max)
{
	struct web_cache *cache = memory_zero(1, sizeof(*cache));

	pthread_mutex_init(&cache->lock, NULL);
	cache->bytes_max = bytes_max;
	return cache;
}

static void
remove_entry(struct web_cache *cache, uint32_t at)
{
	cache->bytes -= web_body_memory(cache->at[at].body);
	web_body_drop(&cache->at[at].body);
	cache->at[at] = cache->at[--cache->count];
}

void
web_cache_free(struct web_cache **cache)
{
	struct web_cache *old = *cache;

	*cache = NULL;
	if (old == NULL)
		return;
	while (old->count > 0)
		remove_entry(old, 0);
	pthread_mutex_destroy(&old->lock);
	free(old);
}

static struct entry *
find(struct web_cache *cache, const char *tag)
{
	for (uint32_t i = 0; i < cache->count; i++)
		if (strcmp(cache->at[i].tag, tag) == 0)
			return &cache->at[i];
	return NULL;
}

struct web_body *
web_cache_get(struct web_cache *cache, const char *tag)
{
	struct web_body *body = NULL;
	struct entry *entry;

	pthread_mutex_lock(&cache->lock);
	entry = find(cache, tag);
	if (entry != NULL) {
		entry->used = ++cache->uses;
		body = entry->body;
		web_body_hold(body);
	}
	pthread_mutex_unlock(&cache->lock);
	return body;
}

static uint32_t
oldest(const struct web_cache *cache)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i < cache->count; i++)
		if (cache->at[i].used < cache->at[found].used)
			found = i;
	return found;
}

void
web_cache_put(struct web_cache *cache, const char *tag, struct web_body *body)
{
	uint64_t bytes = web_body_memory(body);
	struct entry *entry;

	if (bytes > cache->bytes_max / 4)
		return;
	pthread_mutex_lock(&cache->lock);
	if (find(cache, tag) == NULL) {
		while (cache->count == WEB_CACHE_ENTRIES_MAX ||
		       cache->bytes + bytes > cache->bytes_max)
			remove_entry(cache, oldest(cache));
		entry = &cache->at[cache->count++];
		snprintf(entry->tag, sizeof(entry->tag), "%s", tag);
		entry->body = body;
		entry->used = ++cache->uses;
		cache->bytes += bytes;
		web_body_hold(body);
	}
	pthread_mutex_unlock(&cache->lock);
}
