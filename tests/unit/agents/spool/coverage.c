/*
 * coverage - intervals against a row of flags.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/view/coverage.h"

#include <string.h>

#include "proto/hash/prng.h"
#include "tests/unit/check.h"

enum { NUMBERS = 200, ROUNDS = 300 };

static void
is_same(const struct coverage *coverage, const bool *flags)
{
	struct coverage_interval hole;
	uint64_t from = 1;

	while (coverage_next_hole(coverage, from, NUMBERS - 1, &hole)) {
		for (uint64_t n = from; n < hole.first; n++)
			assert_true(flags[n]);
		for (uint64_t n = hole.first; n <= hole.last; n++)
			assert_false(flags[n]);
		assert_true(hole.last == NUMBERS - 1 || flags[hole.last + 1]);
		from = hole.last + 1;
	}
	for (uint64_t n = from; n < NUMBERS; n++)
		assert_true(flags[n]);
}

static void
intervals_are_what_flags_say(void **state)
{
	uint64_t prng = 1;

	for (int round = 0; round < ROUNDS; round++) {
		struct coverage coverage = { 0 };
		bool flags[NUMBERS] = { false };

		for (int i = 0; i < 40; i++) {
			uint64_t first =
			    (uint64_t)prng_between(&prng, 1, NUMBERS - 1);
			uint64_t last =
			    first + (uint64_t)prng_between(&prng, 0, 8);

			if (last >= NUMBERS)
				last = NUMBERS - 1;
			assert_true(coverage_add(&coverage, first, last));
			for (uint64_t n = first; n <= last; n++)
				flags[n] = true;
			is_same(&coverage, flags);
			for (uint32_t j = 1; j < coverage.count; j++)
				assert_true(coverage.at[j].first >
					    coverage.at[j - 1].last + 1);
		}
		coverage_clear(&coverage);
	}
}

static void
the_last_number_there_is_is_a_number(void **state)
{
	struct coverage coverage = { 0 };
	struct coverage_interval hole;

	assert_true(coverage_add(&coverage, UINT64_MAX, UINT64_MAX));
	assert_true(coverage_add(&coverage, 0, 1));
	assert_int_equal(coverage.count, 2);
	assert_true(coverage_next_hole(&coverage, 0, UINT64_MAX, &hole));
	assert_true(hole.first == 2 && hole.last == UINT64_MAX - 1);
	assert_true(coverage_add(&coverage, 2, UINT64_MAX - 1));
	assert_int_equal(coverage.count, 1);
	assert_false(coverage_next_hole(&coverage, 0, UINT64_MAX, &hole));
	coverage_clear(&coverage);
}

static void
there_is_a_bound(void **state)
{
	struct coverage coverage = { 0 };

	for (uint64_t i = 0; i < COVERAGE_INTERVALS_MAX; i++)
		assert_true(coverage_add(&coverage, 2 * i, 2 * i));
	assert_false(coverage_add(&coverage, UINT64_MAX, UINT64_MAX));
	assert_true(coverage_add(&coverage, 1, 1));
	assert_true(coverage_add(&coverage, UINT64_MAX, UINT64_MAX));
	coverage_clear(&coverage);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_are_what_flags_say),
		cmocka_unit_test(the_last_number_there_is_is_a_number),
		cmocka_unit_test(there_is_a_bound),
	};

	return cmocka_run_group_tests_name("coverage", tests, NULL, NULL);
}
