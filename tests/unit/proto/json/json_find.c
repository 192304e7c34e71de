/*
 * json_find - values inside a text, worked out by hand.
 * SPDX-License-Identifier: MIT
 */
#include "proto/json/json_find.h"

#include "tests/unit/check.h"

#include <stdlib.h>

static void
assert_is(struct text value, const char *wanted)
{
	struct text text = text_of(wanted);

	assert_int_equal(value.bytes, text.bytes);
	assert_memory_equal(value.at, wanted, text.bytes);
}

static struct text
root_of(const char *text)
{
	return json_find_root(text_of(text));
}

static void
a_member_is_found_by_its_decoded_name(void **state)
{
	struct text root = root_of(
	    " {\"a\": {\"b\": [1, \"x\"], \"c\": null}, \"\\u0061b\" : -1e5,"
	    "\"a.b/c\": \"\"}\n");

	assert_is(json_find(json_find(root, "a"), "b"), "[1, \"x\"]");
	assert_is(json_find(json_find(root, "a"), "c"), "null");
	assert_is(json_find(root, "ab"), "-1e5");
	assert_is(json_find(root, "a.b/c"), "\"\"");
	/* Not of the object inside, nor a part of a name. */
	assert_int_equal(json_find(root, "b").bytes, 0);
	assert_int_equal(json_find(root, "").bytes, 0);
	/* Nothing is in what is no object. */
	assert_int_equal(json_find(json_find(root, "ab"), "a").bytes, 0);
	assert_int_equal(json_find(json_find(root, "z"), "a").bytes, 0);
	/* 32 letters, each of six bytes. */
	root = root_of("{\"\\u0061\\u0061\\u0061\\u0061\\u0061\\u0061\\u0061"
		       "\\u0061\\u0061\\u0061\\u0061\\u0061\\u0061\\u0061"
		       "\\u0061\\u0061\\u0061\\u0061\\u0061\\u0061\\u0061"
		       "\\u0061\\u0061\\u0061\\u0061\\u0061\\u0061\\u0061"
		       "\\u0061\\u0061\\u0061\\u0061\": 7}");
	assert_is(json_find(root, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), "7");
}

static void
what_is_no_object_has_nothing(void **state)
{
	static const char *const wrong[] = { "", " ", "[1]", "\"a\"", "1",
		"null", "{", "{\"a\": 1", "{\"a\": 1}}", "{\"a\": 1} 2",
		"{\"a\": 1, \"a\": 2}", "{\"a\": NaN}", "{\"a\": \"\\u0000\"}",
		"{\"a\": \"\\ud800\"}", "{\"a\": \"\xC3\"}", "{\"a\": 1,}",
		"<html>", NULL };
	char deep[200] = "";

	for (int i = 0; wrong[i] != NULL; i++)
		if (root_of(wrong[i]).bytes > 0)
			fail_msg("%s is taken", wrong[i]);
	for (int i = 0; i < 64; i++)
		strcat(deep, i == 0 ? "{\"a\":" : "[");
	assert_int_equal(root_of(deep).bytes, 0);
}

static void
items_of_a_list_come_in_their_order(void **state)
{
	struct text root = root_of(
	    "{\"a\": [ 1 , [2, [3]],\t{\"b\": [4]},\n\"]\" ], \"e\": [ ],"
	    "\"n\": [[[]]]}");
	struct text list = json_find(root, "a"), item;

	assert_true(json_find_item(&list, &item));
	assert_is(item, "1");
	assert_true(json_find_item(&list, &item));
	assert_is(item, "[2, [3]]");
	assert_true(json_find_item(&list, &item));
	assert_is(json_find(item, "b"), "[4]");
	assert_true(json_find_item(&list, &item));
	assert_is(item, "\"]\"");
	assert_false(json_find_item(&list, &item));
	assert_false(json_find_item(&list, &item));
	list = json_find(root, "e");
	assert_false(json_find_item(&list, &item));
	assert_false(json_find_item(&root, &item));
	list = json_find(root, "none");
	assert_false(json_find_item(&list, &item));
	list = json_find(root, "n");
	assert_true(json_find_item(&list, &item));
	assert_is(item, "[[]]");
	assert_false(json_find_item(&list, &item));
}

static void
strings_are_decoded_and_nothing_else_is_one(void **state)
{
	struct text root = root_of(
	    "{\"a\": \"x\\n\\u00e4\\ud83d\\ude00\\/\", \"b\": 5, \"c\": \"\"}");
	char *text = json_find_string(json_find(root, "a"));
	char room[40];

	assert_string_equal(text, "x\n\xC3\xA4\xF0\x9F\x98\x80/");
	free(text);
	assert_true(json_find_string_into(room, json_find(root, "a")));
	assert_string_equal(room, "x\n\xC3\xA4\xF0\x9F\x98\x80/");
	text = json_find_string(json_find(root, "c"));
	assert_string_equal(text, "");
	free(text);
	assert_null(json_find_string(json_find(root, "b")));
	assert_null(json_find_string(json_find(root, "d")));
	assert_null(json_find_string(root));
	assert_true(json_find_is(json_find(root, "c"), ""));
	assert_true(
	    json_find_is(json_find(root, "a"), "x\n\xC3\xA4\xF0\x9F\x98\x80/"));
	assert_false(json_find_is(json_find(root, "a"), "x"));
	assert_false(json_find_is(json_find(root, "b"), "5"));
	assert_false(json_find_is(json_find(root, "d"), ""));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_member_is_found_by_its_decoded_name),
		cmocka_unit_test(what_is_no_object_has_nothing),
		cmocka_unit_test(items_of_a_list_come_in_their_order),
		cmocka_unit_test(strings_are_decoded_and_nothing_else_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
