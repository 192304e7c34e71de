/*
 * opt - command lines, in a child of its own each, as users see them.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/opt.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/check.h"
#include "tests/unit/child_text.h"

static struct {
	const char *partition;
	bool wait;
	uint64_t spool_bytes;
	int64_t period_ns;
	struct opt_list attributes;
	int format;
} values;

static const struct opt options[] = {
	{ "partition", 'p', OPT_TEXT, .to = &values.partition, "NAME",
	    "the partition, account$pool" },
	{ "wait", 'w', OPT_FLAG, .to = &values.wait, NULL, "wait" },
	{ "spool-bytes", 0, OPT_BYTES, .to = &values.spool_bytes, "BYTES",
	    "bound of the spool" },
	{ "period", 0, OPT_DURATION, .to = &values.period_ns, "TIME",
	    "period" },
	{ "attr", 'a', OPT_LIST, .to = &values.attributes, "KEY=VALUE",
	    "an attribute, may be repeated" },
	{ "format", 'f', OPT_CHOICE, .to = &values.format, "FORMAT",
	    "table or json", "table|json" },
	{ .name = NULL },
};
static const struct opt_table tables[] = { { options, NULL },
	{ opt_common, NULL }, { NULL, NULL } };
static struct opt_program program = { .name = "poolscope-emit",
	.synopsis = "[options] SOURCE EVENT | --stdin | what is so long | that "
		    "it has to go on below",
	.summary = "publish one event, about which there is so much to read "
		   "that no line holds it",
	.tables = tables,
	.operands_min = 1,
	.operands_max = 2 };

struct command_line {
	char *argv[32];
	int argc;
	const char *env;
};

static void
parse(void *arg)
{
	struct command_line *line = arg;
	struct opt_operands operands;

	if (line->env != NULL)
		setenv("POOLSCOPE_SPOOL_BYTES", line->env, 1);
	opt_parse(&program, line->argc, line->argv, &operands);
	printf("p=%s w=%d s=%llu t=%lld a=%u:%s f=%d n=%u:%s",
	    values.partition ? values.partition : "-", values.wait,
	    (unsigned long long)values.spool_bytes, (long long)values.period_ns,
	    values.attributes.count,
	    values.attributes.count ? values.attributes.at[0] : "-",
	    values.format, operands.count, operands.at[0]);
}

/* Parse in a child; what it prints goes to `out`.  Returns its exit status, 0
 * with the values in `out` when parsing went well. */
static int
run(char *const *words, const char *env, char *out, size_t room)
{
	struct command_line line = { { (char[]){ "poolscope-emit" } }, 1, env };

	while (*words != NULL)
		line.argv[line.argc++] = *words++;
	return child_text(parse, &line, out, room);
}

#define RUN(env, ...)                                                          \
	run((char *[]){ __VA_ARGS__, NULL }, env, out, sizeof(out))

static void
long_and_short_options_mix_with_operands(void **state)
{
	char out[8192];

	assert_int_equal(
	    RUN(NULL, "src", "--partition", "a$b", "-w", "--spool-bytes=64KiB",
		"ev", "--period", "5m", "-ak=v", "-a", "l=w", "-f", "json"),
	    0);
	assert_string_equal(
	    out, "p=a$b w=1 s=65536 t=300000000000 a=2:k=v f=1 n=2:src");
	assert_int_equal(RUN(NULL, "-wp", "x", "--", "-y"), 0);
	assert_string_equal(out, "p=x w=1 s=0 t=0 a=0:- f=0 n=1:-y");
	/* As much of a name as no other option begins with. */
	assert_int_equal(
	    RUN(NULL, "src", "--part", "x", "--wa", "--per=5m"), 0);
	assert_string_equal(
	    out, "p=x w=1 s=0 t=300000000000 a=0:- f=0 n=1:src");
	assert_int_equal(RUN(NULL, "src", "--wait", "--no-wa"), 0);
	assert_string_equal(out, "p=- w=0 s=0 t=0 a=0:- f=0 n=1:src");
}

static void
wrong_usage_is_one_line_and_status_2(void **state)
{
	static const struct {
		const char *word, *says;
	} bad[] = {
		{ "--nonsense", "unknown option --nonsense (" },
		{ "--perod=3s", "--perod; did you mean --period? (" },
		{ "--p", "--p can mean --partition and --period; " },
		{ "-x", "unknown option -x" },
		{ "--partition", "--partition needs NAME" },
		{ "--spool-bytes=ten", "'ten' is not a size" },
		{ "--format=xml", "must be one of table|json" },
		{ "--period=-5s", "is negative" },
	};
	char out[8192];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char word[64];

		snprintf(word, sizeof(word), "%s", bad[i].word);
		assert_int_equal(RUN(NULL, "src", word), 2);
		if (strstr(out, bad[i].says) == NULL)
			fail_msg("%s", out);
		assert_ptr_equal(strchr(out, '\n'), out + strlen(out) - 1);
	}
	assert_int_equal(RUN(NULL, "-w"), 2);
	assert_non_null(strstr(out, "missing argument"));
	assert_int_equal(RUN(NULL, "a", "b", "c"), 2);
	assert_non_null(strstr(out, "unexpected argument 'c'"));
}

static void
help_fits_eighty_columns(void **state)
{
	char out[8192];
	size_t column = 0;

	assert_int_equal(RUN(NULL, "--help"), 0);
	assert_non_null(strstr(out, "-p, --partition NAME"));
	assert_non_null(strstr(out, "EVENT | --stdin"));
	assert_non_null(strstr(out, "\n                      "));
	for (const char *p = out; *p != '\0'; p++) {
		column = *p == '\n' ? 0 : column + 1;
		assert_true(column <= 80);
	}
	assert_null(strstr(out, "--dir DIR"));
	assert_int_equal(RUN(NULL, "-wh"), 0);
	assert_non_null(strstr(out, "-p, --partition NAME"));
	assert_int_equal(RUN(NULL, "--help-all"), 0);
	assert_non_null(strstr(out, "--dir DIR"));
	assert_int_equal(RUN(NULL, "--version"), 0);
	assert_non_null(strstr(out, "poolscope-emit "));
}

static void
the_command_line_beats_environment_beats_file(void **state)
{
	char out[8192], path[] = "/tmp/opt.XXXXXX", config[64];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	dprintf(fd, "store = \"not ours\"\npartition = \"outer\"\n"
		    "emit { partition = \"file\" attr = {\"a=b\", \"c=d\"}\n"
		    " spool_bytes = \"1k\" }\n"
		    "agent { whatever = \"3\" }\n");
	close(fd);
	snprintf(config, sizeof(config), "--config=%s", path);
	assert_int_equal(RUN(NULL, "s", config), 0);
	assert_string_equal(out, "p=file w=0 s=1024 t=0 a=2:a=b f=0 n=1:s");
	assert_int_equal(RUN("2k", "s", config), 0);
	assert_non_null(strstr(out, "s=2048"));
	assert_int_equal(RUN("2k", "s", config, "--spool-bytes=3k"), 0);
	assert_non_null(strstr(out, "s=3072"));
	remove(path);
}

static void
a_bad_file_is_named_with_its_line(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "\n\nnonsense = \"1\"\n", ":3: " },
		{ "# \"\n// {\n/* a\n*/ nonsense = \"1\"\n", ":4: " },
		{ "emit {\n spool_bytes = \"ten\"\n}\n",
		    ":2: spool_bytes: 'ten' is not a size" },
		{ "spool_bytes = \"1k\"\n", ":1: no such option" },
		{ "agent { x = \"}\" }\nstranger { }\n",
		    ":2: no such option 'stranger'" },
		{ "emit { attr = {\"a\",\n\"b\"}\n wait = \"maybe\" }\n",
		    ":3: wait: must be true or false" },
		{ "emit {\n", "is not closed" },
	};
	char out[8192], config[64];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char path[] = "/tmp/opt.XXXXXX";
		int fd = mkstemp(path);

		assert_true(fd >= 0);
		dprintf(fd, "%s", bad[i].text);
		close(fd);
		snprintf(config, sizeof(config), "--config=%s", path);
		assert_int_equal(RUN(NULL, "s", config), 2);
		if (strstr(out, bad[i].says) == NULL ||
		    strstr(out, path) == NULL)
			fail_msg("%s", out);
		remove(path);
	}
	assert_int_equal(RUN(NULL, "s", "--config=/nonexistent"), 2);
	assert_non_null(strstr(out, "/nonexistent: cannot be read"));
}

static void
the_command_line_takes_only_what_the_program_lists(void **state)
{
	static const struct opt_topic topics[] = {
		{ "src", "", "what it takes", "wait", NULL },
		{ .word = NULL },
	};
	char out[8192];

	program.topics = topics;
	assert_int_equal(RUN("64KiB", "src", "--wait", "--quiet"), 0);
	assert_string_equal(out, "p=- w=1 s=65536 t=0 a=0:- f=0 n=1:src");
	assert_int_equal(RUN(NULL, "src", "--period", "5m"), 2);
	assert_non_null(strstr(out, "unknown option --period"));
	assert_int_equal(RUN(NULL, "src", "-p", "x"), 2);
	assert_int_equal(RUN(NULL, "--help-all"), 0);
	assert_non_null(strstr(out, "--wait"));
	assert_non_null(strstr(out, "--quiet"));
	assert_null(strstr(out, "--period"));
	program.topics = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_and_short_options_mix_with_operands),
		cmocka_unit_test(wrong_usage_is_one_line_and_status_2),
		cmocka_unit_test(help_fits_eighty_columns),
		cmocka_unit_test(the_command_line_beats_environment_beats_file),
		cmocka_unit_test(
		    the_command_line_takes_only_what_the_program_lists),
		cmocka_unit_test(a_bad_file_is_named_with_its_line),
	};

	return cmocka_run_group_tests_name("opt", tests, NULL, NULL);
}
