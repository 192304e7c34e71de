/*
 * ranks - who comes last to the collectives, by chance or not.
 *
 * What is expected is worked out by hand, or by the binomial distribution, term
 * by term.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/ranks.h"

#include <math.h>
#include <stdlib.h>

#include "proto/os/clock.h"
#include "tests/unit/check.h"

enum { ROOM = 100000 };
static struct ranks_arrival arrivals[ROOM];
static uint32_t count;
static struct ranks ranks;

static int
set_up(void **state)
{
	count = 0;
	return 0;
}

static int
tear_down(void **state)
{
	ranks_clear(&ranks);
	return 0;
}

/* A rank on a node of its own arrives `ms` after the step's begin; each step
 * has ten seconds. */
static struct ranks_arrival *
arrive(uint64_t step, uint32_t rank, int64_t ms)
{
	int64_t begin_ns = (int64_t)step * 10 * NS_PER_SECOND;

	assert_true(count < ROOM);
	arrivals[count] = (struct ranks_arrival){ step, rank, rank, begin_ns,
		begin_ns + ms * 1000000, 1000000, -1 };
	return &arrivals[count++];
}

/* `last` comes a second after all others, who are a millisecond apart. */
static void
step_of(uint64_t step, uint32_t of, uint32_t last)
{
	for (uint32_t i = 0; i < of; i++)
		arrive(step, i, i == last ? 2000 : 1000 - i % 20);
}

static const struct ranks_rank *
find_rank(uint32_t rank)
{
	for (uint32_t i = 0; i < ranks.count; i++)
		if (ranks.at[i].rank == rank)
			return &ranks.at[i];
	fail_msg("no rank %u", rank);
	return NULL;
}

static uint32_t
late(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ranks.count; i++)
		n += ranks.at[i].verdict == RANKS_LATE;
	return n;
}

static void
nothing_is_no_rank(void **state)
{
	ranks_find(&ranks, arrivals, 0);
	assert_int_equal(ranks.count, 0);
	assert_int_equal(ranks.steps_needed, 0);
	arrive(1, 0, 5);
	arrive(2, 0, 5);
	ranks_clear(&ranks);
	ranks_find(&ranks, arrivals, count);
	assert_int_equal(ranks.count, 1);
	assert_int_equal(ranks.single, 2);
	assert_int_equal(ranks.steps, 0);
	assert_int_equal(late(), 0);
}

static void
always_last_is_as_likely_as_all_steps_together(void **state)
{
	for (uint64_t i = 0; i < 9; i++)
		step_of(i, 2, 1);
	ranks_find(&ranks, arrivals, count);
	assert_int_equal(ranks.steps_needed, 9);
	assert_int_equal(late(), 1);
	/* 2 ranks, 2 tests, 1/2 in each step. */
	assert_float_equal(ranks.at[0].chance, 4.0 / 512, 1e-9);
	assert_int_equal(ranks.at[0].waited_ns, 9 * NS_PER_SECOND);
	count = 0;
	for (uint64_t i = 0; i < 8; i++)
		step_of(i, 2, 1);
	ranks_clear(&ranks);
	ranks_find(&ranks, arrivals, count);
	assert_int_equal(late(), 0);
}

/* The bound is never below the exact probability, and not far above it. */
static void
the_bound_holds_for_the_binomial_distribution(void **state)
{
	static const struct {
		uint32_t ranks, steps, last;
	} cases[] = { { 2, 30, 27 }, { 8, 100, 35 }, { 64, 200, 16 },
		{ 512, 180, 9 } };

	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		double p = 1.0 / cases[c].ranks, tail = 0, all;

		count = 0;
		for (uint32_t i = 0; i < cases[c].steps; i++)
			step_of(i, cases[c].ranks,
			    i < cases[c].last ? 0
					      : 1 + i % (cases[c].ranks - 1));
		ranks_find(&ranks, arrivals, count);
		for (uint32_t k = cases[c].last; k <= cases[c].steps; k++)
			tail +=
			    exp(lgamma(cases[c].steps + 1.0) - lgamma(k + 1.0) -
				lgamma(cases[c].steps - k + 1.0) + k * log(p) +
				(cases[c].steps - k) * log1p(-p));
		all = 2.0 * cases[c].ranks * tail;
		assert_int_equal(find_rank(0)->last, cases[c].last);
		assert_int_equal(find_rank(0)->verdict, RANKS_LATE);
		if (find_rank(0)->chance < all ||
		    find_rank(0)->chance > 20 * all)
			fail_msg("%zu: %g, exactly %g", c, find_rank(0)->chance,
			    all);
		ranks_clear(&ranks);
	}
}

/* Each of 64 is last in three steps; but rank 5 by 9 s, the others by 1 ms. */
static void
seldom_last_but_by_much_is_late(void **state)
{
	for (uint64_t i = 0; i < 192; i++)
		for (uint32_t k = 0; k < 64; k++)
			arrive(i, k, k != i % 64 ? 100 : k == 5 ? 9100 : 101);
	ranks_find(&ranks, arrivals, count);
	assert_int_equal(late(), 1);
	assert_int_equal(ranks.at[0].rank, 5);
	assert_int_equal(ranks.at[0].last, 3);
	ranks_clear(&ranks);
	/* Twice, two ranks, 2 x 64 / 64^2, is more than 1 %. */
	count = 0;
	for (uint64_t i = 0; i < 128; i++)
		for (uint32_t k = 0; k < 64; k++)
			arrive(i, k, k != i % 64 ? 100 : k == 5 ? 9100 : 101);
	ranks_find(&ranks, arrivals, count);
	assert_int_equal(late(), 0);
}

static void
clocks_that_may_be_off_by_the_lead_do_not_tell(void **state)
{
	for (uint64_t i = 0; i < 50; i++) {
		arrive(i, 0, 1000)->error_ns = 600000000;
		arrive(i, 1, 2000)->error_ns = 400000000;
		arrive(i, 2, 900)->error_ns = 0;
	}
	ranks_find(&ranks, arrivals, count);
	assert_int_equal(late(), 0);
	assert_int_equal(ranks.at[0].rank, 1);
	assert_int_equal(ranks.at[0].verdict, RANKS_CLOCK);
	assert_int_equal(ranks.at[0].last, 50);
	assert_int_equal(ranks.at[0].certain, 0);
	assert_int_equal(ranks.uncertain, 50);
	ranks_clear(&ranks);
	for (uint32_t i = 0; i < count; i++)
		arrivals[i].error_ns = arrivals[i].rank == 0   ? 599999999
				       : arrivals[i].rank == 1 ? 400000000
							       : 0;
	ranks_find(&ranks, arrivals, count);
	assert_int_equal(late(), 1);
	ranks_clear(&ranks);
	/* One clock, however wrong. */
	for (uint32_t i = 0; i < count; i++) {
		arrivals[i].error_ns = RANKS_NO_CLOCK;
		arrivals[i].node = 7;
	}
	ranks_find(&ranks, arrivals, count);
	assert_int_equal(late(), 1);
	ranks_clear(&ranks);
	/* One node of which nothing is known hides the others only from
	 * itself. */
	for (uint32_t i = 0; i < count; i++)
		arrivals[i].node = arrivals[i].rank == 2 ? 3 : 7;
	ranks_find(&ranks, arrivals, count);
	assert_int_equal(late(), 0);
	assert_int_equal(ranks.at[0].verdict, RANKS_CLOCK);
}

/* A rank may be in few of the steps; numbers may have gaps; of two arrivals of
 * one rank the later counts. */
static void
ranks_that_miss_steps_count_where_they_are(void **state)
{
	for (uint64_t i = 0; i < 40; i++) {
		arrive(i, 0, 1000);
		arrive(i, 0, 500);
		arrive(i, 9, 900);
		if (i % 4 == 0)
			arrive(i, 3, 1500);
	}
	ranks_find(&ranks, arrivals, count);
	assert_int_equal(ranks.count, 3);
	assert_int_equal(ranks.steps, 40);
	assert_int_equal(ranks.incomplete, 30);
	assert_int_equal(find_rank(3)->steps, 10);
	assert_int_equal(find_rank(3)->last, 10);
	assert_float_equal(find_rank(3)->expected, 10.0 / 3, 1e-9);
	assert_int_equal(find_rank(0)->last, 30);
	assert_int_equal(find_rank(0)->waited_ns, 30 * INT64_C(100000000));
	assert_int_equal(find_rank(3)->waited_ns, 10 * INT64_C(1100000000));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(nothing_is_no_rank),
		CASE(always_last_is_as_likely_as_all_steps_together),
		CASE(the_bound_holds_for_the_binomial_distribution),
		CASE(seldom_last_but_by_much_is_late),
		CASE(clocks_that_may_be_off_by_the_lead_do_not_tell),
		CASE(ranks_that_miss_steps_count_where_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
