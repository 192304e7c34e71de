/*
 * trace_context - the examples and rules of the W3C's Trace Context.
 * SPDX-License-Identifier: MIT
 */
#include "agents/client/trace_context.h"

#include "tests/unit/check.h"

#define ID   "0af7651916cd43dd8448eb211c80319c"
#define SPAN "b7ad6b7169203331"

static void
a_good_text_is_taken_apart_and_put_together(void **state)
{
	static const unsigned char id[TRACE_CONTEXT_BYTES] = { 0x0a, 0xf7, 0x65,
		0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21, 0x1c,
		0x80, 0x31, 0x9c };
	char text[TRACE_CONTEXT_PARENT_BYTES];
	struct trace_context trace_context;

	assert_true(
	    trace_context_parse(&trace_context, "00-" ID "-" SPAN "-01"));
	assert_memory_equal(trace_context.id, id, sizeof(id));
	assert_true(trace_context.span == UINT64_C(0xb7ad6b7169203331));
	assert_int_equal(trace_context.flags, 1);
	trace_context_text(text, &trace_context);
	assert_string_equal(text, "00-" ID "-" SPAN "-01");
	trace_context.flags = 0xfe;
	trace_context.span = 1;
	trace_context_text(text, &trace_context);
	assert_string_equal(text, "00-" ID "-0000000000000001-fe");
}

static void
a_bad_text_changes_nothing(void **state)
{
	static const char *const bad[] = {
		"",
		"00",
		"00-" ID "-" SPAN,
		"00-" ID "-" SPAN "-0",
		"00-" ID "-" SPAN "-01-",
		"00-" ID "-" SPAN "-01-more",
		"00-" ID "-" SPAN "-011",
		"00-" ID "-" SPAN "-01 ",
		" 00-" ID "-" SPAN "-01",
		"ff-" ID "-" SPAN "-01",
		"0x-" ID "-" SPAN "-01",
		"FE-" ID "-" SPAN "-01",
		"00_" ID "-" SPAN "-01",
		"00-" ID "_" SPAN "-01",
		"00-" ID "-" SPAN "_01",
		"00-0AF7651916CD43DD8448EB211C80319C-" SPAN "-01",
		"00-" ID "-B7AD6B7169203331-01",
		"00-" ID "-" SPAN "-0G",
		"00-00000000000000000000000000000000-" SPAN "-01",
		"00-" ID "-0000000000000000-01",
		"cc-" ID "-" SPAN "-01x",
		"cc-" ID "-" SPAN "-01.what",
	};
	struct trace_context before = { .span = 7, .flags = 3 }, trace = before;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (trace_context_parse(&trace, bad[i]))
			fail_msg("taken: '%s'", bad[i]);
		assert_memory_equal(&trace, &before, sizeof(trace));
	}
}

static void
a_later_version_may_say_more(void **state)
{
	struct trace_context trace_context;

	assert_true(
	    trace_context_parse(&trace_context, "cc-" ID "-" SPAN "-01"));
	assert_true(trace_context_parse(
	    &trace_context, "cc-" ID "-" SPAN "-01-what-ever"));
	assert_true(trace_context.span == UINT64_C(0xb7ad6b7169203331));
}

static void
no_two_random_traces_are_alike(void **state)
{
	struct trace_context a, b;

	trace_context_random(&a);
	trace_context_random(&b);
	assert_memory_not_equal(a.id, b.id, TRACE_CONTEXT_BYTES);
	assert_true(a.span == 0);
	assert_int_equal(a.flags, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_text_is_taken_apart_and_put_together),
		cmocka_unit_test(a_bad_text_changes_nothing),
		cmocka_unit_test(a_later_version_may_say_more),
		cmocka_unit_test(no_two_random_traces_are_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
