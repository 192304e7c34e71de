/*
 * top_history - an hour of snapshots within a bound, and bars of the last
 * minutes.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/history.h"

#include "proto/os/clock.h"
#include "tests/unit/exporters/top/made.h"

#define SECOND NS_PER_SECOND

static void
add(struct history *history, int64_t seconds, uint32_t nodes)
{
	struct top_snapshot *snapshot = made_snapshot(seconds * SECOND, nodes);

	history_add(history, snapshot);
	top_snapshot_drop(&snapshot);
}

static void
check_order(const struct history *history, int64_t newest)
{
	assert_true(history->bytes <= HISTORY_BYTES);
	assert_true(history->count <= HISTORY_SNAPSHOTS_MAX);
	assert_int_equal(
	    history->at[history->count - 1]->taken_ns, newest * SECOND);
	for (uint32_t i = 1; i < history->count; i++)
		assert_true(
		    history->at[i]->taken_ns > history->at[i - 1]->taken_ns);
}

static void
an_hour_of_a_small_pool_is_kept_within_the_bound(void **state)
{
	struct history history = { .count = 0 };
	int64_t widest = 0;

	for (int64_t i = 1; i <= 3 * 3600; i++)
		add(&history, i, 60);
	check_order(&history, 3 * 3600);
	/* The oldest one is an hour old, and gaps are small. */
	assert_true(3 * 3600 * SECOND - history.at[0]->taken_ns <=
		    HISTORY_NS + 60 * SECOND);
	assert_true(3 * 3600 * SECOND - history.at[0]->taken_ns >
		    HISTORY_NS - 60 * SECOND);
	for (uint32_t i = 1; i < history.count; i++) {
		int64_t gap =
		    history.at[i]->taken_ns - history.at[i - 1]->taken_ns;

		widest = gap > widest ? gap : widest;
	}
	assert_true(widest <= 32 * SECOND);
	history_clear(&history);
}

static void
of_a_large_pool_fewer_are_kept(void **state)
{
	struct history history = { .count = 0 };

	for (int64_t i = 1; i <= 400; i++)
		add(&history, i, 5000);
	check_order(&history, 400);
	assert_true(history.count >= 3);
	assert_int_equal(history.at[0]->taken_ns, SECOND);
	history_clear(&history);
}

static void
the_one_of_a_moment_is_found(void **state)
{
	struct history history = { .count = 0 };

	assert_null(history_find(&history, 5));
	assert_null(history_step(&history, 5, 1));
	add(&history, 10, 1);
	add(&history, 20, 1);
	add(&history, 30, 1);
	assert_int_equal(
	    history_find(&history, 25 * SECOND)->taken_ns, 20 * SECOND);
	assert_int_equal(
	    history_find(&history, 20 * SECOND)->taken_ns, 20 * SECOND);
	assert_int_equal(history_find(&history, 1)->taken_ns, 10 * SECOND);
	assert_int_equal(
	    history_step(&history, 20 * SECOND, -1)->taken_ns, 10 * SECOND);
	assert_int_equal(
	    history_step(&history, 20 * SECOND, 1)->taken_ns, 30 * SECOND);
	assert_null(history_step(&history, 30 * SECOND, 1));
	assert_null(history_step(&history, 10 * SECOND, -1));
	history_clear(&history);
}

/* Seven-digit times and so on differ in the fourth digit at most. */
static void
packed_rows_are_those_of_before(void **state)
{
	struct top_snapshot *snapshot = made_snapshot(SECOND, 3);
	struct top_node *nodes = snapshot->nodes, got;
	const float numbers[] = { 0, 4e-6f, 0.494f, 1, 61.25f, 86399, 3.5e9f,
		8e12f };

	nodes[0] = (struct top_node){ .age = NAN,
		.clock = -1.25e-4f,
		.phase = 70001,
		.condition = 3,
		.attention = 1u << ATTENTION_SPOOL };
	nodes[1] = (struct top_node){ .clock = NAN,
		.phase = TOP_NO_PHASE,
		.attention = 1u << ATTENTION_CLOCK };
	nodes[2].age = 1;
	top_snapshot_pack(snapshot);
	assert_null(snapshot->nodes);
	got = top_snapshot_node(snapshot, 0);
	assert_true(isnan(got.age) && got.clock == -1.25e-4f);
	assert_int_equal(got.phase, 70001);
	assert_int_equal(got.condition, 3);
	assert_int_equal(got.attention, 1u << ATTENTION_SPOOL);
	got = top_snapshot_node(snapshot, 1);
	assert_true(isnan(got.clock));
	assert_int_equal(got.attention, 1u << ATTENTION_CLOCK);
	assert_int_equal(got.phase, TOP_NO_PHASE);
	top_snapshot_unpack(snapshot);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		free(snapshot->packed);
		snapshot->packed = NULL;
		snapshot->nodes[2].receive = numbers[i];
		top_snapshot_pack(snapshot);
		top_snapshot_unpack(snapshot);
		assert_true(fabsf(snapshot->nodes[2].receive - numbers[i]) <=
			    numbers[i] / 2000);
	}
	top_snapshot_drop(&snapshot);
}

/* n1 uses 0, 25, 50, 75, 100 % at 0, 15, 30, 45, 60 s: of 8 bars the first 3
 * are unknown, and half of all is the 4th or 5th of 8 heights.  In the phase
 * are 0, 10, 20, 30, 40 nodes. */
static void
bars_are_what_was(void **state)
{
	struct history history = { .count = 0 };
	struct top_snapshot *shown = NULL;
	char bars[TREND_BYTES];
	struct trend trend;

	for (int i = 0; i <= 4; i++) {
		top_snapshot_drop(&shown);
		shown = made_snapshot((1 + 15 * i) * SECOND, 2);
		shown->nodes[1].cpu = (float)i / 4;
		shown->phases = memory_zero(1, sizeof(*shown->phases));
		shown->phase_count = i > 0;
		snprintf(
		    shown->phases->label, sizeof(shown->phases->label), "pull");
		shown->phases->open = 10 * i;
		history_add(&history, shown);
	}
	trend_begin(&trend, &history, shown);
	assert_int_equal(trend.step_ns, 15 * SECOND);
	assert_string_equal(
	    trend_row(bars, &trend, &view_nodes, 1, true), "   _:=*#");
	assert_string_equal(
	    trend_row(bars, &trend, &view_nodes, 1, false), "   ▁▃▅▇█");
	assert_string_equal(
	    trend_row(bars, &trend, &view_nodes, 0, true), "        ");
	assert_string_equal(trend_phase(bars, &trend, "pull", true), "_:=*#");
	top_snapshot_drop(&shown);
	history_clear(&history);
}

/* Of a count its growth: 10, 10, unknown because it was not read, then 40 in
 * twice the time, and none. */
static void
bars_of_a_count_are_its_growth(void **state)
{
	static const int64_t read_s[] = { 0, 15, 30, 30, 60, 75 };
	static const uint64_t records[] = { 100, 110, 120, 120, 160, 160 };
	struct history history = { .count = 0 };
	struct top_snapshot *shown = NULL;
	char bars[TREND_BYTES];
	struct trend trend;

	for (int i = 0; i < 6; i++) {
		top_snapshot_drop(&shown);
		shown = made_snapshot((1 + 15 * i) * SECOND, 0);
		shown->pools = top_pools_new();
		shown->pools->read_ns = read_s[i] * SECOND;
		shown->pools->pools.at =
		    memory_zero(1, sizeof(*shown->pools->pools.at));
		shown->pools->pools.count = 1;
		shown->pools->pools.at->partition.records = records[i];
		history_add(&history, shown);
	}
	trend_begin(&trend, &history, shown);
	/* 10 in 15 s is half of the greatest: 40 in 30 s. */
	assert_string_equal(
	    trend_row(bars, &trend, &view_pools, 0, true), "   ===#_");
	top_snapshot_drop(&shown);
	history_clear(&history);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    an_hour_of_a_small_pool_is_kept_within_the_bound),
		cmocka_unit_test(of_a_large_pool_fewer_are_kept),
		cmocka_unit_test(packed_rows_are_those_of_before),
		cmocka_unit_test(the_one_of_a_moment_is_found),
		cmocka_unit_test(bars_are_what_was),
		cmocka_unit_test(bars_of_a_count_are_its_growth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
