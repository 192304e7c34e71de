/*
 * xml - elements come with their paths and texts, and no more than there may
 * be.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/xml.h"

#include "tests/unit/check.h"

static char seen[4096];

static int
on_element(void *arg, const char *path, struct text value, struct err *err)
{
	size_t used = strlen(seen);

	snprintf(seen + used, sizeof(seen) - used, "%s=%.*s;", path,
	    (int)value.bytes, value.at);
	return strcmp(path, "a/stop") == 0 ? err_set(err, "enough") : 0;
}

static int
read_all(const char *body, struct err *err)
{
	seen[0] = err->text[0] = '\0';
	return xml_read(text_of(body), on_element, NULL, err);
}

static void
elements_come_when_they_end_with_their_own_text(void **state)
{
	struct err err;

	assert_int_equal(
	    read_all(
		"\xEF\xBB\xBF \r\n<?xml version=\"1.0\"?><a x=\"1\"><b>1 &lt; "
		"2<!-- no --> &#233;</b><c><d/></c><b><![CDATA[<>]]></b>"
		"</a>",
		&err),
	    0);
	assert_string_equal(seen, "a/b=1 < 2 \xC3\xA9;a/c/d=;a/c=;a/b=<>;a=;");
}

static void
who_reads_may_end_it(void **state)
{
	struct err err;

	assert_int_equal(read_all("<a><stop/><b/></a>", &err), -1);
	assert_string_equal(err.text, "enough");
	assert_string_equal(seen, "a/stop=;");
}

static void
depth_names_and_texts_have_limits(void **state)
{
	char body[6000];
	struct err err;
	size_t used = 0;

	for (int i = 0; i < XML_DEPTH_MAX; i++)
		used += (size_t)snprintf(body + used, 8, "<a>");
	for (int i = 0; i < XML_DEPTH_MAX; i++)
		used += (size_t)snprintf(body + used, 8, "</a>");
	assert_int_equal(read_all(body, &err), 0);
	used = 0;
	for (int i = 0; i <= XML_DEPTH_MAX; i++)
		used += (size_t)snprintf(body + used, 8, "<a>");
	for (int i = 0; i <= XML_DEPTH_MAX; i++)
		used += (size_t)snprintf(body + used, 8, "</a>");
	assert_int_equal(read_all(body, &err), -1);
	assert_non_null(strstr(err.text, "too deep"));
	snprintf(body, sizeof(body), "<a>%04096d</a>", 1);
	assert_int_equal(read_all(body, &err), 0);
	snprintf(body, sizeof(body), "<a>%04097d</a>", 1);
	assert_int_equal(read_all(body, &err), -1);
	assert_non_null(strstr(err.text, "4096"));
}

static void
entities_of_others_are_not_read(void **state)
{
	struct err err;

	assert_int_equal(
	    read_all("<!DOCTYPE a [<!ENTITY b \"bbbbbb\">]><a>&b;</a>", &err),
	    -1);
	assert_non_null(strstr(err.text, "document type"));
	assert_string_equal(seen, "");
}

static void
what_is_escaped_is_read_as_it_was(void **state)
{
	static const char hard[] = "<a&b>\"c'";
	char escaped[100], body[200];
	struct err err;

	assert_int_equal(
	    xml_escape(escaped, sizeof(escaped), text_of(hard)), 28);
	assert_string_equal(escaped, "&lt;a&amp;b&gt;&quot;c&apos;");
	snprintf(body, sizeof(body), "<a>%s</a>", escaped);
	assert_int_equal(read_all(body, &err), 0);
	assert_string_equal(seen, "a=<a&b>\"c';");
	assert_int_equal(xml_escape(escaped, 5, text_of("&")), 0);
	assert_int_equal(xml_escape(escaped, 6, text_of("&")), 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    elements_come_when_they_end_with_their_own_text),
		cmocka_unit_test(who_reads_may_end_it),
		cmocka_unit_test(depth_names_and_texts_have_limits),
		cmocka_unit_test(entities_of_others_are_not_read),
		cmocka_unit_test(what_is_escaped_is_read_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
