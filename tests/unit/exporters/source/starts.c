/*
 * starts_form - starts in any order of arrival, against the definition taken
 * word by word.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/starts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/check.h"

enum { NODES = 5, PHASES = 3, MARKS = 12, ROUNDS = 20000 };

struct pool {
	struct start_mark marks[PHASES][MARKS];
	uint32_t count[PHASES];
};

static uint64_t seed = 1;

static uint32_t
below(uint32_t limit)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(seed >> 33) % limit;
}

static void
make(struct pool *pool)
{
	for (int p = 0; p < PHASES; p++) {
		pool->count[p] = below(MARKS + 1);
		for (uint32_t i = 0; i < pool->count[p]; i++) {
			struct start_mark *mark = &pool->marks[p][i];

			mark->node = below(NODES);
			mark->begin_ns = below(200);
			mark->end_ns = mark->begin_ns + below(30);
			if (below(4) == 0)
				mark->end_ns = START_UNKNOWN;
			else if (below(4) == 0)
				mark->begin_ns = START_UNKNOWN;
		}
	}
}

static int64_t
place_of(const struct start_mark *mark)
{
	return mark->end_ns == START_UNKNOWN ? mark->begin_ns : mark->end_ns;
}

/* ---- the definition ---- */

/* The begin of a node to which the mark belongs: the last one that is not after
 * it, and at its end not at the same time unless it began then; INT64_MIN. */
static int64_t
begin_of(const struct pool *pool, const struct start_mark *mark)
{
	int64_t found_ns = INT64_MIN, place_ns = place_of(mark);

	for (uint32_t i = 0; i < pool->count[0]; i++) {
		const struct start_mark *begin = &pool->marks[0][i];
		bool ended = place_ns == begin->begin_ns &&
			     mark->begin_ns != START_UNKNOWN &&
			     mark->begin_ns < place_ns;

		if (begin->node == mark->node &&
		    begin->begin_ns != START_UNKNOWN &&
		    begin->begin_ns <= place_ns && !ended &&
		    begin->begin_ns > found_ns)
			found_ns = begin->begin_ns;
	}
	return found_ns;
}

/* When a phase of the node ended first after it began then; INT64_MAX: not. */
static int64_t
end_of(const struct pool *pool, int phase, uint32_t node, int64_t begin_ns)
{
	int64_t end_ns = INT64_MAX;

	for (uint32_t i = 0; i < pool->count[phase]; i++) {
		const struct start_mark *mark = &pool->marks[phase][i];

		if (mark->node == node && mark->end_ns != START_UNKNOWN &&
		    mark->end_ns < end_ns && begin_of(pool, mark) == begin_ns)
			end_ns = mark->end_ns;
	}
	return end_ns;
}

/* The last sign of a node that began then, and when it was ready. */
static int64_t
judge(
    const struct pool *pool, uint32_t node, int64_t begin_ns, int64_t *ready_ns)
{
	int64_t sign_ns = begin_ns;

	*ready_ns = INT64_MIN;
	for (int p = 0; p < PHASES; p++) {
		int64_t end_ns = end_of(pool, p, node, begin_ns);

		if (end_ns > *ready_ns)
			*ready_ns = end_ns;
		for (uint32_t i = 0; i < pool->count[p]; i++) {
			const struct start_mark *mark = &pool->marks[p][i];

			if (mark->node == node && place_of(mark) <= end_ns &&
			    place_of(mark) > sign_ns &&
			    begin_of(pool, mark) == begin_ns)
				sign_ns = place_of(mark);
		}
	}
	return sign_ns;
}

struct seen {
	struct start start;
	bool node[NODES], ready[NODES];
	int64_t ready_ns[NODES];
};

static void
add(struct seen *seen, const struct pool *pool, uint32_t node, int64_t begin_ns)
{
	struct start *start = &seen->start;
	int64_t ready_ns, sign_ns = judge(pool, node, begin_ns, &ready_ns);

	start->last_begin_ns = begin_ns;
	if (sign_ns > start->sign_ns)
		start->sign_ns = sign_ns;
	start->again += seen->node[node];
	start->nodes += !seen->node[node];
	seen->node[node] = true;
	if (ready_ns == INT64_MAX || seen->ready[node])
		return;
	seen->ready[node] = true;
	seen->ready_ns[start->ready] = ready_ns;
	start->ready++;
	if (start->first_ready_ns == START_UNKNOWN ||
	    ready_ns < start->first_ready_ns)
		start->first_ready_ns = ready_ns;
	if (ready_ns > start->last_ready_ns)
		start->last_ready_ns = ready_ns;
}

/* The first moment at which the share is ready, of all moments. */
static int64_t
enough(const struct seen *seen, uint32_t share)
{
	for (int64_t at_ns = 0; at_ns < 2000; at_ns++) {
		uint64_t ready = 0;

		for (uint32_t i = 0; i < seen->start.ready; i++)
			ready += seen->ready_ns[i] <= at_ns;
		if (ready * STARTS_SHARE_ALL >=
		    (uint64_t)share * seen->start.nodes)
			return at_ns;
	}
	return START_UNKNOWN;
}

/* Time passes; at each moment the nodes that begin are looked at. */
static uint32_t
define(const struct pool *pool, int64_t to_ns, const struct starts_pool *says,
    struct start starts[MARKS])
{
	struct seen seen;
	uint32_t count = 0;

	for (int64_t now_ns = 0; now_ns < to_ns; now_ns++)
		for (uint32_t node = 0; node < NODES; node++)
			for (uint32_t i = 0; i < pool->count[0]; i++) {
				const struct start_mark *mark =
				    &pool->marks[0][i];

				if (mark->node != node ||
				    mark->begin_ns != now_ns)
					continue;
				if (count == 0 || now_ns - seen.start.sign_ns >
						      says->gap_ns) {
					memset(&seen, 0, sizeof(seen));
					seen.start = (struct start){ .begin_ns =
									 now_ns,
						.sign_ns = now_ns,
						.first_ready_ns = START_UNKNOWN,
						.last_ready_ns = START_UNKNOWN,
						.ready_ns = START_UNKNOWN };
					count++;
				}
				add(&seen, pool, node, now_ns);
				starts[count - 1] = seen.start;
				starts[count - 1].ready_ns =
				    enough(&seen, says->share);
			}
	return count;
}

/* A node does not begin twice at one time here: which of both a phase belongs
 * to would be nobody's question. */
static bool
is_plain(const struct pool *pool)
{
	for (uint32_t i = 0; i < pool->count[0]; i++)
		for (uint32_t k = 0; k < i; k++)
			if (pool->marks[0][i].node == pool->marks[0][k].node &&
			    pool->marks[0][i].begin_ns ==
				pool->marks[0][k].begin_ns &&
			    pool->marks[0][i].begin_ns != START_UNKNOWN)
				return false;
	return true;
}

static void
compare(const struct start *a, const struct start *b)
{
	assert_int_equal(a->begin_ns, b->begin_ns);
	assert_int_equal(a->last_begin_ns, b->last_begin_ns);
	assert_int_equal(a->sign_ns, b->sign_ns);
	assert_int_equal(a->nodes, b->nodes);
	assert_int_equal(a->ready, b->ready);
	assert_int_equal(a->again, b->again);
	assert_int_equal(a->first_ready_ns, b->first_ready_ns);
	assert_int_equal(a->last_ready_ns, b->last_ready_ns);
	assert_int_equal(a->ready_ns, b->ready_ns);
}

/* When the node was ready after its last begin before that time. */
static int64_t
ready_of(const struct pool *pool, uint32_t node, int64_t to_ns)
{
	int64_t begin_ns = INT64_MIN, ready_ns = START_NONE;

	for (uint32_t i = 0; i < pool->count[0]; i++) {
		const struct start_mark *mark = &pool->marks[0][i];

		if (mark->node == node && mark->begin_ns != START_UNKNOWN &&
		    mark->begin_ns < to_ns && mark->begin_ns > begin_ns)
			begin_ns = mark->begin_ns;
	}
	if (begin_ns == INT64_MIN)
		return START_NONE;
	judge(pool, node, begin_ns, &ready_ns);
	return ready_ns == INT64_MAX ? START_UNKNOWN : ready_ns;
}

static void
starts_are_those_of_the_definition(void **state)
{
	static const uint32_t shares[] = { STARTS_SHARE_ALL, 900000, 500000,
		1 };
	int64_t ready_ns[NODES];
	struct start wanted[MARKS], *got;
	struct start_marks phases[PHASES];
	struct pool pool, copy;
	uint32_t count, several = 0;

	for (int round = 0; round < ROUNDS; round++) {
		int64_t to_ns = below(3) == 0 ? below(250) : 1000;
		struct starts_pool says = { below(50), shares[below(4)] };

		make(&pool);
		if (!is_plain(&pool))
			continue;
		copy = pool;
		for (int p = 0; p < PHASES; p++)
			phases[p] = (struct start_marks){ copy.marks[p],
				copy.count[p], MARKS };
		got = starts_form(
		    phases, PHASES, NODES, to_ns, &says, &count, ready_ns);
		assert_int_equal(count, define(&pool, to_ns, &says, wanted));
		for (uint32_t i = 0; i < count; i++)
			compare(&got[i], &wanted[i]);
		for (uint32_t i = 0; i < NODES; i++)
			assert_int_equal(
			    ready_ns[i], ready_of(&pool, i, to_ns));
		several += count > 1;
		free(got);
	}
	assert_true(several > ROUNDS / 4);
}

static void
the_greatest_pause_is_one(void **state)
{
	struct start_mark marks[] = { { 0, INT64_MIN, 0 },
		{ 0, INT64_MIN, 1 } };
	struct start_marks phase = { marks, 2, 2 };
	struct starts_pool pool = { INT64_MAX, STARTS_SHARE_ALL };
	struct start *starts;
	uint32_t count;

	marks[0].begin_ns = INT64_MIN + 1;
	marks[1].begin_ns = INT64_MAX - 1;
	starts = starts_form(&phase, 1, 2, INT64_MAX, &pool, &count, NULL);
	assert_int_equal(count, 2);
	free(starts);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_are_those_of_the_definition),
		cmocka_unit_test(the_greatest_pause_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
