/*
 * web_url - what is in the target of a request; texts decoded by hand.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/answers.h"

#include "tests/unit/check.h"

static struct web_url url;

static int
parse(const char *target, struct err *err)
{
	err_clear(err);
	return web_url_parse(&url, text_of(target), err);
}

static void
segments_and_parameters_are_decoded(void **state)
{
	struct err err;

	assert_int_equal(
	    parse("/v1/pools/a%24b%2fc+d/phases?by=node&x=a+b%26%3D&y", &err),
	    0);
	assert_int_equal(url.segment_count, 4);
	assert_string_equal(url.segments[0], "v1");
	/* A plus is a blank in parameters only. */
	assert_string_equal(url.segments[2], "a$b/c+d");
	assert_int_equal(url.parameter_count, 3);
	assert_string_equal(url.parameters[0].name, "by");
	assert_string_equal(url.parameters[0].value, "node");
	assert_string_equal(url.parameters[1].value, "a b&=");
	assert_string_equal(url.parameters[2].name, "y");
	assert_string_equal(url.parameters[2].value, "");
}

static void
empty_parts_stay(void **state)
{
	struct err err;

	assert_int_equal(parse("/", &err), 0);
	assert_int_equal(url.segment_count, 1);
	assert_string_equal(url.segments[0], "");
	assert_int_equal(parse("/a//?&&", &err), 0);
	assert_int_equal(url.segment_count, 3);
	assert_int_equal(url.parameter_count, 0);
}

static void
what_is_wrong_is_named(void **state)
{
	static const struct {
		const char *target, *words;
	} wrong[] = {
		{ "", "does not begin with /" },
		{ "http://x/", "does not begin with /" },
		{ "/%4", "path part '%4' has a % without" },
		{ "/a?b=%zz", "value '%zz' has a % without" },
		{ "/a%00b", "control character" },
		{ "/a?b%0a=1", "control character" },
		{ "/%ff", "not UTF-8" },
		{ "/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h", "more than 16 parts" },
	};
	struct err err;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(parse(wrong[i].target, &err), -1);
		assert_non_null(strstr(err.text, wrong[i].words));
	}
}

static void
bounds_are_kept(void **state)
{
	static char target[WEB_URL_BYTES_MAX + 2];
	struct err err;
	char *at = target;

	memset(target, 'a', sizeof(target) - 1);
	target[0] = '/';
	assert_int_equal(parse(target, &err), -1);
	target[WEB_URL_BYTES_MAX] = '\0';
	assert_int_equal(parse(target, &err), 0);
	at = stpcpy(at, "/?");
	for (int i = 0; i < WEB_URL_PARAMETERS_MAX; i++)
		at = stpcpy(at, "a=b&");
	assert_int_equal(parse(target, &err), 0);
	strcpy(at, "c");
	assert_int_equal(parse(target, &err), -1);
}

static void
what_is_encoded_is_decoded(void **state)
{
	char text[64] = "/";
	struct err err;

	*web_url_encode(text + 1, text_of("a$b/\xc3\xa9 -._~%+")) = '\0';
	assert_string_equal(text, "/a%24b%2f%c3%a9%20-._~%25%2b");
	assert_int_equal(parse(text, &err), 0);
	assert_string_equal(url.segments[0], "a$b/\xc3\xa9 -._~%+");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_and_parameters_are_decoded),
		cmocka_unit_test(empty_parts_stay),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(bounds_are_kept),
		cmocka_unit_test(what_is_encoded_is_decoded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
