/*
 * dictionary_cache - tests of aggregator/tables/dictionary_cache.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "aggregator/tables/dictionary_cache.h"

static struct dictionary_cache cache;

static int
set_up(void **state)
{
	dictionary_cache_init(&cache);
	return 0;
}

static int
tear_down(void **state)
{
	dictionary_cache_clear(&cache);
	return 0;
}

static void
a_slot_keeps_its_number_in_its_partition(void **state)
{
	struct dictionary_slot *slot;

	slot = dictionary_cache_slot(&cache, 1, text_of("node"));
	assert_int_equal(slot->number, 0);
	slot->number = 7;
	slot->is_node = 1;
	assert_int_equal(
	    dictionary_cache_slot(&cache, 2, text_of("node"))->number, 0);
	assert_int_equal(
	    dictionary_cache_slot(&cache, 1, text_of("nodes"))->number, 0);
	slot = dictionary_cache_slot(&cache, 1, text_of("node"));
	assert_int_equal(slot->number, 7);
	assert_int_equal(slot->is_node, 1);
	dictionary_cache_forget(&cache);
	slot = dictionary_cache_slot(&cache, 1, text_of("node"));
	assert_int_equal(slot->number, 0);
	assert_int_equal(slot->is_node, 0);
}

/* Against a random model: the number of a text is the one stored last. */
static void
the_cache_may_miss_but_is_never_wrong(void **state)
{
	enum { TEXTS = 100000 };
	uint32_t *put = calloc(TEXTS, sizeof(*put));
	uint64_t random = check_seed();
	unsigned known = 0;

	assert_non_null(put);
	for (uint32_t i = 1; i <= 4 * TEXTS; i++) {
		uint32_t n = (uint32_t)(check_random(&random) % TEXTS);
		struct dictionary_slot *slot;
		char text[32];

		snprintf(text, sizeof(text), "name-%u", n);
		slot = dictionary_cache_slot(&cache, 1 + n % 3, text_of(text));
		if (slot->number != 0) {
			assert_int_equal(slot->number, put[n]);
			known++;
		}
		slot->number = put[n] = i;
	}
	assert_true(known > TEXTS);
	free(put);
}

static void
a_text_used_again_stays_longer_than_others(void **state)
{
	char text[32];

	dictionary_cache_slot(&cache, 1, text_of("often"))->number = 1;
	for (uint32_t i = 0; i < 1000000; i++) {
		snprintf(text, sizeof(text), "once-%u", i);
		dictionary_cache_slot(&cache, 1, text_of(text))->number = 2 + i;
		assert_int_equal(
		    dictionary_cache_slot(&cache, 1, text_of("often"))->number,
		    1);
	}
}

static void
short_texts_are_memorized_and_others_are_not(void **state)
{
	const char *longest = "123456789012345678901234";
	const char *longer = "1234567890123456789012345";

	dictionary_cache_store_short(&cache, 1, text_of(longest), 3);
	dictionary_cache_store_short(&cache, 1, text_of(longer), 4);
	dictionary_cache_store_short(&cache, 1, text_of(""), 5);
	assert_int_equal(
	    dictionary_cache_find_short(&cache, 1, text_of(longest)), 3);
	assert_int_equal(
	    dictionary_cache_find_short(&cache, 1, text_of(longer)), 0);
	assert_int_equal(
	    dictionary_cache_find_short(&cache, 1, text_of("")), 0);
	assert_int_equal(
	    dictionary_cache_find_short(&cache, 2, text_of(longest)), 0);
	/* Texts with the same slot: equal first, middle and last byte, and
	 * equal length. */
	assert_int_equal(dictionary_cache_find_short(
			     &cache, 1, text_of("1x34567890123456789012x4")),
	    0);
	dictionary_cache_store_short(
	    &cache, 1, text_of("1x34567890123456789012x4"), 6);
	assert_int_equal(
	    dictionary_cache_find_short(&cache, 1, text_of(longest)), 0);
	dictionary_cache_forget(&cache);
	assert_int_equal(dictionary_cache_find_short(
			     &cache, 1, text_of("1x34567890123456789012x4")),
	    0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_slot_keeps_its_number_in_its_partition),
		CASE(the_cache_may_miss_but_is_never_wrong),
		CASE(a_text_used_again_stays_longer_than_others),
		CASE(short_texts_are_memorized_and_others_are_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
