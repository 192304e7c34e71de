/*
 * size_limit - what is kept fits, and as much as does.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline/size_limit.h"

#include "tests/unit/check.h"

enum { RECORDS = 500, RANKS = 20, FIXED = 100 };

static struct {
	int64_t time;
	uint32_t rank;
	uint64_t bytes;
} records[RECORDS];

static uint64_t
fill(struct size_limit *limit, int64_t from, int64_t to, uint64_t *seed)
{
	uint64_t total = FIXED;

	size_limit_init(limit, from, to, RANKS);
	for (int i = 0; i < RECORDS; i++) {
		records[i].time = from + (int64_t)(check_random(seed) %
						   (uint64_t)(to - from));
		records[i].rank = (uint32_t)(check_random(seed) % RANKS);
		records[i].bytes = check_random(seed) % 50;
		total += records[i].bytes;
		size_limit_add(
		    limit, records[i].time, records[i].rank, records[i].bytes);
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
bytes_of_ranks(uint32_t ranks)
{
	uint64_t bytes = FIXED;

	for (int i = 0; i < RECORDS; i++)
		if (records[i].rank < ranks)
			bytes += records[i].bytes;
	return bytes;
}

static void
the_time_that_fits_is_the_longest_of_whole_stretches(void **state)
{
	uint64_t seed = check_seed();
	struct size_limit limit;

	(void)state;
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

static void
the_nodes_that_fit_are_as_many_as_do(void **state)
{
	uint64_t seed = check_seed();
	struct size_limit limit;

	(void)state;
	for (int round = 0; round < 500; round++) {
		uint64_t total = fill(&limit, 0, 1000, &seed);
		uint64_t max = check_random(&seed) % (total + 10);
		uint32_t ranks = size_limit_ranks(&limit, total, max);

		assert_true(ranks == 0 || bytes_of_ranks(ranks) <= max);
		assert_true(ranks == RANKS || bytes_of_ranks(ranks + 1) > max);
		size_limit_clear(&limit);
	}
}

static void
what_lies_outside_is_counted_at_the_ends(void **state)
{
	struct size_limit limit;

	(void)state;
	size_limit_init(&limit, 1000, 2000, 0);
	size_limit_add(&limit, -5, 0, 10);
	size_limit_add(&limit, INT64_MAX, 7, 20);
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
		cmocka_unit_test(the_nodes_that_fit_are_as_many_as_do),
		cmocka_unit_test(what_lies_outside_is_counted_at_the_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
