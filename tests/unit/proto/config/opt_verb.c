/*
 * opt_verb - command lines with a verb, in a child of its own each.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/opt_verb.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/check.h"

static struct {
	const char *store;
	bool force;
} values;

static const struct opt options[] = {
	{ "store", 0, OPT_TEXT, &values.store, "DIR", "the store", NULL, 0 },
	{ "force", 0, OPT_FLAG, &values.force, NULL, "do it", NULL, 0 },
	{ .name = NULL },
};
static const struct opt_table tables[] = { { options, NULL },
	{ opt_common, NULL }, { NULL, NULL } };
static const struct opt_program program = { .name = "poolscope-admin",
	.synopsis = "check | copy TO | list all [options]",
	.summary = "work on a store",
	.tables = tables };
static const char *const takes_store[] = { "store", NULL };
static const char *const takes_all[] = { "store", "force", NULL };
static const struct opt_verb verbs[] = {
	{ "check", NULL, "check [options]", "check it", 0, 0, takes_store,
	    NULL },
	{ "copy", NULL, "copy TO [options]", "copy it", 1, 1, takes_all, NULL },
	{ "list", "all", "list all [options]", "list it", 0, 0, takes_store,
	    NULL },
};

/* Parse in a child; what it prints goes to `out`.  Returns its exit status. */
static int
run(char *const *words, char *out, size_t room)
{
	char *argv[32] = { (char[]){ "poolscope-admin" } };
	struct opt_operands operands;
	int fds[2], argc = 1, status;
	size_t used = 0;
	ssize_t n;
	pid_t pid;

	while (*words != NULL)
		argv[argc++] = *words++;
	assert_int_equal(pipe(fds), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		uint32_t verb;

		dup2(fds[1], 1);
		dup2(fds[1], 2);
		close(fds[0]);
		close(fds[1]);
		verb =
		    opt_verb_parse(&program, verbs, 3, argc, argv, &operands);
		printf("v=%u s=%s f=%d n=%u:%s", verb,
		    values.store ? values.store : "-", values.force,
		    operands.count, operands.count ? operands.at[0] : "-");
		exit(0);
	}
	close(fds[1]);
	while ((n = read(fds[0], out + used, room - used - 1)) > 0)
		used += (size_t)n;
	out[used] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define RUN(...) run((char *[]){ __VA_ARGS__, NULL }, out, sizeof(out))

static void
each_verb_has_its_words_and_options(void **state)
{
	char out[4096];

	(void)state;
	assert_int_equal(RUN("check", "--store", "x"), 0);
	assert_string_equal(out, "v=0 s=x f=0 n=0:-");
	assert_int_equal(RUN("copy", "--force", "to", "--store=y"), 0);
	assert_string_equal(out, "v=1 s=y f=1 n=1:to");
	assert_int_equal(RUN("list", "all"), 0);
	assert_string_equal(out, "v=2 s=- f=0 n=0:-");
}

static void
what_is_of_another_verb_is_wrong_usage(void **state)
{
	char out[4096];

	(void)state;
	assert_int_equal(RUN("check", "--force"), 2);
	assert_non_null(strstr(out, "unknown option --force"));
	assert_int_equal(RUN("check", "to"), 2);
	assert_non_null(strstr(out, "unexpected argument 'to'"));
	assert_int_equal(RUN("copy"), 2);
	assert_non_null(strstr(out, "copy TO"));
	assert_int_equal(RUN("list", "some"), 2);
	assert_non_null(
	    strstr(out, "the first word is a verb: check, copy or list all"));
	assert_int_equal(RUN("--store", "x", "check"), 2);
	assert_non_null(strstr(out, "the first word is a verb"));
}

static void
help_is_that_of_the_verb(void **state)
{
	char out[4096];

	(void)state;
	assert_int_equal(RUN("check", "--help"), 0);
	assert_non_null(strstr(out, "usage: poolscope-admin check [options]"));
	assert_null(strstr(out, "--force"));
	assert_int_equal(RUN("--help"), 0);
	assert_non_null(strstr(out, "--force"));
	assert_non_null(strstr(out, "list all"));
	assert_int_equal(RUN("--version"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_verb_has_its_words_and_options),
		cmocka_unit_test(what_is_of_another_verb_is_wrong_usage),
		cmocka_unit_test(help_is_that_of_the_verb),
	};

	return cmocka_run_group_tests_name("opt_verb", tests, NULL, NULL);
}
