/*
 * interval_sort - random intervals come out sorted, whole, and few at a time.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/interval_sort.h"

#include <inttypes.h>

#include "tests/unit/check.h"

enum { ITEMS = 3000, BAG_BYTES = 16 << 10 };

struct one {
	int64_t begin, end;
	uint32_t row;
	bool seen;
};

static struct one ones[ITEMS];

static void
make(uint64_t *seed, uint64_t range)
{
	for (uint32_t i = 0; i < ITEMS; i++) {
		ones[i].begin = (int64_t)(check_random(seed) % range) - 1000;
		ones[i].end =
		    ones[i].begin + (int64_t)(check_random(seed) % range);
		ones[i].row = i;
		ones[i].seen = false;
	}
}

static void
fill(struct interval_sort *interval_sort, int64_t after)
{
	for (uint32_t i = 0; i < ITEMS; i++) {
		char name[32], pairs[32];
		struct interval_sort_item item = { .row = i,
			.flags = i % 7,
			.begin_ns = ones[i].begin,
			.end_ns = ones[i].end };

		if (ones[i].begin < after)
			continue;
		snprintf(name, sizeof(name), "name %u", i);
		snprintf(pairs, sizeof(pairs), "pairs %u", i);
		item.name = text_of(name);
		item.category = text_of(i % 2 ? "" : "category");
		item.pairs = text_of(pairs);
		item.notes = text_of(i % 3 ? "" : "+");
		interval_sort_add(interval_sort, &item);
	}
}

static void
assert_is(const struct interval_sort_item *item, struct one *one)
{
	char wanted[64], got[64];

	assert_false(one->seen);
	one->seen = true;
	assert_true(item->begin_ns == one->begin && item->end_ns == one->end);
	assert_int_equal(item->flags, one->row % 7);
	snprintf(wanted, sizeof(wanted), "name %u|%s|pairs %u%s", one->row,
	    one->row % 2 ? "" : "category", one->row, one->row % 3 ? "" : "+");
	snprintf(got, sizeof(got), "%.*s|%.*s|%.*s", (int)item->name.bytes,
	    item->name.at, (int)item->category.bytes, item->category.at,
	    (int)item->pairs.bytes, item->pairs.at);
	assert_string_equal(got, wanted);
}

/* Read again from where it was full until all are there; returns how often. */
static int
read_all(uint64_t *seed, uint64_t range, size_t bytes)
{
	int64_t after = INT64_MIN, last_begin = INT64_MIN, last_end = 0;
	struct interval_sort interval_sort;
	int passes = 0;
	bool more = true;

	make(seed, range);
	interval_sort_init(&interval_sort, bytes);
	while (more) {
		struct interval_sort_item item;

		fill(&interval_sort, after);
		more = interval_sort_was_full(&interval_sort);
		after = interval_sort.limit_ns;
		interval_sort_sort(&interval_sort);
		assert_true(interval_sort.count > 0);
		for (uint32_t i = 0; i < interval_sort.count; i++) {
			interval_sort_get(&interval_sort, i, &item);
			assert_is(&item, &ones[item.row]);
			assert_true(item.begin_ns > last_begin ||
				    (item.begin_ns == last_begin &&
					item.end_ns <= last_end));
			last_begin = item.begin_ns;
			last_end = item.end_ns;
		}
		interval_sort_empty(&interval_sort);
		passes++;
	}
	assert_int_equal(interval_sort.crowded, 0);
	interval_sort_clear(&interval_sort);
	for (uint32_t i = 0; i < ITEMS; i++)
		assert_true(ones[i].seen);
	return passes;
}

static void
with_room_for_all_one_pass_will_do(void **state)
{
	uint64_t seed = check_seed();

	assert_int_equal(read_all(&seed, 100000, 16 << 20), 1);
}

static void
with_room_for_few_every_one_comes_once_in_order(void **state)
{
	uint64_t seed = check_seed();

	for (int round = 0; round < 20; round++)
		assert_true(read_all(&seed, 100000, BAG_BYTES) > 10);
}

static void
equal_begins_stay_together(void **state)
{
	uint64_t seed = check_seed();

	for (int round = 0; round < 20; round++)
		assert_true(read_all(&seed, 100, BAG_BYTES) > 10);
}

static void
more_of_one_begin_than_there_is_room_for_are_counted(void **state)
{
	struct interval_sort_item item = { .begin_ns = 5,
		.name = text_of("n") };
	struct interval_sort interval_sort;

	interval_sort_init(&interval_sort, BAG_BYTES);
	for (int i = 0; i < ITEMS; i++) {
		item.end_ns = 5 + i;
		interval_sort_add(&interval_sort, &item);
	}
	assert_true(interval_sort.count > 0 && interval_sort.crowded > 0);
	assert_int_equal(interval_sort.count + interval_sort.crowded, ITEMS);
	assert_false(interval_sort_was_full(&interval_sort));
	/* What begins earlier is not kept out by them for ever. */
	interval_sort_empty(&interval_sort);
	item.begin_ns = 4;
	interval_sort_add(&interval_sort, &item);
	assert_int_equal(interval_sort.count, 1);
	interval_sort_clear(&interval_sort);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_room_for_all_one_pass_will_do),
		cmocka_unit_test(
		    with_room_for_few_every_one_comes_once_in_order),
		cmocka_unit_test(equal_begins_stay_together),
		cmocka_unit_test(
		    more_of_one_begin_than_there_is_room_for_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
