/*
 * top_trend, top_link - bars of the last minutes, and links.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/trend.h"

#include "exporters/top/link.h"
#include "proto/os/clock.h"
#include "tests/unit/exporters/top/made.h"

#define SECOND NS_PER_SECOND

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

	(void)state;
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

	(void)state;
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

static void
a_link_is_of_what_is_shown(void **state)
{
	struct top_snapshot *snapshot = made_snapshot(SECOND, 3);
	struct top_state top;
	char link[LINK_BYTES];

	(void)state;
	snapshot->partition = memory_string("acct$po/ol");
	top_state_init(&top, VIEW_NODES);
	link_make(link, "http://h:1", &top);
	assert_string_equal(link, "http://h:1/#/pools");
	top_state_take(&top, snapshot);
	top_state_fit(&top, 10);
	link_make(link, "http://h:1", &top);
	assert_string_equal(link, "http://h:1/#/pool/acct%24po%2Fol/map");
	for (const char *key = "/n 2"; *key != '\0'; key++)
		top_state_key(&top, (uint32_t)*key);
	link_make(link, "http://h:1/", &top);
	assert_string_equal(
	    link, "http://h:1/#/pool/acct%24po%2Fol/map?node=*n%202*");
	top_state_key(&top, TOP_KEY_ESCAPE);
	top_state_fit(&top, 10);
	top_state_key(&top, TOP_KEY_ENTER);
	link_make(link, "http://h:1/", &top);
	assert_string_equal(link, "http://h:1/#/pool/acct%24po%2Fol/node/n0");
	top_state_key(&top, TOP_KEY_ESCAPE);
	top_state_key(&top, '4');
	link_make(link, "http://h:1/", &top);
	assert_string_equal(link, "http://h:1/#/status");
	top_state_clear(&top);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bars_are_what_was),
		cmocka_unit_test(bars_of_a_count_are_its_growth),
		cmocka_unit_test(a_link_is_of_what_is_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
