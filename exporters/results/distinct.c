/*
 * distinct - any number of texts in byte order, in bounded memory.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/results/distinct.h"

#include <assert.h>
#include <stdlib.h>

#include "proto/base/memory.h"

void
distinct_init(struct distinct *distinct, uint32_t room, size_t bytes_max)
{
	assert(room >= 2);
	*distinct = (struct distinct){ .room = room, .bytes_max = bytes_max };
	distinct->keys = memory_zero(room, sizeof(*distinct->keys));
	distinct->bytes = memory_alloc(bytes_max);
}

void
distinct_clear(struct distinct *distinct)
{
	free(distinct->keys);
	free(distinct->bytes);
	free(distinct->last);
	free(distinct->limit);
	*distinct = (struct distinct){ .keys = NULL };
}

static int
by_bytes(const void *left, const void *right)
{
	const struct text *a = left, *b = right;

	return text_compare(*a, *b);
}

static void
sort(struct distinct *distinct)
{
	uint32_t kept = 0;

	if (distinct->count > 0)
		qsort(distinct->keys, distinct->count, sizeof(*distinct->keys),
		    by_bytes);
	for (uint32_t i = 0; i < distinct->count; i++)
		if (kept == 0 ||
		    !text_equal(distinct->keys[kept - 1], distinct->keys[i]))
			distinct->keys[kept++] = distinct->keys[i];
	distinct->count = kept;
}

static void
copy(char **to, uint32_t *bytes, struct text key)
{
	*to = memory_resize(*to, key.bytes + 1);
	memcpy(*to, key.at, key.bytes);
	*bytes = key.bytes;
}

/* Drop the greater half and compact the bytes of the smaller half. */
static void
cut(struct distinct *distinct)
{
	char *bytes = memory_alloc(distinct->bytes_max);
	uint32_t half;

	sort(distinct);
	half = (distinct->count + 1) / 2;
	if (half < distinct->count) {
		copy(&distinct->limit, &distinct->limit_bytes,
		    distinct->keys[half]);
		distinct->has_limit = true;
	}
	distinct->count = half;
	distinct->used = 0;
	for (uint32_t i = 0; i < half; i++) {
		struct text *key = &distinct->keys[i];

		memcpy(bytes + distinct->used, key->at, key->bytes);
		key->at = bytes + distinct->used;
		distinct->used += key->bytes;
	}
	free(distinct->bytes);
	distinct->bytes = bytes;
}

void
distinct_begin(struct distinct *distinct)
{
	if (distinct->count > 0) {
		copy(&distinct->last, &distinct->last_bytes,
		    distinct->keys[distinct->count - 1]);
		distinct->has_last = true;
	}
	distinct->count = 0;
	distinct->used = 0;
	distinct->has_limit = false;
}

static bool
is_wanted(const struct distinct *distinct, struct text key)
{
	struct text last = { distinct->last, distinct->last_bytes };
	struct text limit = { distinct->limit, distinct->limit_bytes };

	return (!distinct->has_last || text_compare(key, last) > 0) &&
	       (!distinct->has_limit || text_compare(key, limit) < 0);
}

void
distinct_add(struct distinct *distinct, struct text key)
{
	assert(key.bytes <= distinct->bytes_max / 2);
	while (is_wanted(distinct, key)) {
		if (distinct->count < distinct->room &&
		    distinct->used + key.bytes <= distinct->bytes_max) {
			char *at = distinct->bytes + distinct->used;

			memcpy(at, key.at, key.bytes);
			distinct->keys[distinct->count++] =
			    (struct text){ at, key.bytes };
			distinct->used += key.bytes;
			return;
		}
		cut(distinct);
	}
}

bool
distinct_sort(struct distinct *distinct)
{
	sort(distinct);
	return distinct->has_limit;
}
