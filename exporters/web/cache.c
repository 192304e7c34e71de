/*
 * web_cache - answers that may be asked for again, by their tag; what a tag is
 * made from.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/cache.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"

/* Of this process: nobody can make two questions with the same tag. */
static struct hash_key keys[2];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
make_keys(void)
{
	keys[0] = hash_key_random();
	keys[1] = hash_key_random();
}

struct sum {
	uint64_t at[2];
};

static void
begin(struct sum *sum)
{
	pthread_once(&once, make_keys);
	sum->at[0] = sum->at[1] = 0;
}

static void
add(struct sum *sum, const void *at, size_t bytes)
{
	for (int i = 0; i < 2; i++) {
		struct hash_key key = { keys[i].k0 ^ sum->at[i], keys[i].k1 };

		sum->at[i] = hash_bytes(key, at, bytes);
	}
}

static void
put(char to[static WEB_TAG_BYTES], const struct sum *sum)
{
	snprintf(to, WEB_TAG_BYTES, "\"%016" PRIx64 "%016" PRIx64 "\"",
	    sum->at[0], sum->at[1]);
}

int
web_tag_of_pool(char to[static WEB_TAG_BYTES], struct source *source,
    const struct web_question *question, const struct web_url *url,
    struct err *err)
{
	char id[sizeof("partition:") + NAME_BYTES_MAX];
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	int64_t second = clock_wall_ns() / NS_PER_SECOND;
	struct record record;
	uint64_t generation;
	struct sum sum;
	int rc;

	snprintf(id, sizeof(id), "partition:%.*s",
	    (int)question->partition.bytes, question->partition.at);
	query.name = text_of(id);
	begin(&sum);
	add(&sum, url->decoded, url->used);
	if (web_route_ages(question->route) || question->query.is_relative)
		add(&sum, &second, sizeof(second));
	if (source_select(source, SOURCE_STATUS, text_of(""), &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		if (record.kind == RECORD_ENTITY)
			add(&sum, record.pairs.at, record.pairs.bytes);
	generation = source_generation(source);
	add(&sum, &generation, sizeof(generation));
	put(to, &sum);
	return rc;
}

void
web_tag_of_bytes(char to[static WEB_TAG_BYTES], const void *at, size_t bytes)
{
	struct sum sum;

	begin(&sum);
	add(&sum, at, bytes);
	put(to, &sum);
}

bool
web_tag_is_in(const char *tag, const char *none_match)
{
	return none_match != NULL && tag[0] != '\0' &&
	       strstr(none_match, tag) != NULL;
}

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
