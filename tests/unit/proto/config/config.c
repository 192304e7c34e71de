/*
 * config - what files say to a program, and which are refused.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/check.h"

static struct {
	const char *partition, *text;
	struct opt_list route, job;
	uint64_t bytes;
} values;

static const struct opt options[] = {
	{ "partition", 'p', OPT_TEXT, .to = &values.partition, "NAME", "" },
	{ "some-text", 0, OPT_TEXT, .to = &values.text, "TEXT", "" },
	{ "route", 0, OPT_LIST, .to = &values.route, "TEXT", "" },
	{ "bytes", 0, OPT_BYTES, .to = &values.bytes, "BYTES", "" },
	{ "verify", 0, OPT_BYTES, .to = &values.bytes, "BYTES", "",
	    .flags = OPT_COMMAND },
	{ "job", 0, OPT_LIST, .to = &values.job, "NAME KEY=VALUE...", "",
	    "period|user|command" },
	{ .name = NULL },
};
static const struct opt_table tables[] = { { options, NULL }, { NULL, NULL } };
static const struct opt_program program = { .name = "poolscope-broker",
	.tables = tables };
enum { PARTITION, TEXT, ROUTE, BYTES, VERIFY, JOB };

static char dir[64], file[128];

static int
set_up(void **state)
{
	char path[128];

	snprintf(dir, sizeof(dir), "/tmp/conf.XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/main.conf", dir);
	snprintf(path, sizeof(path), "%s/conf.d", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	return 0;
}

static int
tear_down(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static void
put(const char *name, const char *text)
{
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fchmod(fileno(out), 0600), 0);
	assert_int_equal(fclose(out), 0);
}

static void
assert_says(const struct config *config, int row, const char *word,
    const char *name, int line)
{
	const struct config_value *value = config_find(config, &options[row]);

	assert_non_null(value);
	assert_string_equal(value->words[value->count - 1], word);
	assert_string_equal(strrchr(value->file, '/') + 1, name);
	assert_int_equal(value->line, line);
}

static void
the_section_wins_and_the_later_file(void **state)
{
	struct err err = { 0 };
	struct config config;

	put("main.conf",
	    "partition = \"outer\"\nbroker {\n partition = 'inner'\n"
	    " some_text = \"a\" bytes = \"1k\"\n}\n");
	put("conf.d/b.conf", "\n\nbroker { some_text = \"b\" }\n");
	put("conf.d/a.conf", "broker { some_text = \"a2\" bytes = \"2k\" }\n"
			     "partition = \"late\"\n");
	put("conf.d/c.txt", "nonsense");
	if (config_read(&config, &program, file, &err) != 0)
		fail_msg("%s", err.text);
	assert_string_equal(err.text, "");
	assert_int_equal(config.files.count, 3);
	assert_says(&config, PARTITION, "inner", "main.conf", 3);
	assert_says(&config, TEXT, "b", "b.conf", 3);
	assert_says(&config, BYTES, "2k", "a.conf", 1);
	assert_null(config_find(&config, &options[ROUTE]));
	config_clear(&config);
}

static void
lists_are_replaced_or_grow(void **state)
{
	struct err err = { 0 };
	const struct config_value *value;
	struct config config;

	put("main.conf", "broker { route = {\"1\", \"2\"} }\n");
	put("conf.d/a.conf", "broker { route += {\"3\",\n\"4\"} }\n");
	assert_int_equal(config_read(&config, &program, file, &err), 0);
	value = config_find(&config, &options[ROUTE]);
	assert_non_null(value);
	assert_int_equal(value->count, 4);
	assert_string_equal(value->words[0], "1");
	assert_says(&config, ROUTE, "4", "a.conf", 2);
	config_clear(&config);
	put("conf.d/b.conf", "broker { route = {\"5\"} }\n");
	assert_int_equal(config_read(&config, &program, file, &err), 0);
	value = config_find(&config, &options[ROUTE]);
	assert_non_null(value);
	assert_int_equal(value->count, 1);
	assert_says(&config, ROUTE, "5", "b.conf", 1);
	config_clear(&config);
}

/* One text each, as on the command line; the last key takes the rest.  Of two
 * sections of one name the later counts. */
static void
options_may_be_sections(void **state)
{
	struct err err = { 0 };
	const struct config_value *value;
	struct config config;

	put("main.conf", "broker {\n job \"b\" {\n  command = \"/opt/b -v "
			 "user=x\"\n  period = 10s\n }\n}\n");
	put("conf.d/a.conf",
	    "broker { job \"a\" { command = /opt/a } }\n"
	    "broker { job \"b\" { period = 20s command = \"/b -v "
	    "user=x\" } }\n");
	if (config_read(&config, &program, file, &err) != 0)
		fail_msg("%s", err.text);
	value = config_find(&config, &options[JOB]);
	assert_non_null(value);
	assert_int_equal(value->count, 2);
	assert_string_equal(
	    value->words[0], "b period=20s command=/b -v user=x");
	assert_says(&config, JOB, "a command=/opt/a", "a.conf", 2);
	config_clear(&config);
}

static void
assert_refused(const char *text, const char *says)
{
	struct err err = { 0 };
	struct config config;

	put("main.conf", text);
	assert_int_equal(config_read(&config, &program, file, &err), -1);
	if (strstr(err.text, says) == NULL)
		fail_msg("'%s', not '%s'", err.text, says);
	config_clear(&config);
}

static void
wrong_sections_are_refused_with_their_line(void **state)
{
	assert_refused("broker {\n job \"a\" { comand = \"/opt/a\" }\n}",
	    ":2: no such option 'comand'");
	assert_refused("broker {\n job { command = \"/opt/a\" }\n}", ":2: ");
	assert_refused("broker {\n job \"a b\" {\n command = \"c\" }\n}",
	    ":3: job: a: 'b' is not KEY=VALUE, with one of the keys "
	    "period|user|command");
	assert_refused("broker {\n job \"\" {\n command = \"c\" }\n}",
	    ":3: job: begins with a name: NAME period=...");
	assert_refused("broker { job = { \"a command=b\" } }", ":1: ");
}

static void
sections_of_others_are_passed_over(void **state)
{
	static const char *const texts[] = {
		"agent { x = \"}\" }",
		"agent { x = '}' y = \"\\\"}\" }",
		"agent { # }\n }",
		"agent { /* } */ deeper { z = 1 } }",
		"agent\n{\n}\n",
		"agent{}upload{}",
		"store = \"of others\"",
	};
	char text[256];
	struct err err = { 0 };
	struct config config;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		snprintf(text, sizeof(text),
		    "%s\nbroker { some_text = \"x\" }\n", texts[i]);
		put("main.conf", text);
		if (config_read(&config, &program, file, &err) != 0)
			fail_msg("%s: %s", texts[i], err.text);
		assert_non_null(config_find(&config, &options[TEXT]));
		assert_int_equal(config.count, 1);
		config_clear(&config);
	}
}

static void
what_is_wrong_is_named_with_its_place(void **state)
{
	static const struct {
		const char *first, *second, *says;
	} bad[] = {
		{ "\nbroker { byte = \"1\" }", "", "main.conf:2: no such" },
		{ "", "\n\nbytes = \"1\"", "conf.d/a.conf:3: no such" },
		{ "broker { verify = \"1\" }", "", "main.conf:1: no such" },
		{ "broker {\n\n bytes = \"x\" }", "",
		    "main.conf:3: bytes: 'x' is not a size" },
		{ "broker { bytes = {\"1\"} }", "", "main.conf:1: " },
		{ "broker { route = \"1\" partition }", "", "main.conf:1: " },
		{ "", "broker {", "conf.d/a.conf:1: a section is not closed" },
		{ "partition = \"x\\", "",
		    "main.conf:1: a quoted text is not closed" },
		{ "}", "", "main.conf:1: " },
		{ "brokers { }", "", "main.conf:1: no such option 'brokers'" },
		{ "agent { } }", "", "main.conf:1: " },
		{ "broker { }\nbroker|bytes = \"1\"", "",
		    "main.conf:2: bytes: belongs inside the braces" },
		{ "broker|partition = \"a\"", "",
		    "main.conf:1: partition: belongs inside the braces" },
		{ "broker|route = \"a\"", "",
		    "main.conf:1: route: belongs inside the braces" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct err err = { 0 };
		struct config config;

		put("main.conf", bad[i].first);
		put("conf.d/a.conf", bad[i].second);
		assert_int_equal(
		    config_read(&config, &program, file, &err), -1);
		if (strncmp(err.text, dir, strlen(dir)) != 0 ||
		    strncmp(err.text + strlen(dir) + 1, bad[i].says,
			strlen(bad[i].says)) != 0)
			fail_msg("%s: %s", bad[i].says, err.text);
		config_clear(&config);
	}
}

static void
a_list_has_an_end(void **state)
{
	char text[1024] = "broker { route = {";
	struct err err = { 0 };
	struct config config;

	for (int i = 0; i < OPT_LIST_MAX; i++)
		strcat(text, "\"x\",\n");
	put("main.conf", strcat(text, "\"y\"} }"));
	assert_int_equal(config_read(&config, &program, file, &err), -1);
	assert_non_null(
	    strstr(err.text, "main.conf:65: route: more than 64 words"));
	config_clear(&config);
}

static void
each_instance_has_its_file(void **state)
{
	char path[DEFAULT_DIR_BYTES];

	assert_int_equal(config_default(path, "/var/lib/poolscope"), 0);
	assert_string_equal(path, "/etc/poolscope/poolscope.conf");
	assert_int_equal(config_default(path, "/somewhere"), 0);
	assert_string_equal(path, "/somewhere/poolscope.conf");
}

static void
a_file_that_nobody_named_may_be_absent(void **state)
{
	struct err err = { 0 };
	struct config config;

	opt_common_values.dir = dir;
	assert_int_equal(config_read(&config, &program, NULL, &err), 0);
	assert_int_equal(config.files.count, 0);
	config_clear(&config);
	put("conf.d/a.conf", "broker { some_text = \"x\" }");
	assert_int_equal(config_read(&config, &program, NULL, &err), 0);
	assert_says(&config, TEXT, "x", "a.conf", 1);
	config_clear(&config);
	opt_common_values.dir = NULL;
	assert_int_equal(config_read(&config, &program, file, &err), -1);
	assert_non_null(strstr(err.text, "main.conf: cannot be read"));
	config_clear(&config);
	assert_int_equal(config_read(&config, &program, "/dev/null", &err), 0);
	config_clear(&config);
}

static void
a_program_may_read_the_section_of_another(void **state)
{
	struct opt_program admin = program;
	struct err err = { 0 };
	struct config config;

	admin.name = "poolscope-keys";
	admin.section = "broker";
	put("main.conf", "broker { some_text = \"theirs\" }\n"
			 "agent { unknown = \"x\" }\n");
	if (config_read(&config, &admin, file, &err) != 0)
		fail_msg("%s", err.text);
	assert_says(&config, TEXT, "theirs", "main.conf", 1);
	config_clear(&config);
	admin.section = NULL;
	assert_int_equal(config_read(&config, &admin, file, &err), 0);
	assert_null(config_find(&config, &options[TEXT]));
	config_clear(&config);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_section_wins_and_the_later_file),
		TEST(lists_are_replaced_or_grow),
		TEST(options_may_be_sections),
		TEST(wrong_sections_are_refused_with_their_line),
		TEST(sections_of_others_are_passed_over),
		TEST(what_is_wrong_is_named_with_its_place),
		TEST(a_list_has_an_end),
		TEST(each_instance_has_its_file),
		TEST(a_program_may_read_the_section_of_another),
		TEST(a_file_that_nobody_named_may_be_absent),
	};

	return cmocka_run_group_tests_name("conf", tests, NULL, NULL);
}
