/*
 * distinct - texts in byte order, however many there are, in bounded memory.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/results/distinct.h"

#include <assert.h>
#include <stdlib.h>

static void *
must(void *at)
{
	if (at == NULL)
		abort(); /* out of memory */
	return at;
}

void
sieve_init(struct sieve *sieve, uint32_t room, size_t bytes_max)
{
	assert(room >= 2);
	*sieve = (struct sieve){ .room = room, .bytes_max = bytes_max };
	sieve->keys = must(calloc(room, sizeof(*sieve->keys)));
	sieve->bytes = must(malloc(bytes_max));
}

void
sieve_clear(struct sieve *sieve)
{
	free(sieve->keys);
	free(sieve->bytes);
	free(sieve->last);
	free(sieve->limit);
	*sieve = (struct sieve){ .keys = NULL };
}

static int
by_bytes(const void *left, const void *right)
{
	const struct text *a = left, *b = right;

	return text_compare(*a, *b);
}

static void
sort(struct sieve *sieve)
{
	uint32_t kept = 0;

	if (sieve->count > 0)
		qsort(
		    sieve->keys, sieve->count, sizeof(*sieve->keys), by_bytes);
	for (uint32_t i = 0; i < sieve->count; i++)
		if (kept == 0 ||
		    !text_equal(sieve->keys[kept - 1], sieve->keys[i]))
			sieve->keys[kept++] = sieve->keys[i];
	sieve->count = kept;
}

static void
copy(char **to, uint32_t *bytes, struct text key)
{
	*to = must(realloc(*to, key.bytes + 1));
	memcpy(*to, key.at, key.bytes);
	*bytes = key.bytes;
}

/* The smaller half stays, and its bytes move together. */
static void
cut(struct sieve *sieve)
{
	char *bytes = must(malloc(sieve->bytes_max));
	uint32_t half;

	sort(sieve);
	half = (sieve->count + 1) / 2;
	if (half < sieve->count) {
		copy(&sieve->limit, &sieve->limit_bytes, sieve->keys[half]);
		sieve->has_limit = true;
	}
	sieve->count = half;
	sieve->used = 0;
	for (uint32_t i = 0; i < half; i++) {
		struct text *key = &sieve->keys[i];

		memcpy(bytes + sieve->used, key->at, key->bytes);
		key->at = bytes + sieve->used;
		sieve->used += key->bytes;
	}
	free(sieve->bytes);
	sieve->bytes = bytes;
}

void
sieve_begin(struct sieve *sieve)
{
	if (sieve->count > 0) {
		copy(&sieve->last, &sieve->last_bytes,
		    sieve->keys[sieve->count - 1]);
		sieve->has_last = true;
	}
	sieve->count = 0;
	sieve->used = 0;
	sieve->has_limit = false;
}

static bool
is_wanted(const struct sieve *sieve, struct text key)
{
	struct text last = { sieve->last, sieve->last_bytes };
	struct text limit = { sieve->limit, sieve->limit_bytes };

	return (!sieve->has_last || text_compare(key, last) > 0) &&
	       (!sieve->has_limit || text_compare(key, limit) < 0);
}

void
sieve_add(struct sieve *sieve, struct text key)
{
	assert(key.bytes <= sieve->bytes_max / 2);
	while (is_wanted(sieve, key)) {
		if (sieve->count < sieve->room &&
		    sieve->used + key.bytes <= sieve->bytes_max) {
			char *at = sieve->bytes + sieve->used;

			memcpy(at, key.at, key.bytes);
			sieve->keys[sieve->count++] =
			    (struct text){ at, key.bytes };
			sieve->used += key.bytes;
			return;
		}
		cut(sieve);
	}
}

bool
sieve_sort(struct sieve *sieve)
{
	sort(sieve);
	return sieve->has_limit;
}
