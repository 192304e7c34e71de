/*
 * who - tests of exporters/stragglers/who.h: what is around others is left out
 * as who.h defines it, and of many in little time.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/who.h"

#include "proto/os/clock.h"
#include "tests/unit/check.h"

#define SECOND NS_PER_SECOND
enum { MANY = 8000 };

static struct phases_item items[MANY];
static struct who_suspect suspects[MANY + 1];
static struct phases_timeline timeline = { .phases = { .items = items } };

/* In the order of struct phases_read. */
static int
by_begin(const void *left, const void *right)
{
	const struct phases_item *a = left, *b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return (a->phase > b->phase) - (a->phase < b->phase);
}

/* All are suspects, of a second that is usual. */
static struct who
all_of(uint32_t count)
{
	struct who who = { .timeline = &timeline, .at = suspects };

	timeline.phases.count = count;
	qsort(items, count, sizeof(*items), by_begin);
	for (uint32_t i = 0; i < count; i++)
		suspects[who.count++] = (struct who_suspect){ .item = i,
			.node = items[i].node,
			.time_ns = items[i].end_ns - items[i].begin_ns,
			.usual_ns = SECOND };
	return who;
}

/* ---- the definition, word by word ---- */

static bool
is_in(uint32_t inner, uint32_t outer)
{
	const struct phases_item *a = &items[inner], *b = &items[outer];

	if (a->node != b->node || a->phase == b->phase ||
	    a->begin_ns < b->begin_ns || a->end_ns > b->end_ns)
		return false;
	/* Of two that are equally long the first phase is around the other. */
	return a->begin_ns > b->begin_ns || a->end_ns < b->end_ns ||
	       a->phase > b->phase;
}

static bool
is_left_out(uint32_t count, uint32_t outer, int64_t least_ns)
{
	int64_t lost_ns = suspects[outer].time_ns - suspects[outer].usual_ns;

	for (uint32_t i = 0; i < count; i++) {
		bool is_next = is_in(i, outer);

		for (uint32_t k = 0; is_next && k < count; k++)
			is_next = !is_in(i, k) || !is_in(k, outer);
		if (is_next)
			lost_ns -= suspects[i].time_ns - suspects[i].usual_ns;
	}
	return lost_ns <= least_ns;
}

static void
what_is_around_others_lost_only_the_rest(void **state)
{
	const struct straggler_bounds bounds = { .lost_ns = 8 * SECOND };
	uint64_t random = check_seed();

	(void)state;
	for (unsigned round = check_share(3000, 100); round > 0; round--) {
		uint32_t count = 1 + (uint32_t)(check_random(&random) % 40);
		uint32_t wanted[40], left = 0;
		struct who who;

		for (uint32_t i = 0; i < count; i++) {
			uint64_t r = check_random(&random);

			items[i] = (struct phases_item){
				.begin_ns = (int64_t)(r % 16) * SECOND,
				.node = r >> 8 & 1,
				.phase = r >> 9 & 3,
			};
			items[i].end_ns =
			    items[i].begin_ns +
			    (int64_t)(10 + (r >> 16) % 40) * SECOND;
		}
		who = all_of(count);
		for (uint32_t i = 0; i < count; i++)
			if (!is_left_out(count, i, bounds.lost_ns))
				wanted[left++] = i;
		/* A begin is around nothing; it is the last of its node. */
		suspects[who.count++] =
		    (struct who_suspect){ .item = WHO_NO_ITEM, .node = 1 };
		who_drop_outer(&who, &bounds);
		assert_int_equal(who.count, left + 1);
		for (uint32_t i = 0; i < left; i++)
			assert_int_equal(suspects[i].item, wanted[i]);
		assert_int_equal(suspects[left].item, WHO_NO_ITEM);
	}
}

/* One in another: of each only the last is left. */
static void
many_of_one_node_take_little_time(void **state)
{
	const struct straggler_bounds bounds = { .lost_ns = 8 * SECOND };
	uint32_t count = check_share(MANY, MANY / 4);
	clock_t begin = clock();
	struct who who;

	(void)state;
	for (uint32_t i = 0; i < count; i++)
		items[i] = (struct phases_item){ .begin_ns = i * SECOND,
			.end_ns = (2 * MANY + 20 - i) * SECOND,
			.phase = i };
	who = all_of(count);
	who_drop_outer(&who, &bounds);
	assert_int_equal(who.count, 1);
	assert_int_equal(suspects[0].item, count - 1);
	/* Each with each other takes a tenth of a second, each pair with each
	 * other a minute. */
	assert_true((clock() - begin) / CLOCKS_PER_SEC < 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_around_others_lost_only_the_rest),
		cmocka_unit_test(many_of_one_node_take_little_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
