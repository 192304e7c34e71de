/*
 * opt_topic - command lines whose first word chooses, in a child of its own
 * each.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "proto/config/opt.h"
#include "tests/unit/check.h"
#include "tests/unit/child_text.h"

static struct {
	const char *store;
	bool force;
} values;

static const struct opt options[] = {
	{ "store", 0, OPT_TEXT, .to = &values.store, "DIR", "the store" },
	{ "force", 0, OPT_FLAG, .to = &values.force, NULL, "do it" },
	{ .name = NULL },
};
static const struct opt_table tables[] = { { options, NULL },
	{ opt_common, NULL }, { NULL, NULL } };
static const struct opt_topic topics[] = {
	{ "check", "", "check it", "store", NULL },
	{ "copy", " TO", "copy it", "store force", "copy away\n" },
	{ "show", " FILE [PART]", "show it", "", NULL },
	{ "allow", " FILE | PUBLIC NAME", "allow it", "", NULL },
	{ "turn", " NAME | server [FILE...]", "turn it", "", NULL },
	{ "read", " FILE...", "read them", "", NULL },
	{ .word = NULL },
};
static const struct opt_program program = { .name = "poolscope-admin",
	.synopsis = "WHAT [options]",
	.summary = "work on a store",
	.tables = tables,
	.topics = topics };

struct command_line {
	char *argv[32];
	int argc;
};

static void
parse(void *arg)
{
	struct command_line *line = arg;
	struct opt_operands operands;

	opt_parse(&program, line->argc, line->argv, &operands);
	printf("s=%s f=%d n=%u:%s:%s", values.store ? values.store : "-",
	    values.force, operands.count, operands.at[0],
	    operands.at[operands.count - 1]);
}

/* Parse in a child; what it prints goes to `out`.  Returns its exit status. */
static int
run(char *const *words, char *out, size_t room)
{
	struct command_line line = { { (char[]){ "poolscope-admin" } }, 1 };

	while (*words != NULL)
		line.argv[line.argc++] = *words++;
	return child_text(parse, &line, out, room);
}

#define RUN(...) run((char *[]){ __VA_ARGS__, NULL }, out, sizeof(out))

static void
each_topic_has_its_words_and_options(void **state)
{
	char out[4096];

	assert_int_equal(RUN("check", "--store", "x"), 0);
	assert_string_equal(out, "s=x f=0 n=1:check:check");
	assert_int_equal(RUN("--force", "copy", "to", "--store=y"), 0);
	assert_string_equal(out, "s=y f=1 n=2:copy:to");
}

static void
what_is_of_another_topic_is_wrong_usage(void **state)
{
	char out[4096];

	assert_int_equal(RUN("check", "--force"), 2);
	assert_non_null(strstr(out, "--force is for copy, not for check"));
	assert_int_equal(RUN("chek"), 2);
	assert_non_null(strstr(out, "'chek' is not one of check, copy, show, "
				    "allow, turn, read; did you mean check?"));
	assert_int_equal(RUN("--store", "x"), 2);
	assert_non_null(
	    strstr(out, "missing argument: poolscope-admin WHAT [options]"));
}

/* The fewest and the most words that each synopsis above has. */
static void
the_words_are_as_many_as_the_synopsis_has(void **state)
{
	static const struct {
		char *words[5];
		const char *says; /* NULL: good */
	} cases[] = {
		{ { "check", "a" }, "unexpected argument 'a'" },
		{ { "copy" }, "missing argument: poolscope-admin copy TO (" },
		{ { "copy", "a", "b" },
		    "unexpected argument 'b': poolscope-admin copy TO (" },
		{ { "show" }, "missing argument" },
		{ { "show", "a" }, NULL },
		{ { "show", "a", "b" }, NULL },
		{ { "show", "a", "b", "c" }, "unexpected argument 'c'" },
		{ { "allow" }, "missing argument" },
		{ { "allow", "a" }, NULL },
		{ { "allow", "a", "b" }, NULL },
		{ { "allow", "a", "b", "c" }, "unexpected argument 'c'" },
		{ { "turn" }, "missing argument" },
		{ { "turn", "a" }, NULL },
		{ { "turn", "a", "b", "c" }, NULL },
		{ { "read" }, "missing argument" },
		{ { "read", "a" }, NULL },
		{ { "read", "a", "b", "c" }, NULL },
	};
	char out[4096];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int status = run(cases[i].words, out, sizeof(out));

		if (status != (cases[i].says != NULL ? 2 : 0) ||
		    (cases[i].says != NULL &&
			strstr(out, cases[i].says) == NULL))
			fail_msg("case %zu: %s", i, out);
	}
}

static void
help_is_that_of_the_topic(void **state)
{
	char out[4096];

	assert_int_equal(RUN("check", "--help"), 0);
	assert_non_null(strstr(out, "usage: poolscope-admin check [options]"));
	assert_null(strstr(out, "--force"));
	assert_int_equal(RUN("copy", "--help"), 0);
	assert_non_null(strstr(out, "--force"));
	assert_non_null(strstr(out, "copy away"));
	assert_int_equal(RUN("--help"), 0);
	assert_non_null(strstr(out, "--force"));
	assert_non_null(strstr(out, "\n  copy TO                  copy it\n"));
	assert_int_equal(RUN("--version"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_topic_has_its_words_and_options),
		cmocka_unit_test(what_is_of_another_topic_is_wrong_usage),
		cmocka_unit_test(the_words_are_as_many_as_the_synopsis_has),
		cmocka_unit_test(help_is_that_of_the_topic),
	};

	return cmocka_run_group_tests_name("opt_topic", tests, NULL, NULL);
}
