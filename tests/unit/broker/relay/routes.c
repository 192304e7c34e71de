/*
 * Tests of broker/relay/routes.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "broker/relay/routes.h"

static void
the_first_pattern_that_matches_wins(void **state)
{
	struct routes routes = { .count = 0 };
	struct err err;

	assert_int_equal(routes_parse(&routes, "a$x=tcp://one:1", &err), 0);
	assert_int_equal(routes_parse(&routes, "a$*=tcp://two:1", &err), 0);
	assert_int_equal(routes_parse(&routes, "*$x=tcp://one:1", &err), 0);
	assert_int_equal(routes.targets, 2);
	assert_int_equal(routes_find(&routes, text_of("a$x")), 0);
	assert_int_equal(routes_find(&routes, text_of("a$y")), 1);
	assert_int_equal(routes_find(&routes, text_of("b$x")), 0);
	assert_int_equal(routes_find(&routes, text_of("b$y")), -1);
	assert_int_equal(routes_find(&routes, text_of("")), -1);
	assert_int_equal(
	    routes_add(&routes, text_of("*"), "tcp://three:1", &err), 0);
	assert_int_equal(routes_find(&routes, text_of("b$y")), 2);
	assert_int_equal(routes_find(&routes, text_of("")), 2);
	assert_string_equal(routes.endpoint[2], "tcp://three:1");
}

static void
a_partition_may_have_an_equals_sign(void **state)
{
	struct routes routes = { .count = 0 };
	struct err err;

	assert_int_equal(routes_parse(&routes, "a=b$c=tcp://one:1", &err), 0);
	assert_int_equal(routes_find(&routes, text_of("a=b$c")), 0);
	assert_string_equal(routes.endpoint[0], "tcp://one:1");
}

static void
wrong_rules_are_refused(void **state)
{
	struct routes routes = { .count = 0 };
	struct err err;

	assert_int_equal(routes_parse(&routes, "", &err), -1);
	assert_int_equal(routes_parse(&routes, "a", &err), -1);
	assert_int_equal(routes_parse(&routes, "=tcp://one:1", &err), -1);
	assert_int_equal(routes_parse(&routes, "a=", &err), -1);
	assert_int_equal(routes_parse(&routes, "\x01=tcp://one:1", &err), -1);
	assert_int_equal(routes_parse(&routes, "\xff=tcp://one:1", &err), -1);
	assert_int_equal(routes.count, 0);
}

static void
the_table_has_an_end(void **state)
{
	struct routes routes = { .count = 0 };
	char endpoint[32], large[ENDPOINT_BYTES_MAX + 1];
	struct err err;
	int i;

	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	assert_int_equal(routes_add(&routes, text_of("a"), large, &err), -1);
	for (i = 0; i < ROUTES_TARGETS_MAX; i++) {
		snprintf(endpoint, sizeof(endpoint), "tcp://a:%d", i);
		assert_int_equal(
		    routes_add(&routes, text_of("a"), endpoint, &err), 0);
	}
	assert_int_equal(
	    routes_add(&routes, text_of("a"), "tcp://b:1", &err), -1);
	assert_non_null(strstr(err.text, "aggregators"));
	while (routes.count < ROUTES_MAX)
		routes_add(&routes, text_of("a"), "tcp://a:1", &err);
	assert_int_equal(
	    routes_add(&routes, text_of("a"), "tcp://a:1", &err), -1);
	assert_non_null(strstr(err.text, "routes"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_pattern_that_matches_wins),
		cmocka_unit_test(a_partition_may_have_an_equals_sign),
		cmocka_unit_test(wrong_rules_are_refused),
		cmocka_unit_test(the_table_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
