/*
 * web_cache - answers that are kept, and those that have to go.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/workers.h"

#include <stdio.h>

#include "proto/base/memory.h"
#include "tests/unit/check.h"

enum { BYTES = 500 }; /* below what is compressed */

static struct web_body *
make(char fill)
{
	char *at = memory_alloc(BYTES);

	memset(at, fill, BYTES);
	return web_body_new(at, BYTES);
}

static void
put(struct web_cache *cache, const char *tag, char fill)
{
	struct web_body *body = make(fill);

	web_cache_put(cache, tag, body);
	web_body_drop(&body);
}

/* The fill of what is kept; 0: nothing. */
static char
get(struct web_cache *cache, const char *tag)
{
	struct web_body *body = web_cache_get(cache, tag);
	char fill = body == NULL ? '\0' : (char)body->at[BYTES - 1];

	web_body_drop(&body);
	return fill;
}

static void
what_was_not_asked_for_longest_goes(void **state)
{
	struct web_body *one = make('x');
	/* Room for four. */
	struct web_cache *cache = web_cache_new(4 * web_body_memory(one) + 10);

	web_body_drop(&one);
	put(cache, "a", 'a');
	put(cache, "b", 'b');
	put(cache, "c", 'c');
	put(cache, "d", 'd');
	assert_int_equal(get(cache, "a"), 'a');
	put(cache, "e", 'e');
	assert_int_equal(get(cache, "b"), 0);
	assert_int_equal(get(cache, "a"), 'a');
	assert_int_equal(get(cache, "e"), 'e');
	/* The first one of a tag stays. */
	put(cache, "a", 'z');
	assert_int_equal(get(cache, "a"), 'a');
	web_cache_free(&cache);
}

static void
what_is_large_or_not_wanted_is_not_kept(void **state)
{
	struct web_body *one = make('x');
	struct web_cache *cache = web_cache_new(4 * web_body_memory(one) - 4);
	struct web_cache *none = web_cache_new(0);

	web_body_drop(&one);
	put(cache, "a", 'a');
	assert_int_equal(get(cache, "a"), 0);
	put(none, "a", 'a');
	assert_int_equal(get(none, "a"), 0);
	web_cache_free(&cache);
	web_cache_free(&none);
}

static void
there_is_a_bound_of_entries(void **state)
{
	struct web_cache *cache = web_cache_new(1 << 30);
	char tag[16];

	for (int i = 0; i <= WEB_CACHE_ENTRIES_MAX; i++) {
		snprintf(tag, sizeof(tag), "%d", i);
		put(cache, tag, 'a');
	}
	assert_int_equal(get(cache, "0"), 0);
	assert_int_equal(get(cache, "1"), 'a');
	assert_int_equal(get(cache, tag), 'a');
	web_cache_free(&cache);
}

static void
a_body_outlives_the_cache(void **state)
{
	struct web_cache *cache = web_cache_new(1 << 20);
	struct web_body *body;

	put(cache, "a", 'a');
	body = web_cache_get(cache, "a");
	web_cache_free(&cache);
	assert_int_equal(body->at[0], 'a');
	web_body_drop(&body);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_not_asked_for_longest_goes),
		cmocka_unit_test(what_is_large_or_not_wanted_is_not_kept),
		cmocka_unit_test(there_is_a_bound_of_entries),
		cmocka_unit_test(a_body_outlives_the_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
