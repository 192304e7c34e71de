/*
 * size_limit - what is kept fits, and as much as does.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/trace_writer.h"

#include "tests/unit/check.h"

enum { RECORDS = 500, RANKS = 20, FIXED = 100 };

static struct {
	int64_t time;
	uint32_t rank;
	uint64_t bytes;
} records[RECORDS];

static struct text
name(uint32_t rank)
{
	static const char letters[] = "abcdefghijklmnopqrst";

	return (struct text){ letters + rank, 1 };
}

static uint64_t
fill(struct size_limit *limit, int64_t from, int64_t to, uint64_t *seed)
{
	uint64_t total = FIXED;

	size_limit_init(limit, from, to);
	for (int i = 0; i < RECORDS; i++) {
		records[i].time = from + (int64_t)(check_random(seed) %
						   (uint64_t)(to - from));
		records[i].rank = (uint32_t)(check_random(seed) % RANKS);
		records[i].bytes = check_random(seed) % 50;
		total += records[i].bytes;
		size_limit_add(limit, records[i].time, name(records[i].rank),
		    records[i].bytes);
	}
	return total;
}

static uint64_t
bytes_before(int64_t time)
{
	uint64_t bytes = FIXED;

	for (int i = 0; i < RECORDS; i++)
		if (records[i].time < time)
			bytes += records[i].bytes;
	return bytes;
}

static uint64_t
bytes_of_node(uint32_t rank)
{
	uint64_t bytes = 0;

	for (int i = 0; i < RECORDS; i++)
		if (records[i].rank == rank)
			bytes += records[i].bytes;
	return bytes;
}

static void
the_time_that_fits_is_the_longest_of_whole_stretches(void **state)
{
	uint64_t seed = check_seed();
	struct size_limit limit;

	for (int round = 0; round < 500; round++) {
		int64_t from = check_int64(&seed) / 4;
		int64_t width = 1 + (int64_t)(check_random(&seed) >>
					      (10 + check_random(&seed) % 50));
		uint64_t total = fill(&limit, from, from + width + 1, &seed);
		uint64_t max = check_random(&seed) % total;
		int64_t stretch = width / SIZE_LIMIT_SECTIONS + 1;
		int64_t end = size_limit_time(&limit, total, max);

		assert_true(end > from && end < from + width + 1);
		/* Either it fits, or it is the first stretch. */
		assert_true(bytes_before(end) <= max || end <= from + stretch);
		/* A stretch more would not, or would be all of it. */
		assert_true(end + stretch >= from + width + 1 ||
			    bytes_before(end + stretch) > max);
		size_limit_clear(&limit);
	}
}

/* In the given order each node is taken that still fits; a node that is not
 * taken did not fit, and one without records is not in the trace. */
static void
each_node_that_still_fits_is_taken(void **state)
{
	uint64_t seed = check_seed();
	struct size_limit limit;
	struct string_table order, fit;

	string_table_init(&order);
	(void)string_table_add(&order, text_of("nobody"));
	for (uint32_t i = RANKS; i-- > 0;)
		(void)string_table_add(&order, name(i));
	for (int round = 0; round < 500; round++) {
		uint64_t total = fill(&limit, 0, 1000, &seed), bytes = FIXED;
		uint64_t max = check_random(&seed) % (total + 10);
		uint32_t taken = 0, number;

		string_table_init(&fit);
		size_limit_nodes(&limit, &order, total, max, &fit);
		for (uint32_t i = RANKS; i-- > 0;)
			if (string_table_find(&fit, name(i), &number)) {
				assert_int_equal(number, taken);
				taken++;
				bytes += bytes_of_node(i);
			} else {
				assert_true(bytes + bytes_of_node(i) > max);
			}
		assert_int_equal(taken, fit.count);
		assert_true(taken == 0 || bytes <= max);
		string_table_clear(&fit);
		size_limit_clear(&limit);
	}
	string_table_clear(&order);
}

/* Names belong to their node, and not to a time. */
static void
names_belong_to_their_node(void **state)
{
	struct string_table order, fit;
	struct size_limit limit;

	string_table_init(&order);
	string_table_init(&fit);
	(void)string_table_add(&order, text_of("a"));
	(void)string_table_add(&order, text_of("b"));
	size_limit_init(&limit, 0, SIZE_LIMIT_SECTIONS);
	size_limit_add(&limit, 10, text_of("a"), 10);
	size_limit_add_name(&limit, text_of("a"), 100);
	size_limit_add(&limit, 20, text_of("b"), 20);
	/* 130 of the nodes and 5 of every trace: of 30 "b" has 25. */
	size_limit_nodes(&limit, &order, 135, 30, &fit);
	assert_int_equal(fit.count, 1);
	assert_true(text_equal(fit.names[0], text_of("b")));
	/* 105 are there at any time; 115 until the second section begins. */
	assert_int_equal(size_limit_time(&limit, 135, 115), 20);
	assert_int_equal(size_limit_time(&limit, 135, 114), 10);
	size_limit_clear(&limit);
	string_table_clear(&fit);
	string_table_clear(&order);
}

static void
what_lies_outside_is_counted_at_the_ends(void **state)
{
	struct size_limit limit;

	size_limit_init(&limit, 1000, 2000);
	size_limit_add(&limit, INT64_MIN, text_of("a"), 10);
	size_limit_add(&limit, INT64_MAX, text_of("b"), 20);
	assert_int_equal(limit.bytes[0], 10);
	assert_int_equal(limit.bytes[SIZE_LIMIT_SECTIONS - 1], 20);
	size_limit_clear(&limit);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    the_time_that_fits_is_the_longest_of_whole_stretches),
		cmocka_unit_test(each_node_that_still_fits_is_taken),
		cmocka_unit_test(names_belong_to_their_node),
		cmocka_unit_test(what_lies_outside_is_counted_at_the_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
