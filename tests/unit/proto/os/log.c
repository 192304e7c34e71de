/*
 * log - one line an event, whatever is in it.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/log.h"

#include "proto/os/clock.h"

#include "tests/unit/check.h"
#include "tests/unit/stderr_text.h"

static void
say_all(void)
{
	log_error("one");
	log_warn("two %d", 2);
	log_info("three");
	log_debug("four");
}

static void
say_evil(void)
{
	log_error("a\nerror b: \x1B[31mred\x7F");
}

static void
say_long(void)
{
	log_error("%02000d", 0);
}

static void
say_failure(void)
{
	struct err err;

	err_set(&err, "no room");
	log_fail(&err);
}

static void
what_is_below_the_level_is_not_reported(void **state)
{
	log_init("test", LOG_INFO);
	assert_string_equal(stderr_text(say_all),
	    "error test: one\nwarn test: two 2\ninfo test: three\n");
	log_init("test", LOG_ERROR);
	assert_string_equal(stderr_text(say_all), "error test: one\n");
}

static void
a_line_stays_one_line(void **state)
{
	const char *line;

	log_init("test", LOG_INFO);
	assert_string_equal(
	    stderr_text(say_evil), "error test: a?error b: ?[31mred?\n");
	line = stderr_text(say_long);
	assert_int_equal(strlen(line), 1023);
	assert_int_equal(line[1022], '\n');
}

static void
a_failure_is_reported_at_every_level(void **state)
{
	log_init("test", LOG_ERROR);
	assert_string_equal(stderr_text(say_failure), "test: no room\n");
}

static void
a_line_that_others_cause_is_due_once_a_minute(void **state)
{
	int64_t last_ns = 0;

	assert_true(log_is_due(&last_ns));
	assert_false(log_is_due(&last_ns));
	last_ns -= 59 * NS_PER_SECOND;
	assert_false(log_is_due(&last_ns));
	last_ns -= NS_PER_SECOND;
	assert_true(log_is_due(&last_ns));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_below_the_level_is_not_reported),
		cmocka_unit_test(a_line_stays_one_line),
		cmocka_unit_test(a_failure_is_reported_at_every_level),
		cmocka_unit_test(a_line_that_others_cause_is_due_once_a_minute),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
