/*
 * rank_jobs - jobs of ranks that wait for each other in each step are drawn,
 * with and without a slow one: who is named.
 *
 * Goals: of 512 ranks one that is 5 % slower, with a standard deviation of 2 %,
 * is named within 200 steps in 95 of 100 jobs, and no rank is named in 95 of
 * 100 jobs without one.  tests/bench/ranks.sh asks the same of spans that
 * libpoolscope has published.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/os/clock.h"
#include "tests/unit/check.h"

struct job {
	const char *name;
	uint32_t ranks, steps, nodes;
	double sd;
	bool has_tail;   /* one work in a thousand takes three times as long */
	double error_ms; /* of the clock of each node, at most */
};

static uint64_t random_state;

/* Splitmix64: from 0 to below 1. */
static double
uniform(void)
{
	uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double
normal(void)
{
	double radius = sqrt(-2 * log(1 - uniform()));

	return radius * cos(8 * atan(1) * uniform());
}

/* Each node's clock is off, as far as it may be, the first one's most. */
static void
draw(const struct job *job, struct ranks_arrival *arrivals, double factor)
{
	for (uint32_t s = 0; s < job->steps; s++)
		for (uint32_t r = 0; r < job->ranks; r++) {
			uint32_t node = r % job->nodes;
			double error_ns = job->error_ms * 1e6;
			double off = 1 - 2.0 * node / (double)job->nodes;
			double work = 1 + job->sd * normal();
			int64_t begin_ns =
			    s * 2 * NS_PER_SECOND + (int64_t)(off * error_ns);

			if (job->has_tail && uniform() < 0.001)
				work *= 3;
			work *= r + 1 == job->ranks ? factor : 1;
			arrivals[(size_t)s * job->ranks + r] =
			    (struct ranks_arrival){ s, r, node, begin_ns,
				    begin_ns + (int64_t)(work * 1e9),
				    (int64_t)error_ns, -1 };
		}
}

/* Was the last rank named, which is slow?  `others` counts the jobs in which
 * another one was. */
static bool
is_named(const struct job *job, struct ranks_arrival *arrivals, double factor,
    uint32_t *others)
{
	struct ranks ranks;
	bool named = false, other = false;

	draw(job, arrivals, factor);
	ranks_find(&ranks, arrivals, (uint64_t)job->ranks * job->steps);
	for (uint32_t i = 0; i < ranks.count; i++)
		if (ranks.at[i].verdict == RANKS_LATE) {
			bool is_slow = ranks.at[i].rank + 1 == job->ranks;

			named |= is_slow;
			other |= !is_slow;
		}
	ranks_clear(&ranks);
	*others += other;
	return named;
}

static void
judge(const struct job *job, uint32_t jobs, double factor, uint32_t least)
{
	struct ranks_arrival *arrivals =
	    calloc((size_t)job->ranks * job->steps, sizeof(*arrivals));
	uint32_t right = 0, wrong = 0, clean = 0;

	assert_non_null(arrivals);
	for (uint32_t i = 0; i < jobs; i++) {
		uint32_t others = 0;

		right += is_named(job, arrivals, factor, &wrong);
		clean += !is_named(job, arrivals, 1, &others) && others == 0;
	}
	free(arrivals);
	printf("# %s: named in %u of %u, another one in %u; without a slow "
	       "one none in %u\n",
	    job->name, right, jobs, wrong, clean);
	if (100 * right < least * jobs || 20 * wrong > jobs ||
	    100 * clean < 95 * jobs)
		fail_msg("%s: %u, %u and %u of %u", job->name, right, wrong,
		    clean, jobs);
}

static void
one_of_512_that_is_5_percent_slower_is_named(void **state)
{
	static const struct job job = { "512 ranks, 200 steps", 512, 200, 64,
		0.02, false, 0.1 };
	const char *jobs = getenv("JOBS");

	random_state = 1;
	judge(&job, jobs != NULL ? (uint32_t)atoi(jobs) : 20, 1.05, 95);
}

static void
others_are_judged_alike(void **state)
{
	static const struct job jobs[] = {
		{ "2 ranks", 2, 200, 2, 0.02, false, 0.1 },
		{ "8 ranks of one node", 8, 200, 1, 0.02, false, 50 },
		{ "64 ranks, work with a tail", 64, 400, 8, 0.02, true, 0.1 },
		{ "64 ranks, 30 steps", 64, 30, 64, 0.02, false, 0.1 },
	};

	random_state = 2;
	for (size_t i = 0; i < sizeof(jobs) / sizeof(*jobs); i++)
		judge(&jobs[i], 200, 1.05, 95);
}

/* The clocks are off by as much as ranks differ, one node's always by the most:
 * it is not named for that. */
static void
clocks_that_are_off_name_nobody(void **state)
{
	static const struct job job = { "clocks off by 20 ms", 64, 200, 8, 0.02,
		false, 20 };

	random_state = 3;
	judge(&job, 100, 1.05, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_512_that_is_5_percent_slower_is_named),
		cmocka_unit_test(others_are_judged_alike),
		cmocka_unit_test(clocks_that_are_off_name_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
