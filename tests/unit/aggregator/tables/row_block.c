/*
 * row_block - tests of aggregator/tables/row_block.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "aggregator/tables/row_block.h"

enum { ITEMS = 400 };

static struct row_block_item items[ITEMS];
static char bodies[ITEMS][64];

static void
make_items(uint64_t *random)
{
	int64_t now = (int64_t)check_random(random) >> 2;
	int i;

	for (i = 0; i < ITEMS; i++) {
		uint32_t bytes = (uint32_t)(check_random(random) % 64);

		now += (int64_t)(check_random(random) % 5) *
		       (int64_t)(check_random(random) % 1000000000);
		memset(bodies[i], i, sizeof(bodies[i]));
		items[i] = (struct row_block_item){ .time_ns = now,
			.receive_ns = (int64_t)check_random(random),
			.seq = (uint64_t)i,
			.stream = 1,
			.index = (uint32_t)check_random(random),
			.body = { bodies[i], bytes } };
	}
}

static void
rows_hold_what_was_put_into_them(void **state)
{
	uint64_t random = check_seed();
	struct row_block_builder row = { .records = 0 };
	int done = 0, round, first;

	for (round = 0; round < 50; round++) {
		make_items(&random);
		for (done = 0; done < ITEMS;) {
			struct row_block_item item;
			struct row_block_reader rows;
			struct text value;

			row_block_begin(&row);
			for (first = done;
			     done < ITEMS && row_block_add(&row, &items[done]);)
				done++;
			value = row_block_finish(&row);
			assert_true(value.bytes <= ROW_BLOCK_BYTES + 20);
			assert_int_equal(row_block_count(value), done - first);
			assert_true(
			    row_block_open(&rows, value, items[first].time_ns));
			assert_true(rows.last_ns == items[done - 1].time_ns);
			for (; row_block_next(&rows, &item); first++) {
				assert_int_equal(
				    row_block_compare(&item, &items[first]), 0);
				assert_true(
				    item.receive_ns == items[first].receive_ns);
				assert_true(
				    text_equal(item.body, items[first].body));
			}
			assert_int_equal(first, done);
			assert_false(rows.bytes.bad);
		}
	}
	buffer_clear(&row.bytes);
}

static void
a_large_record_has_a_row_of_its_own(void **state)
{
	static char large[100000];
	struct row_block_builder row = { .records = 0 };
	struct row_block_item item = { .body = { large, sizeof(large) } };
	struct row_block_item small = { .seq = 1 };
	struct text value;

	row_block_begin(&row);
	assert_true(row_block_add(&row, &item));
	assert_false(row_block_add(&row, &small));
	value = row_block_finish(&row);
	assert_int_equal(row_block_count(value), 1);
	assert_true(value.bytes > sizeof(large));
	buffer_clear(&row.bytes);
}

static void
a_truncated_row_is_detected(void **state)
{
	uint64_t random = check_seed();
	struct row_block_builder row = { .records = 0 };
	struct row_block_reader rows;
	struct row_block_item item;
	struct text value;
	uint32_t cut;
	int i;

	make_items(&random);
	row_block_begin(&row);
	for (i = 0; i < 10; i++)
		assert_true(row_block_add(&row, &items[i]));
	value = row_block_finish(&row);
	for (cut = 0; cut < value.bytes; cut++) {
		struct text part = { value.at, cut };

		if (!row_block_open(&rows, part, items[0].time_ns))
			continue;
		while (row_block_next(&rows, &item))
			;
		assert_true(rows.bytes.bad);
	}
	buffer_clear(&row.bytes);
}

static void
records_are_in_the_order_of_time_stream_seq_index(void **state)
{
	static const struct row_block_item order[] = {
		{ .time_ns = INT64_MIN, .stream = 9, .seq = 9, .index = 9 },
		{ .time_ns = -1, .stream = 9, .seq = 9, .index = 9 },
		{ .time_ns = 0, .stream = 1, .seq = 9, .index = 9 },
		{ .time_ns = 0, .stream = 2, .seq = 1, .index = 9 },
		{ .time_ns = 0, .stream = 2, .seq = 2, .index = 0 },
		{ .time_ns = 0, .stream = 2, .seq = 2, .index = 1 },
	};
	enum { COUNT = sizeof(order) / sizeof(order[0]) };
	int i, j;

	for (i = 0; i < COUNT; i++) {
		for (j = 0; j < COUNT; j++)
			assert_int_equal(
			    row_block_compare(&order[i], &order[j]),
			    (i > j) - (i < j));
	}
}

/* ---- attributes: any bytes ---- */

static void
attributes_are_read_within_their_bounds(void **state)
{
	/* count 2; key 5: fixstr "ab"; without a number, key "k": float64 */
	static const char good[] = "\x02\x05\xa2"
				   "ab\x00\x01k\xcb\x3f\xf8\0\0\0\0\0";
	struct row_block_attribute attribute;
	uint32_t cut, found;

	for (cut = 0; cut < sizeof(good); cut++) {
		struct text rest = { good, cut };

		row_block_attribute_count(&rest);
		for (found = 0; row_block_next_attribute(&rest, &attribute);)
			found++;
		assert_int_equal(found, cut < 5              ? 0
					: cut < sizeof(good) ? 1
							     : 2);
	}
	{
		struct text rest = { good, sizeof(good) };

		assert_int_equal(row_block_attribute_count(&rest), 2);
		assert_true(row_block_next_attribute(&rest, &attribute));
		assert_int_equal(attribute.key.number, 5);
		assert_true(text_equal(attribute.value, (struct text){ "\xa2"
								       "ab",
							    3 }));
		assert_true(row_block_next_attribute(&rest, &attribute));
		assert_int_equal(attribute.key.number, 0);
		assert_true(text_equal(attribute.key.text, text_of("k")));
		assert_false(row_block_next_attribute(&rest, &attribute));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_hold_what_was_put_into_them),
		cmocka_unit_test(a_large_record_has_a_row_of_its_own),
		cmocka_unit_test(a_truncated_row_is_detected),
		cmocka_unit_test(
		    records_are_in_the_order_of_time_stream_seq_index),
		cmocka_unit_test(attributes_are_read_within_their_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
