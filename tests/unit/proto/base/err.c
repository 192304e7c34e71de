/*
 * err - sentences that fit, and their contexts.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/err.h"

#include "tests/unit/check.h"

static void
a_failing_call_ends_in_minus_one_and_a_sentence(void **state)
{
	struct err err;

	assert_int_equal(err_set(&err, "%s: %d", "map", 7), -1);
	assert_string_equal(err.text, "map: 7");
	assert_int_equal(err.code, ERR_FAILED);
	assert_int_equal(err_set(NULL, "nobody asked"), -1);
}

static void
a_context_stands_in_front(void **state)
{
	struct err err;

	err_set(&err, "no room");
	assert_int_equal(err_prefix(&err, "%s:%d", "conf", 3), -1);
	assert_string_equal(err.text, "conf:3: no room");
	assert_int_equal(err_prefix(NULL, "x"), -1);
}

static void
a_code_says_what_the_sentence_need_not(void **state)
{
	struct err err = { 0 };

	assert_int_equal(err.code, ERR_NONE);
	assert_int_equal(
	    err_set_code(&err, ERR_INTERRUPTED, "%s: interrupted", "x"), -1);
	err_prefix(&err, "upload");
	assert_string_equal(err.text, "upload: x: interrupted");
	assert_int_equal(err.code, ERR_INTERRUPTED);
	err_set(&err, "no room");
	assert_int_equal(err.code, ERR_FAILED);
	err_clear(&err);
	assert_int_equal(err.code, ERR_NONE);
	assert_string_equal(err.text, "");
	assert_int_equal(err_set_code(NULL, ERR_INTERRUPTED, "x"), -1);
}

static void
an_option_that_is_wrong_is_named(void **state)
{
	struct err err = { 0 };

	assert_int_equal(err_set_option(&err, "queue", "is at most %d", 9), -1);
	assert_string_equal(err.text, "--queue is at most 9");
	assert_int_equal(err.code, ERR_OPTION);
	assert_string_equal(err.option, "queue");
	err_set(&err, "is not a time");
	assert_null(err.option);
	assert_int_equal(err_prefix_option(&err, "ts"), -1);
	assert_string_equal(err.text, "--ts: is not a time");
	assert_int_equal(err.code, ERR_OPTION);
	assert_string_equal(err.option, "ts");
	assert_int_equal(err_set_option(NULL, "queue", "x"), -1);
	assert_int_equal(err_prefix_option(NULL, "queue"), -1);
}

static void
what_is_too_long_is_cut_and_still_a_text(void **state)
{
	char longer[2 * ERR_BYTES];
	struct err err;

	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	err_set(&err, "%s", longer);
	assert_int_equal(strlen(err.text), ERR_BYTES - 1);
	err_prefix(&err, "front");
	assert_int_equal(strlen(err.text), ERR_BYTES - 1);
	assert_memory_equal(err.text, "front: aaa", 10);
	err_prefix(&err, "%s", longer);
	assert_int_equal(strlen(err.text), ERR_BYTES - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_failing_call_ends_in_minus_one_and_a_sentence),
		cmocka_unit_test(a_context_stands_in_front),
		cmocka_unit_test(a_code_says_what_the_sentence_need_not),
		cmocka_unit_test(an_option_that_is_wrong_is_named),
		cmocka_unit_test(what_is_too_long_is_cut_and_still_a_text),
	};

	return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
