/*
 * opt_value - another configuration while the process runs, and back again.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/opt_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/check.h"

static struct {
	uint64_t free, fixed, given;
	const char *text;
	struct opt_list list;
} values;
static uint64_t refuses; /* what the check does not like */

static const struct opt options[] = {
	{ "free", 0, OPT_COUNT, .to = &values.free, "N", "",
	    .flags = OPT_RELOAD },
	{ "fixed", 0, OPT_COUNT, .to = &values.fixed, "N", "" },
	{ "given", 0, OPT_COUNT, .to = &values.given, "N", "",
	    .flags = OPT_RELOAD },
	{ "text", 0, OPT_TEXT, .to = &values.text, "TEXT", "",
	    .flags = OPT_RELOAD },
	{ "list", 0, OPT_LIST, .to = &values.list, "TEXT", "",
	    .flags = OPT_RELOAD },
	{ .name = NULL },
};
static const struct opt_table tables[] = { { options, NULL },
	{ opt_common, NULL }, { NULL, NULL } };
enum { FREE, FIXED, GIVEN, TEXT, LIST };

static int
check(const void *given, struct err *err)
{
	assert_ptr_equal(given, &values);
	if (values.free == refuses)
		return err_set_option(err, "free", "cannot be that");
	return 0;
}

static const struct opt_program program = { .name = "poolscope-agent",
	.synopsis = "",
	.summary = "",
	.tables = tables,
	.check = check,
	.values = &values };

static char file[] = "/tmp/opt_value.XXXXXX";

static void
put(const char *text)
{
	FILE *out = fopen(file, "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static int
set_up(void **state)
{
	char config[64];
	char *argv[] = { (char[]){ "x" }, (char[]){ "--given=7" }, config,
		(char[]){ "--log=error" }, NULL };
	struct opt_operands operands;

	memset(&values, 0, sizeof(values));
	values.free = 10;
	values.fixed = 20;
	values.text = "default";
	refuses = 99;
	snprintf(file, sizeof(file), "/tmp/opt_value.XXXXXX");
	close(mkstemp(file));
	put("agent { free = \"1\" fixed = \"2\" given = \"3\"\n"
	    " list = {\"a\", \"b\"} }\n");
	snprintf(config, sizeof(config), "--config=%s", file);
	opt_parse(&program, 4, argv, &operands);
	/* Where the configuration is must outlive this function. */
	opt_common_values.config = file;
	return 0;
}

static int
tear_down(void **state)
{
	return remove(file);
}

static void
assert_first_values(void)
{
	assert_int_equal(values.free, 1);
	assert_int_equal(values.fixed, 2);
	assert_int_equal(values.given, 7);
	assert_string_equal(values.text, "default");
	assert_int_equal(values.list.count, 2);
	assert_string_equal(values.list.at[1], "b");
}

static const struct opt_value *
value_of(int row)
{
	const struct opt_value *value;
	uint32_t i = 0;

	do
		value = opt_value_at(i++);
	while (value != NULL && value->opt != &options[row]);
	assert_non_null(value);
	return value;
}

static void
what_may_change_changes(void **state)
{
	struct err err = { 0 };
	char text[64];

	assert_first_values();
	put("\nagent { free = \"5\" fixed = \"6\" given = \"8\"\n"
	    " text = \"new\" list = {\"c\"} }\n");
	assert_int_equal(opt_reload(&program, &err), 0);
	opt_reload_keep();
	assert_int_equal(values.free, 5);
	assert_int_equal(values.fixed, 2);
	assert_int_equal(values.given, 7);
	assert_string_equal(values.text, "new");
	assert_int_equal(values.list.count, 1);
	assert_string_equal(values.list.at[0], "c");
	assert_string_equal(
	    opt_value_origin(value_of(TEXT), text, sizeof(text)) + strlen(file),
	    ":3");
	assert_int_equal(opt_origin(&options[GIVEN]), OPT_COMMAND_LINE);
}

static void
what_is_not_reported_any_more_is_the_default(void **state)
{
	struct err err = { 0 };

	put("");
	assert_int_equal(opt_reload(&program, &err), 0);
	opt_reload_keep();
	assert_int_equal(values.free, 10);
	assert_int_equal(values.fixed, 2);
	assert_int_equal(values.list.count, 0);
	assert_int_equal(opt_origin(&options[FREE]), OPT_DEFAULT);
}

static void
a_change_is_taken_back_whole(void **state)
{
	struct err err = { 0 };

	for (int i = 0; i < 3; i++) {
		put("agent { free = \"5\" text = \"new\" list = {\"c\"} }\n");
		assert_int_equal(opt_reload(&program, &err), 0);
		assert_string_equal(values.text, "new");
		opt_reload_undo();
		assert_first_values();
		assert_int_equal(opt_origin(&options[TEXT]), OPT_DEFAULT);
	}
}

static void
a_bad_one_changes_nothing(void **state)
{
	static const char *const bad[] = {
		"agent { text = \"new\" free = \"many\" }\n",
		"agent { text = \"new\"\n",
		"agent { text = \"new\" stranger = \"1\" }\n",
		"stranger { }\nagent { text = \"new\" }",
		"agent { text = \"new\"\nfree = \"99\" }",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct err err = { 0 };

		put(bad[i]);
		assert_int_equal(opt_reload(&program, &err), -1);
		assert_first_values();
		assert_int_equal(strncmp(err.text, file, strlen(file)), 0);
		/* The place of what the check refused, too. */
		if (i == 4)
			assert_string_equal(err.text + strlen(file),
			    ":2: --free cannot be that");
	}
	remove(file);
	assert_int_equal(opt_reload(&program, &(struct err){ 0 }), -1);
	assert_first_values();
	put("");
}

/* Values of files are stored in memory once; changing back and forth is free.
 */
static void
texts_stay_where_they_are(void **state)
{
	struct err err = { 0 };
	const char *first = NULL;

	for (int i = 0; i < 100; i++) {
		put(i % 2 ? "agent { text = \"odd\" }"
			  : "agent { text = \"even\" }");
		assert_int_equal(opt_reload(&program, &err), 0);
		opt_reload_keep();
		if (i == 0)
			first = values.text;
		else if (i % 2 == 0)
			assert_ptr_equal(values.text, first);
	}
	assert_string_equal(first, "even");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_may_change_changes),
		TEST(what_is_not_reported_any_more_is_the_default),
		TEST(a_change_is_taken_back_whole),
		TEST(a_bad_one_changes_nothing),
		TEST(texts_stay_where_they_are),
	};

	return cmocka_run_group_tests_name("opt_value", tests, NULL, NULL);
}
