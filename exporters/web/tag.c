/*
 * web_tag - an ETag: equal for equal answers.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/tag.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

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
