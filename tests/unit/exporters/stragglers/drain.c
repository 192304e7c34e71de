/*
 * drain - how many nodes with which nothing is wrong are to be drained: months
 * of pools are drawn, and nothing of who is slow, or how likely that is, comes
 * from the code that judges them.
 *
 * The goal is at most one node in 10,000 a month, on average.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/chronic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/check.h"

enum { NODE_MONTHS = 200000 };

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

/* A pool of a month. */
struct world {
	const char *name;
	uint32_t nodes, starts;
	double slow;    /* each node, in each start */
	double trouble; /* the starts in which something is wrong for many: */
	double many;    /* ... that many of the nodes are slow in them */
	double there;   /* the nodes that are in a start */
};

/* One pool in ten has one false straggler in a start, 1/600; five in 10,000
 * nodes; and worse ones. */
static const struct world worlds[] = {
	{ "60 nodes", 60, 30, 1.0 / 600, 0, 0, 1 },
	{ "10,000 nodes", 10000, 30, 5e-4, 0, 0, 1 },
	{ "two starts a day", 300, 60, 1.0 / 600, 0, 0, 1 },
	{ "ten times as many are slow", 60, 30, 1.0 / 60, 0, 0, 1 },
	{ "starts with a trouble of the network", 60, 30, 1.0 / 600, 0.2, 0.3,
	    1 },
	{ "... of most nodes", 200, 30, 5e-4, 0.5, 0.6, 1 },
	{ "nodes that come and go", 100, 60, 1.0 / 300, 0.1, 0.2, 0.3 },
	{ "few starts", 60, 4, 1.0 / 60, 0, 0, 1 },
	{ "few nodes", 12, 30, 1.0 / 60, 0.1, 0.3, 1 },
};

/* Draws a month; node 0 is slow with `ill` besides. */
static void
draw(const struct world *world, unsigned char *was, double ill)
{
	for (uint32_t s = 0; s < world->starts; s++) {
		bool trouble = uniform() < world->trouble;

		for (uint32_t i = 0; i < world->nodes; i++) {
			double slow = trouble ? world->many : world->slow;
			bool is_slow =
			    uniform() < slow || (i == 0 && uniform() < ill);

			was[(size_t)i * world->starts + s] =
			    uniform() >= world->there ? CHRONIC_ABSENT
			    : is_slow                 ? CHRONIC_SLOW
						      : CHRONIC_WELL;
		}
	}
}

/* How many are to be drained; of node 0 alone if it is ill. */
static uint32_t
drained(const struct world *world, double ill)
{
	unsigned char *was = calloc((size_t)world->nodes * world->starts, 1);
	struct chronic_node *nodes = calloc(world->nodes, sizeof(*nodes));
	uint32_t count = 0;

	assert_non_null(was);
	assert_non_null(nodes);
	draw(world, was, ill);
	chronic_judge(nodes, world->nodes, was, world->starts);
	for (uint32_t i = 0; i < (ill > 0 ? 1 : world->nodes); i++)
		count += nodes[i].is_chronic;
	free(nodes);
	free(was);
	return count;
}

static void
of_10000_nodes_with_which_nothing_is_wrong_one_is_drained_a_month(void **state)
{
	for (size_t w = 0; w < sizeof(worlds) / sizeof(*worlds); w++) {
		const struct world *world = &worlds[w];
		uint32_t count = 0, months = 0;

		random_state = w;
		for (; months < NODE_MONTHS; months += world->nodes)
			count += drained(world, 0);
		printf(
		    "# %s: %u of %u node-months\n", world->name, count, months);
		if (count > months / 10000)
			fail_msg("%s: %u of %u", world->name, count, months);
	}
}

/* A node that is slow in every second start is found in most months. */
static void
a_node_that_is_slow_every_other_time_is_drained(void **state)
{
	static const size_t of[] = { 0, 1, 2, 4 };

	for (size_t w = 0; w < sizeof(of) / sizeof(*of); w++) {
		const struct world *world = &worlds[of[w]];
		uint32_t months = world->nodes > 1000 ? 10 : 100, found = 0;

		random_state = w;
		for (uint32_t i = 0; i < months; i++)
			found += drained(world, 0.5);
		printf("# %s: %u of %u\n", world->name, found, months);
		if (found < months * 9 / 10)
			fail_msg("%s: %u of %u", world->name, found, months);
	}
}

/* Of 10 starts one was slow in 3, and of the others 550 in 100,000 once each:
 * the chance of 3 or more is some 120 x 0.0055^3 = 2e-5.  Of 1,000 such nodes 1
 * in 50 has a pool in which one is so, of 10,000 one in 5. */
static void
of_more_nodes_each_must_be_surer(void **state)
{
	enum { STARTS = 10, MANY = 10000 };
	unsigned char *was = malloc((size_t)MANY * STARTS);
	struct chronic_node *nodes = malloc(MANY * sizeof(*nodes));

	(void)state;
	for (uint32_t count = MANY / 10; count <= MANY; count *= 10) {
		uint32_t slow = count * STARTS * 55 / 10000;

		memset(nodes, 0, MANY * sizeof(*nodes));
		memset(was, CHRONIC_WELL, (size_t)count * STARTS);
		for (uint32_t i = 1; i <= slow; i++)
			was[(size_t)i * STARTS + i % STARTS] = CHRONIC_SLOW;
		for (int s = 0; s < 3; s++)
			was[s] = CHRONIC_SLOW;
		chronic_judge(nodes, count, was, STARTS);
		assert_true(nodes[0].chance > 1e-5 && nodes[0].chance < 3e-5);
		assert_int_equal(nodes[0].is_chronic, count < MANY);
	}
	free(nodes);
	free(was);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    of_10000_nodes_with_which_nothing_is_wrong_one_is_drained_a_month),
		cmocka_unit_test(
		    a_node_that_is_slow_every_other_time_is_drained),
		cmocka_unit_test(of_more_nodes_each_must_be_surer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
