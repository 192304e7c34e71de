/*
 * decimate - which of a list are left: the older sampler's, and those with
 * peaks.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/perf/list.h"

#include <math.h>
#include <stdbool.h>

#include "tests/unit/check.h"

enum { NUMBERS = 5000 };

static uint64_t
at(const struct decimate *decimate, uint64_t i)
{
	return *(const uint64_t *)decimate_at(decimate, i);
}

/* After every report what was recorded of the older sampler's store. */
static void
compare_with(const char *path, uint64_t max_length)
{
	unsigned long n, length, every, first, last, sum;
	char line[200];
	struct decimate decimate;
	FILE *file = fopen(path, "r");
	uint64_t lines = 0;

	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	decimate_init(&decimate, max_length, sizeof(uint64_t));
	while (fgets(line, sizeof(line), file) != NULL) {
		uint64_t number = ++lines, total = 0;

		assert_int_equal(sscanf(line, "%lu\t%lu\t%lu\t%lu\t%lu\t%lu",
				     &n, &length, &every, &first, &last, &sum),
		    6);
		assert_int_equal(n, number);
		decimate_add(&decimate, &number);
		for (uint64_t i = 0; i < decimate.length; i++)
			total += at(&decimate, i);
		assert_int_equal(decimate.length, length);
		assert_int_equal(decimate.every, every);
		assert_int_equal(at(&decimate, 0), first);
		assert_int_equal(at(&decimate, decimate.length - 1), last);
		assert_int_equal(total, sum);
	}
	assert_int_equal(lines, NUMBERS);
	decimate_clear(&decimate);
	fclose(file);
}

static void
the_store_is_the_older_samplers_after_every_report(void **state)
{
	compare_with("tests/golden/perf/d0010/expected/per_n.tsv", 10);
	compare_with("tests/golden/perf/d0100/expected/per_n.tsv", 100);
	compare_with("tests/golden/perf/d1000/expected/per_n.tsv", 1000);
}

static void
an_odd_length_is_made_even_and_none_keeps_nothing(void **state)
{
	struct decimate odd, even, none;

	decimate_init(&odd, 9, sizeof(uint64_t));
	decimate_init(&even, 10, sizeof(uint64_t));
	decimate_init(&none, 0, sizeof(uint64_t));
	for (uint64_t i = 1; i <= 1000; i++) {
		decimate_add(&odd, &i);
		decimate_add(&even, &i);
		decimate_add(&none, &i);
		assert_int_equal(odd.length, even.length);
		assert_int_equal(
		    at(&odd, odd.length - 1), at(&even, even.length - 1));
		assert_int_equal(none.length, 0);
	}
	decimate_clear(&odd);
	decimate_clear(&even);
	decimate_clear(&none);
}

/* ---- with peaks ---- */

static struct {
	uint64_t given, number[NUMBERS];
} taken;

static void
take(void *arg, const void *item)
{
	taken.number[taken.given++] = *(const uint64_t *)item;
}

static void
decimate_heights(const double *heights, uint64_t count, uint64_t max_length)
{
	struct decimate_peaks thin = { .count = count,
		.max_length = max_length,
		.item_bytes = sizeof(uint64_t),
		.give = take };

	taken.given = 0;
	for (uint64_t i = 0; i < count; i++)
		decimate_peaks_add(&thin, &i, heights[i]);
	decimate_peaks_end(&thin);
}

static void
peaks_and_both_ends_stay_in_order_within_the_length(void **state)
{
	static double heights[NUMBERS];
	uint64_t seed = check_seed();

	for (int round = 0; round < 500; round++) {
		uint64_t count = 1 + check_random(&seed) % NUMBERS;
		uint64_t max_length = 2 + check_random(&seed) % (NUMBERS / 5);
		uint64_t least = 0, greatest = 0;
		bool has_least = false, has_greatest = false;

		for (uint64_t i = 0; i < count; i++) {
			heights[i] = (double)(check_random(&seed) >> 20);
			if (heights[i] < heights[least])
				least = i;
			if (heights[i] > heights[greatest])
				greatest = i;
		}
		decimate_heights(heights, count, max_length);
		assert_true(taken.given <= max_length);
		assert_true(taken.given == count || count > max_length);
		assert_int_equal(taken.number[0], 0);
		assert_int_equal(taken.number[taken.given - 1], count - 1);
		for (uint64_t i = 0; i < taken.given; i++) {
			assert_true(
			    i == 0 || taken.number[i - 1] < taken.number[i]);
			has_least |= taken.number[i] == least;
			has_greatest |= taken.number[i] == greatest;
		}
		assert_true(max_length < 4 || (has_least && has_greatest));
	}
}

static void
what_is_not_known_is_no_peak(void **state)
{
	static const double heights[] = { 0, NAN, 7, NAN, 9, NAN, 1, NAN, NAN,
		NAN };

	decimate_heights(heights, 10, 4);
	assert_int_equal(taken.given, 4);
	assert_int_equal(taken.number[1], 4);
	assert_int_equal(taken.number[2], 6);
	decimate_heights(heights + 7, 3, 2);
	assert_int_equal(taken.given, 2);
}

static void
a_wrong_count_loses_no_peak(void **state)
{
	struct decimate_peaks thin = { .count = 100,
		.max_length = 4,
		.item_bytes = sizeof(uint64_t),
		.give = take };

	taken.given = 0;
	for (uint64_t i = 0; i < 50; i++)
		decimate_peaks_add(&thin, &i, i == 7 ? 9 : 1);
	decimate_peaks_end(&thin);
	assert_int_equal(taken.given, 3);
	assert_int_equal(taken.number[2], 7);
	for (uint64_t i = 50; i < 200; i++)
		decimate_peaks_add(&thin, &i, 1);
	assert_int_equal(taken.number[taken.given - 1], 99);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    the_store_is_the_older_samplers_after_every_report),
		cmocka_unit_test(
		    an_odd_length_is_made_even_and_none_keeps_nothing),
		cmocka_unit_test(
		    peaks_and_both_ends_stay_in_order_within_the_length),
		cmocka_unit_test(what_is_not_known_is_no_peak),
		cmocka_unit_test(a_wrong_count_loses_no_peak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
