/*
 * distinct - whatever fits, the passes together give everything once, in order.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/results/read.h"

#include "tests/unit/check.h"

enum { KEYS = 500, KEY_BYTES = 12 };

static char keys[KEYS][KEY_BYTES];
static uint32_t lengths[KEYS];

static int
by_bytes(const void *left, const void *right)
{
	const struct text *a = left, *b = right;
	uint32_t least = a->bytes < b->bytes ? a->bytes : b->bytes;
	int order = memcmp(a->at, b->at, least);

	return order != 0 ? order : (int)a->bytes - (int)b->bytes;
}

static void
give_keys(struct distinct *distinct, uint32_t count, uint64_t *random)
{
	uint32_t first =
	    count > 0 ? (uint32_t)(check_random(random) % count) : 0;

	/* The order of a pass need not be that of another. */
	for (uint32_t i = 0; i < count; i++) {
		uint32_t k = (first + i) % count;

		distinct_add(distinct, (struct text){ keys[k], lengths[k] });
	}
}

static void
try_one(uint64_t *random)
{
	uint32_t count = (uint32_t)(check_random(random) % (KEYS + 1));
	uint32_t letters = 1 + (uint32_t)(check_random(random) % 5);
	struct text wanted[KEYS];
	uint32_t given = 0, different = 0;
	struct distinct distinct;
	bool more = true;

	for (uint32_t i = 0; i < count; i++) {
		lengths[i] = (uint32_t)(check_random(random) % KEY_BYTES);
		for (uint32_t k = 0; k < lengths[i]; k++)
			keys[i][k] = (char)(check_random(random) % letters);
		wanted[i] = (struct text){ keys[i], lengths[i] };
	}
	qsort(wanted, count, sizeof(*wanted), by_bytes);
	for (uint32_t i = 0; i < count; i++)
		if (different == 0 ||
		    by_bytes(&wanted[different - 1], &wanted[i]) != 0)
			wanted[different++] = wanted[i];
	distinct_init(&distinct, 2 + (uint32_t)(check_random(random) % 100),
	    2 * KEY_BYTES + check_random(random) % 500);
	while (more) {
		distinct_begin(&distinct);
		give_keys(&distinct, count, random);
		more = distinct_sort(&distinct);
		assert_true(!more || distinct.count > 0);
		for (uint32_t i = 0; i < distinct.count; i++, given++) {
			assert_true(given < different);
			assert_int_equal(
			    by_bytes(&wanted[given], &distinct.keys[i]), 0);
		}
	}
	assert_int_equal(given, different);
	distinct_clear(&distinct);
}

static void
passes_give_every_key_once_in_order(void **state)
{
	uint64_t random = check_seed();
	unsigned rounds = check_share(2000, 100);

	for (unsigned i = 0; i < rounds; i++)
		try_one(&random);
}

static void
what_fits_needs_one_pass(void **state)
{
	struct distinct distinct;

	distinct_init(&distinct, 4, 100);
	distinct_begin(&distinct);
	distinct_add(&distinct, text_of("b"));
	distinct_add(&distinct, text_of("a"));
	distinct_add(&distinct, text_of("b"));
	distinct_add(&distinct, text_of(""));
	assert_false(distinct_sort(&distinct));
	assert_int_equal(distinct.count, 3);
	assert_int_equal(distinct.keys[0].bytes, 0);
	assert_true(text_equal(distinct.keys[2], text_of("b")));
	distinct_clear(&distinct);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes_give_every_key_once_in_order),
		cmocka_unit_test(what_fits_needs_one_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
