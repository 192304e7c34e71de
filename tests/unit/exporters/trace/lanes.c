/*
 * lanes - random intervals: what every lane keeps to, and how few there are.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/tracks.h"

#include "tests/unit/check.h"

enum { INTERVALS = 60, SMALL = 7, ROUNDS = 20000 };

struct interval {
	int64_t begin, end;
	uint32_t lane;
};

static int
by_begin(const void *left, const void *right)
{
	const struct interval *a = left, *b = right;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

static void
make(struct interval *at, uint32_t count, uint64_t range, uint64_t *seed)
{
	for (uint32_t i = 0; i < count; i++) {
		at[i].begin = (int64_t)(check_random(seed) % range);
		at[i].end = at[i].begin + (int64_t)(check_random(seed) % range);
	}
	qsort(at, count, sizeof(*at), by_begin);
}

static uint32_t
place(struct interval *at, uint32_t count)
{
	struct lanes nest = { .at = NULL };
	uint32_t lanes;

	for (uint32_t i = 0; i < count; i++)
		assert_true(
		    lanes_place(&nest, at[i].begin, at[i].end, &at[i].lane));
	lanes = nest.count;
	lanes_clear(&nest);
	return lanes;
}

static bool
overlap_in_part(const struct interval *a, const struct interval *b)
{
	return (a->begin < b->begin && b->begin < a->end && a->end < b->end) ||
	       (b->begin < a->begin && a->begin < b->end && b->end < a->end);
}

static void
assert_lanes_nest(const struct interval *at, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_false(at[i].lane == at[k].lane &&
				     overlap_in_part(&at[i], &at[k]));
}

/* Can they be spread over `lanes` lanes?  All ways are tried. */
static bool
can_be_spread(struct interval *at, uint32_t count, uint32_t i, uint32_t used,
    uint32_t lanes)
{
	if (i == count)
		return true;
	for (uint32_t lane = 0; lane <= used && lane < lanes; lane++) {
		bool good = true;

		for (uint32_t k = 0; k < i && good; k++)
			good = at[k].lane != lane ||
			       !overlap_in_part(&at[i], &at[k]);
		at[i].lane = lane;
		if (good && can_be_spread(
				at, count, i + 1, used + (lane == used), lanes))
			return true;
	}
	return false;
}

static uint32_t
fewest(const struct interval *at, uint32_t count)
{
	struct interval copy[SMALL];
	uint32_t lanes = 1;

	memcpy(copy, at, count * sizeof(*at));
	while (!can_be_spread(copy, count, 0, 0, lanes))
		lanes++;
	return lanes;
}

static void
no_lane_has_a_partial_overlap(void **state)
{
	uint64_t seed = check_seed();
	struct interval at[INTERVALS];

	for (int round = 0; round < ROUNDS / 10; round++) {
		uint32_t count =
		    (uint32_t)(check_random(&seed) % (INTERVALS + 1));

		make(at, count, 1 + check_random(&seed) % 100, &seed);
		(void)place(at, count);
		assert_lanes_nest(at, count);
	}
}

static void
a_new_lane_is_opened_only_when_none_will_do(void **state)
{
	uint64_t seed = check_seed();
	struct interval at[INTERVALS];

	for (int round = 0; round < ROUNDS / 10; round++) {
		make(at, INTERVALS, 1 + check_random(&seed) % 100, &seed);
		(void)place(at, INTERVALS);
		for (uint32_t i = 0; i < INTERVALS; i++)
			for (uint32_t lane = 0; lane < at[i].lane; lane++) {
				bool meets = false;

				for (uint32_t k = 0; k < i; k++)
					meets |= at[k].lane == lane &&
						 at[k].end > at[i].begin;
				/* A free lane is not passed over, unless it
				 * lies in another one. */
				if (!meets)
					for (uint32_t k = 0; k < i; k++)
						meets |=
						    at[k].lane == at[i].lane &&
						    at[k].end >= at[i].end;
				assert_true(meets);
			}
	}
}

static void
what_nests_needs_one_lane(void **state)
{
	struct interval at[] = { { 0, 100, 0 }, { 0, 50, 0 }, { 0, 0, 0 },
		{ 10, 50, 0 }, { 10, 20, 0 }, { 20, 20, 0 }, { 20, 50, 0 },
		{ 50, 100, 0 }, { 100, 100, 0 }, { 100, 101, 0 } };

	assert_int_equal(place(at, sizeof(at) / sizeof(*at)), 1);
}

static void
with_a_moment_in_common_no_way_needs_fewer(void **state)
{
	uint64_t seed = check_seed();
	struct interval at[SMALL];

	for (int round = 0; round < ROUNDS; round++) {
		uint32_t count = 1 + (uint32_t)(check_random(&seed) % SMALL);

		for (uint32_t i = 0; i < count; i++) {
			at[i].begin = (int64_t)(check_random(&seed) % 10);
			at[i].end = 10 + (int64_t)(check_random(&seed) % 10);
		}
		qsort(at, count, sizeof(*at), by_begin);
		assert_int_equal(place(at, count), fewest(at, count));
	}
}

/* In general it is not the least that comes out, but hardly ever more. */
static void
of_any_few_intervals_at_most_a_thirtieth_more_than_needed(void **state)
{
	uint64_t seed = check_seed();
	struct interval at[SMALL];
	uint32_t lanes = 0, least = 0;

	for (int round = 0; round < ROUNDS; round++) {
		make(at, SMALL, 20, &seed);
		lanes += place(at, SMALL);
		least += fewest(at, SMALL);
	}
	print_message("%u lanes, at least %u\n", lanes, least);
	assert_in_range(lanes, least, least + least / 30);
}

static void
what_comes_late_goes_to_another_lane(void **state)
{
	struct lanes lanes = { .at = NULL };
	uint32_t lane;

	assert_true(lanes_place(&lanes, 0, 5, &lane));
	assert_int_equal(lane, 0);
	assert_true(lanes_place(&lanes, 6, 9, &lane));
	assert_int_equal(lane, 0);
	assert_true(lanes_place(&lanes, 3, 8, &lane));
	assert_int_equal(lane, 1);
	assert_true(lanes_place(&lanes, 4, 5, &lane));
	assert_int_equal(lane, 1);
	lanes_clear(&lanes);
}

static void
lanes_and_depth_have_an_end(void **state)
{
	struct lanes lanes = { .at = NULL };
	uint32_t lane;

	for (uint32_t i = 0; i < LANES_LANES_MAX; i++) {
		assert_true(lanes_place(&lanes, i, 1000 + i, &lane));
		assert_int_equal(lane, i);
	}
	assert_false(lanes_place(&lanes, 500, 5000, &lane));
	lanes_clear(&lanes);
	for (uint32_t i = 0; i < LANES_DEPTH_MAX; i++) {
		assert_true(lanes_place(&lanes, i, 10000 - i, &lane));
		assert_int_equal(lane, 0);
	}
	assert_true(lanes_place(&lanes, LANES_DEPTH_MAX, 6000, &lane));
	assert_int_equal(lane, 1);
	lanes_clear(&lanes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_lane_has_a_partial_overlap),
		cmocka_unit_test(a_new_lane_is_opened_only_when_none_will_do),
		cmocka_unit_test(what_nests_needs_one_lane),
		cmocka_unit_test(with_a_moment_in_common_no_way_needs_fewer),
		cmocka_unit_test(
		    of_any_few_intervals_at_most_a_thirtieth_more_than_needed),
		cmocka_unit_test(what_comes_late_goes_to_another_lane),
		cmocka_unit_test(lanes_and_depth_have_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
