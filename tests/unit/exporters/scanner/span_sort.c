/*
 * span_sort - whatever order spans come in, they go in that of (seq, index),
 * in memory and on disk.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/scanner/span_sort.h"

#include "tests/unit/check.h"

static struct err err;

/* Item `i` of those in order. */
static struct span_item
item_of(uint32_t i)
{
	return (struct span_item){ .seq = 1 + i / 100,
		.index = 3 * (i % 100),
		.name = i % 7,
		.begin_ns = (int64_t)i * 1000,
		.end_ns = -(int64_t)i };
}

static void
assert_sorted(struct span_sort *order, uint32_t count)
{
	struct span_item got;

	assert_int_equal(span_sort_end(order, &err), 0);
	for (uint32_t i = 0; i < count; i++) {
		struct span_item wanted = item_of(i);

		assert_int_equal(span_sort_next(order, &got, &err), 1);
		assert_memory_equal(&got, &wanted, sizeof(got));
	}
	assert_int_equal(span_sort_next(order, &got, &err), 0);
}

/* A permutation: each a bit off its place, or anywhere. */
static void
shuffle(uint32_t *at, uint32_t count, uint32_t reach, uint64_t *seed)
{
	for (uint32_t i = 0; i < count; i++)
		at[i] = i;
	for (uint32_t i = 0; i < count && reach > 0; i++) {
		uint32_t most = count - i < reach ? count - i : reach;
		uint32_t j = i + (uint32_t)(check_random(seed) % most);
		uint32_t other = at[i];

		at[i] = at[j];
		at[j] = other;
	}
}

static void
any_number_in_any_order_comes_out_in_order(void **state)
{
	static const uint32_t counts[] = { 0, 1, 2, 15, 16, 17, 31, 33, 48, 64,
		100, 1000, 4095, 4097 };
	static const uint32_t rooms[] = { 2, 16, 100, 1000, 5000 };
	static uint32_t at[5000];
	uint64_t seed = check_seed();

	for (size_t r = 0; r < sizeof(rooms) / sizeof(*rooms); r++) {
		struct span_sort *order = span_sort_new(rooms[r]);

		for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++)
			for (uint32_t reach = 0; reach <= 6000;
			     reach = 10 * reach + 5) {
				if (counts[c] / rooms[r] >= SPAN_SORT_PIECES)
					continue;
				shuffle(at, counts[c], reach, &seed);
				for (uint32_t i = 0; i < counts[c]; i++) {
					struct span_item item = item_of(at[i]);

					assert_int_equal(
					    span_sort_add(order, &item, &err),
					    0);
				}
				assert_sorted(order, counts[c]);
			}
		span_sort_free(&order);
	}
}

static void
spans_that_come_backwards_are_turned(void **state)
{
	struct span_sort *order = span_sort_new(1000);

	for (uint32_t i = 10000; i-- > 0;) {
		struct span_item item = item_of(i);

		assert_int_equal(span_sort_add(order, &item, &err), 0);
	}
	assert_sorted(order, 10000);
	span_sort_free(&order);
}

static void
what_is_left_of_one_track_is_not_in_the_next(void **state)
{
	struct span_sort *order = span_sort_new(10);
	struct span_item item;

	for (uint32_t track = 0; track < 3; track++) {
		for (uint32_t i = 0; i < 35; i++) {
			item = item_of(i);
			assert_int_equal(span_sort_add(order, &item, &err), 0);
		}
		assert_sorted(order, 35);
	}
	span_sort_free(&order);
}

static void
too_many_are_an_error(void **state)
{
	struct span_sort *order = span_sort_new(1);
	struct span_item item = item_of(0);
	int rc = 0;

	for (uint32_t i = 0; i < SPAN_SORT_PIECES + 2 && rc == 0; i++)
		rc = span_sort_add(order, &item, &err);
	assert_int_equal(rc, -1);
	assert_string_equal(err.text, "a thread has more than 1024 intervals");
	span_sort_free(&order);
}

static void
a_temporary_file_that_cannot_be_made_is_an_error(void **state)
{
	struct span_sort *order = span_sort_new(1);
	struct span_item item = item_of(0);

	setenv("TMPDIR", "/nowhere/at/all", 1);
	assert_int_equal(span_sort_add(order, &item, &err), 0);
	assert_int_equal(span_sort_add(order, &item, &err), -1);
	assert_non_null(strstr(err.text, "/nowhere/at/all"));
	unsetenv("TMPDIR");
	span_sort_free(&order);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_number_in_any_order_comes_out_in_order),
		cmocka_unit_test(spans_that_come_backwards_are_turned),
		cmocka_unit_test(what_is_left_of_one_track_is_not_in_the_next),
		cmocka_unit_test(too_many_are_an_error),
		cmocka_unit_test(
		    a_temporary_file_that_cannot_be_made_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
