/*
 * labels - which texts are labels; worked out by hand from proto/wire.md,
 * "Labels".
 * SPDX-License-Identifier: MIT
 */
#include "proto/metric/labels.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/check.h"

static int
check_text(const char *text)
{
	struct err err = { 0 };
	int rc = labels_check(text_of(text), &err);

	assert_int_equal(rc == 0, err.text[0] == '\0');
	return rc;
}

#define X16  "xxxxxxxxxxxxxxxx"
#define X128 X16 X16 X16 X16 X16 X16 X16 X16

static void
labels_are_an_object_of_texts(void **state)
{
	static const char *const labels[] = {
		"{\"rank\":\"3\"}",
		"{\"a\":\"1\",\"b\":\"2\"}",
		"{\"\xc3\xa9\":\"\xe2\x82\xac\"}",
		"{\"a\":\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\"}",
		"{\"a\":\"" X128 "\"}",
		"{\"a\":\"[[{}]]\"}",
		"{\"a\":\"1\",\"a\xc3\xa9\":\"2\",\"aa\":\"3\"}",
	};

	for (size_t i = 0; i < 6; i++)
		assert_int_equal(check_text(labels[i]), 0);
	/* 0xc3 is greater than 'a'. */
	assert_int_equal(check_text(labels[6]), -1);
}

static void
anything_else_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"x",
		"{}",
		"{",
		"[]",
		"null",
		"\"a\"",
		"{\"a\":1}",
		"{\"a\":null}",
		"{\"a\":{\"b\":\"c\"}}",
		"{\"a\":[\"b\"]}",
		"{\"a\":\"1\"",
		"{\"a\":\"1\"}}",
		"{\"a\":\"1\",}",
		"{\"a\"}",
		"{\"a\":\"1\"}\n",
		" {\"a\":\"1\"}",
		"{ \"a\":\"1\"}",
		"{\"a\": \"1\"}",
		"{\"a\":\"1\", \"b\":\"2\"}",
		/* Not sorted, twice, empty, too long. */
		"{\"b\":\"1\",\"a\":\"2\"}",
		"{\"a\":\"1\",\"a\":\"2\"}",
		"{\"a\":\"\"}",
		"{\"\":\"1\"}",
		"{\"a\":\"" X128 "x\"}",
		"{\"" X128 "x\":\"1\"}",
		/* Another way to write a character, or none. */
		"{\"a\":\"\\/\"}",
		"{\"a\":\"\\u0041\"}",
		"{\"a\":\"\\u000a\"}",
		"{\"a\":\"\\u001F\"}",
		"{\"a\":\"\\u00e9\"}",
		"{\"a\":\"\\ud800\"}",
		"{\"a\":\"\n\"}",
		"{\"a\":\"\\x\"}",
		"{\"a\":\"\\",
		"{\"a\":\"\\u00",
		"{\"a\":\"\xff\"}",
		"{\"a\nb\":\"1\"}",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (check_text(wrong[i]) == 0)
			fail_msg("'%s' was taken", wrong[i]);
}

static void
there_are_at_most_sixteen(void **state)
{
	char text[400] = "{", *end = text + 1;

	for (int i = 0; i < 17; i++) {
		end +=
		    sprintf(end, "%s\"%c\":\"1\"", i > 0 ? "," : "", 'a' + i);
		strcpy(end, "}");
		assert_int_equal(check_text(text), i < 16 ? 0 : -1);
	}
}

/* A text of 30,000 brackets costs no stack. */
static void
brackets_do_not_nest(void **state)
{
	char *text = malloc(30001);

	for (int i = 0; i < 30000; i++)
		text[i] = "{["[i % 2];
	text[30000] = '\0';
	assert_int_equal(check_text(text), -1);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_are_an_object_of_texts),
		cmocka_unit_test(anything_else_is_refused),
		cmocka_unit_test(there_are_at_most_sixteen),
		cmocka_unit_test(brackets_do_not_nest),
	};

	return cmocka_run_group_tests_name("labels", tests, NULL, NULL);
}
