/*
 * top_state - what keys do, what is kept of the last hour, and links.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/state.h"

#include "proto/os/clock.h"
#include "tests/unit/exporters/top/made.h"

#define SECOND NS_PER_SECOND

static struct top_state top;

static int
begin(void **state)
{
	top_state_init(&top, VIEW_NODES);
	top_state_take(&top, made_snapshot(SECOND, 30));
	top_state_fit(&top, 10);
	return 0;
}

static int
end(void **state)
{
	top_state_clear(&top);
	return 0;
}

static void
type(const char *keys)
{
	for (; *keys != '\0'; keys++) {
		top_state_key(&top, (uint32_t)*keys);
		top_state_fit(&top, 10);
	}
}

static void
press(uint32_t key)
{
	top_state_key(&top, key);
	top_state_fit(&top, 10);
}

static uint32_t
row(void)
{
	uint32_t at;

	assert_true(top_state_row(&top, &at));
	return at;
}

static void
the_cursor_stays_within_the_rows(void **state)
{
	assert_int_equal(row(), 0);
	type("k");
	assert_int_equal(row(), 0);
	type("jjj");
	assert_int_equal(row(), 3);
	press(TOP_KEY_PAGE_DOWN);
	assert_int_equal(row(), 13);
	assert_int_equal(top.of[VIEW_NODES].first, 4);
	type("G");
	assert_int_equal(row(), 29);
	assert_int_equal(top.of[VIEW_NODES].first, 20);
	type("j");
	assert_int_equal(row(), 29);
	type("g");
	assert_int_equal(row(), 0);
	assert_int_equal(top.of[VIEW_NODES].first, 0);
}

static void
the_cursor_stays_at_its_node(void **state)
{
	struct top_snapshot *next = made_snapshot(2 * SECOND, 30);

	type("jjjjj");
	assert_int_equal(row(), 5);
	next->nodes[20].condition = NODE_GONE;
	top_state_take(&top, next);
	top_state_fit(&top, 10);
	/* The node that is gone is on top of all others. */
	assert_int_equal(top.rows[0], 20);
	assert_int_equal(top.of[VIEW_NODES].cursor, 6);
	assert_int_equal(row(), 5);
}

static void
a_filter_is_typed(void **state)
{
	type("/n2q");
	assert_int_equal(top.mode, MODE_FILTER);
	assert_false(top.quits);
	assert_int_equal(top.count, 0);
	press(TOP_KEY_ERASE);
	/* n2, n20 to n29 */
	assert_int_equal(top.count, 11);
	press(TOP_KEY_ENTER);
	assert_int_equal(top.mode, MODE_TABLE);
	assert_int_equal(top.count, 11);
	press(TOP_KEY_ESCAPE);
	assert_int_equal(top.count, 30);
	type("/");
	for (int i = 0; i < 2 * FILTER_BYTES; i++)
		press(0x7BC0); /* three bytes */
	assert_true(strlen(top.of[VIEW_NODES].filter) <= FILTER_BYTES);
	assert_true(text_is_utf8(text_of(top.of[VIEW_NODES].filter)));
	press(TOP_KEY_ESCAPE);
	assert_int_equal(top.count, 30);
	type("q");
	assert_true(top.quits);
}

static void
views_and_columns_come_in_turn(void **state)
{
	struct view_column columns[VIEW_COLUMNS_MAX];
	uint32_t count = view_nodes.columns(top.shown, columns);
	int before = top.of[VIEW_NODES].column;

	for (uint32_t i = 0; i < count; i++)
		type("s");
	assert_int_equal(top.of[VIEW_NODES].column, before);
	type("v");
	assert_int_equal(top.view, VIEW_RUNS);
	type("hh");
	assert_int_equal(top.view, VIEW_PIPELINE);
	type("s3");
	assert_int_equal(top.view, VIEW_POOLS);
	press(TOP_KEY_ENTER);
	assert_false(top.opens_pool); /* there is none */
	type("1");
	press(TOP_KEY_ENTER);
	assert_int_equal(top.mode, MODE_DETAIL);
	press(TOP_KEY_ESCAPE);
	assert_int_equal(top.mode, MODE_TABLE);
}

static void
time_is_walked_back_and_forward(void **state)
{
	for (int i = 2; i <= 100; i++)
		top_state_take(&top, made_snapshot(i * SECOND, 3));
	assert_int_equal(top.shown->taken_ns, 100 * SECOND);
	type("[");
	assert_true(top.is_past);
	assert_int_equal(top.shown->taken_ns, 99 * SECOND);
	type("{");
	assert_int_equal(top.shown->taken_ns, 39 * SECOND);
	/* What comes is kept, and not shown. */
	top_state_take(&top, made_snapshot(101 * SECOND, 3));
	assert_int_equal(top.shown->taken_ns, 39 * SECOND);
	type("]");
	assert_int_equal(top.shown->taken_ns, 40 * SECOND);
	type("}}");
	assert_false(top.is_past);
	assert_int_equal(top.shown->taken_ns, 101 * SECOND);
	/* The oldest one has nothing before it. */
	type("{{{{{[");
	assert_int_equal(top.shown->taken_ns, SECOND);
	type(" ");
	assert_false(top.is_past);
	assert_int_equal(top.shown->taken_ns, 101 * SECOND);
	type(" ");
	assert_true(top.is_stopped);
	top_state_take(&top, made_snapshot(102 * SECOND, 3));
	assert_int_equal(top.shown->taken_ns, 101 * SECOND);
	type(" ");
	assert_int_equal(top.shown->taken_ns, 102 * SECOND);
}

/* As after Enter in the view of pools. */
static void
another_pool_is_shown_as_it_is_now(void **state)
{
	top_state_take(&top, made_snapshot(2 * SECOND, 3));
	for (const char *key = "[ "; *key != '\0'; key++) {
		press((uint32_t)*key);
		assert_true(top.is_past || top.is_stopped);
		top_state_forget(&top);
		top_state_take(&top, made_snapshot(3 * SECOND, 3));
		top_state_take(&top, made_snapshot(4 * SECOND, 3));
		assert_int_equal(top.shown->taken_ns, 4 * SECOND);
		type("[");
		assert_int_equal(top.shown->taken_ns, 3 * SECOND);
		type("[");
		assert_int_equal(top.shown->taken_ns, 3 * SECOND);
		type(" ");
	}
}

static void
what_was_lost_is_not_kept(void **state)
{
	struct top_snapshot *lost = made_snapshot(2 * SECOND, 30);

	lost->is_lost = true;
	top_state_take(&top, lost);
	assert_true(top.newest->is_lost);
	assert_true(top.shown->is_lost);
	type("[");
	assert_int_equal(top.shown->taken_ns, SECOND);
}

static void
a_link_is_of_what_is_shown(void **state)
{
	struct top_snapshot *snapshot = made_snapshot(SECOND, 3);
	char link[LINK_BYTES];

	snapshot->partition = memory_string("acct$po/ol");
	top_state_init(&top, VIEW_NODES);
	top_state_link(&top, "http://h:1", link);
	assert_string_equal(link, "http://h:1/#/pools");
	top_state_take(&top, snapshot);
	top_state_fit(&top, 10);
	top_state_link(&top, "http://h:1", link);
	assert_string_equal(link, "http://h:1/#/pool/acct%24po%2Fol/map");
	for (const char *key = "/n 2"; *key != '\0'; key++)
		top_state_key(&top, (uint32_t)*key);
	top_state_link(&top, "http://h:1/", link);
	assert_string_equal(
	    link, "http://h:1/#/pool/acct%24po%2Fol/map?node=*n%202*");
	top_state_key(&top, TOP_KEY_ESCAPE);
	top_state_fit(&top, 10);
	top_state_key(&top, TOP_KEY_ENTER);
	top_state_link(&top, "http://h:1/", link);
	assert_string_equal(link, "http://h:1/#/pool/acct%24po%2Fol/node/n0");
	top_state_key(&top, TOP_KEY_ESCAPE);
	top_state_key(&top, '4');
	top_state_link(&top, "http://h:1/", link);
	assert_string_equal(link, "http://h:1/#/status");
	top_state_clear(&top);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    the_cursor_stays_within_the_rows, begin, end),
		cmocka_unit_test_setup_teardown(
		    the_cursor_stays_at_its_node, begin, end),
		cmocka_unit_test_setup_teardown(a_filter_is_typed, begin, end),
		cmocka_unit_test_setup_teardown(
		    views_and_columns_come_in_turn, begin, end),
		cmocka_unit_test_setup_teardown(
		    time_is_walked_back_and_forward, begin, end),
		cmocka_unit_test_setup_teardown(
		    another_pool_is_shown_as_it_is_now, begin, end),
		cmocka_unit_test_setup_teardown(
		    what_was_lost_is_not_kept, begin, end),
		cmocka_unit_test(a_link_is_of_what_is_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
