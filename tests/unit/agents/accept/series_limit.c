/*
 * series_limit - who may define how many series.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/series_limit.h"

#include "proto/os/clock.h"
#include "tests/unit/check.h"

static struct series_limit *limit;
static struct err err;

static int
take(uid_t uid, const char *front, int number, uint32_t columns, int minute)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%d", front, number);
	err_clear(&err);
	return series_limit_take(limit, uid, text_of("acct$pool"),
	    text_of(name), columns, (1 + minute) * 60 * NS_PER_SECOND, &err);
}

static int
begin(void **state)
{
	series_limit_new(&limit);
	return 0;
}

static int
end(void **state)
{
	series_limit_free(&limit);
	return 0;
}

/* A page of Kubernetes has thousands of label sets. */
static void
an_origin_has_as_many_groups_as_series(void **state)
{
	for (int i = 0; i < 10000; i++)
		assert_int_equal(take(1, "prom/", i, 1, 0), 0);
	assert_int_equal(take(1, "prom/", 10000, 1, 0), -1);
	assert_string_equal(err.text,
	    "metric group prom/10000: more than 10000 series of this origin in "
	    "an hour");
	/* Those that are there, other origins and other users go on. */
	assert_int_equal(take(1, "prom/", 9999, 1, 0), 0);
	assert_int_equal(take(1, "emit/", 10000, 1, 0), 0);
	assert_int_equal(take(2, "prom/", 10000, 1, 0), 0);
	assert_int_equal(take(1, "prom", 10000, 1, 0), 0);
}

static void
an_origin_has_10000_series(void **state)
{
	for (int i = 0; i < 10; i++)
		assert_int_equal(take(1, "app/x/", i, 1000 - (i == 9), 0), 0);
	assert_int_equal(take(1, "app/x/", 10, 2, 0), -1);
	assert_string_equal(err.text,
	    "metric group app/x/10: more than 10000 series of this origin in "
	    "an hour");
	assert_int_equal(take(1, "app/x/", 9, 1000, 0), 0);
	assert_int_equal(take(1, "app/x/", 9, 1001, 0), -1);
	/* A beginning of a definition counts as what it was. */
	assert_int_equal(take(1, "app/x/", 9, 1, 0), 0);
	assert_int_equal(take(1, "app/x/", 10, 1, 0), -1);
}

static void
a_node_has_100000_series(void **state)
{
	for (int i = 0; i < 100; i++)
		assert_int_equal(take(1, "wide", i, 1000, 0), 0);
	assert_int_equal(take(3, "other", 1, 1, 0), -1);
	assert_string_equal(err.text,
	    "metric group other1: more than 100000 series of this node in an "
	    "hour");
}

static void
what_was_not_heard_for_an_hour_makes_room(void **state)
{
	for (int i = 0; i < 5000; i++)
		assert_int_equal(take(1, "prom/", i, 2, i % 2 ? 0 : 30), 0);
	assert_int_equal(take(1, "prom/", 5000, 1, 59), -1);
	/* At 62 minutes those of minute 0 are forgotten: 2,500 are left. */
	for (int i = 5000; i < 10000; i++)
		assert_int_equal(take(1, "prom/", i, 1, 62), 0);
	assert_int_equal(take(1, "prom/", 10000, 1, 62), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    an_origin_has_as_many_groups_as_series, begin, end),
		cmocka_unit_test_setup_teardown(
		    an_origin_has_10000_series, begin, end),
		cmocka_unit_test_setup_teardown(
		    a_node_has_100000_series, begin, end),
		cmocka_unit_test_setup_teardown(
		    what_was_not_heard_for_an_hour_makes_room, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
