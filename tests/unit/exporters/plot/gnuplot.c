/*
 * gnuplot - nothing that others have chosen is executed, and what hangs is
 * ended.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/plot/gnuplot.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/os/clock.h"
#include "proto/os/confine.h"
#include "tests/unit/check.h"

static char dir[] = "/tmp/gnuplot.XXXXXX";

static int
make_dir(void **state)
{
	return mkdtemp(dir) == NULL;
}

static int
remove_dir(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

static const char *
in_dir(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static FILE *
script(const char *name)
{
	FILE *file = fopen(in_dir(name), "w");

	assert_non_null(file);
	return file;
}

static int
run(const char *name, int64_t limit_ns, struct err *err)
{
	int to =
	    open(in_dir("drawn"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int rc;

	assert_true(to >= 0);
	err->text[0] = '\0';
	rc = gnuplot_run(dir, name, to, limit_ns, err);
	close(to);
	return rc;
}

static const char *
text_for(struct text t)
{
	static char text[512];
	FILE *file;

	memset(text, 0, sizeof(text));
	file = fmemopen(text, sizeof(text), "w");
	gnuplot_put_text(file, t);
	fclose(file);
	return text;
}

static void
what_is_not_plain_is_escaped(void **state)
{
	assert_string_equal(text_for(text_of("it's")), "\"it\\047s\"");
	assert_string_equal(
	    text_for(text_of("a\nb\x7F\\n")), "\"a\\077b\\077\\134n\"");
	assert_string_equal(text_for(text_of("`$\"")), "\"\\140\\044\\042\"");
	assert_string_equal(text_for(text_of("\xC3\xA9")), "\"\\303\\251\"");
	assert_string_equal(text_for(text_of("")), "\"\"");
	/* A digit behind an escape would be taken for one of it. */
	assert_string_equal(
	    text_for(text_of("%2F%89")), "\"\\045\\062F\\04589\"");
}

/* What fonts may lack, a mark that combines, a joiner, a change of direction, a
 * private letter, half a letter: each is one question mark. */
static void
what_cannot_be_drawn_is_a_question_mark(void **state)
{
	static const char *const none[] = { "\xE8\x8A\x82", "\xCC\x81",
		"\xE2\x80\x8D", "\xE2\x80\xAE", "\xEE\x80\x80",
		"\xF0\x9F\x98\x80", "\xC2\xAD", "\xC2\x85", "\xE2", "\t" };
	char name[16];

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		snprintf(name, sizeof(name), "a%sb", none[i]);
		assert_string_equal(text_for(text_of(name)), "\"a\\077b\"");
	}
	assert_string_equal(text_for(text_of("\xD1\x83\xCE\xB1\xC5\x82")),
	    "\"\\321\\203\\316\\261\\305\\202\"");
}

static void
only_harmless_text_is_plain(void **state)
{
	assert_true(gnuplot_is_plain(text_of("Ubuntu 16.04-LTS_x (a:b/c)")));
	for (int c = 1; c < 256; c++) {
		char one[2] = { (char)c, '\0' };
		const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN"
				    "OPQRSTUVWXYZ0123456789 _.-+,:/()";

		assert_int_equal(
		    gnuplot_is_plain(text_of(one)), strchr(plain, c) != NULL);
	}
	assert_false(gnuplot_is_plain((struct text){ "a\0b", 3 }));
}

/* Random bytes as text, file name and title: if anything of it were executed
 * the file would be there. */
static void
nothing_in_a_name_is_executed(void **state)
{
	static const char *const pieces[] = { "`touch HIT`", "$(touch HIT)",
		"'", "\"", "\\", "< touch HIT", "| touch HIT", "; !touch HIT",
		"\n", "\r", "!touch HIT", "@", "#", "%", "{", "}", "system('",
		"')", "%20", " ", "\xC3\xA9", "a", "'.system('touch HIT').'" };
	uint64_t random = check_seed();
	struct err err;

	for (int round = 0; round < 40; round++) {
		char evil[256] = "";
		FILE *file = script("evil.plot");

		for (int i = 0; i < 6; i++)
			strcat(
			    evil, pieces[check_random(&random) %
					 (sizeof(pieces) / sizeof(*pieces))]);
		fputs("set terminal svg noenhanced\nset title ", file);
		gnuplot_put_text(file, text_of(evil));
		fputs("\nset label ", file);
		gnuplot_put_text(file, text_of(evil));
		fputs(" at 0,0\nset xtics (", file);
		gnuplot_put_tic(file, text_of(evil));
		fputs(" 0)\nplot x\nprint 'drawn'\nplot ", file);
		/* There is no such file; a name can have no / or control. */
		for (char *p = evil; *p != '\0'; p++)
			if (*p == '/' || (unsigned char)*p < ' ')
				*p = '_';
		gnuplot_put_file(file, evil);
		putc('\n', file);
		fclose(file);
		/* It ends at the file that is not there, not before. */
		assert_int_equal(
		    run("evil.plot", 20 * NS_PER_SECOND, &err), -1);
		if (strstr(err.text, "drawn") == NULL)
			fail_msg("%s: %s", evil, err.text);
		assert_int_equal(access(in_dir("HIT"), F_OK), -1);
	}
}

static void
what_it_says_is_in_the_error(void **state)
{
	FILE *file = script("bad.plot");
	struct err err;

	fputs("set nonsense\n", file);
	fclose(file);
	assert_int_equal(run("bad.plot", 20 * NS_PER_SECOND, &err), -1);
	assert_non_null(strstr(err.text, "gnuplot failed: "));
	assert_non_null(strstr(err.text, "nonsense"));
	assert_null(strchr(err.text, '\n'));
	fclose(script("empty.plot"));
	assert_int_equal(run("empty.plot", 20 * NS_PER_SECOND, &err), -1);
	assert_non_null(strstr(err.text, "drew nothing"));
	assert_int_equal(run("absent.plot", 20 * NS_PER_SECOND, &err), -1);
}

static void
what_hangs_is_ended(void **state)
{
	FILE *file = script("slow.plot");
	int64_t began_ns = clock_monotonic_ns();
	struct err err;

	fputs("pause 600\n", file);
	fclose(file);
	assert_int_equal(run("slow.plot", NS_PER_SECOND / 2, &err), -1);
	assert_non_null(strstr(err.text, "took longer"));
	assert_true(clock_monotonic_ns() - began_ns < 60 * NS_PER_SECOND);
}

/* The first line of what was drawn. */
static const char *
drawn(void)
{
	static char line[256];
	FILE *file = fopen(in_dir("drawn"), "r");

	line[0] = '\0';
	assert_non_null(file);
	if (fgets(line, sizeof(line), file) == NULL)
		line[0] = '\0';
	fclose(file);
	return line;
}

static void
home_is_not_seen(void **state)
{
	FILE *file = script("env.plot");
	struct err err;

	setenv("HOME", dir, 1);
	fputs("set print '-'\nprint 'drawn'\n", file);
	fclose(file);
	file = script(".gnuplot");
	fputs("set print '-'\nprint 'HOME was read'\n", file);
	fclose(file);
	assert_int_equal(run("env.plot", 20 * NS_PER_SECOND, &err), 0);
	assert_string_equal(drawn(), "drawn\n");
}

static void
the_zone_is_utc_whatever_ours(void **state)
{
	char *path = strdup(getenv("PATH"));
	FILE *file = script("gnuplot");
	struct err err;

	fputs("#!/bin/sh\necho ${HOME-unset} $TZ $LC_ALL\n", file);
	fclose(file);
	assert_int_equal(chmod(in_dir("gnuplot"), 0700), 0);
	setenv("HOME", dir, 1);
	setenv("TZ", "Asia/Tokyo", 1);
	setenv("PATH", dir, 1);
	assert_int_equal(run("env.plot", 20 * NS_PER_SECOND, &err), 0);
	setenv("PATH", path, 1);
	free(path);
	assert_int_equal(unlink(in_dir("gnuplot")), 0);
	assert_string_equal(drawn(), "unset UTC C.UTF-8\n");
}

static bool
has_landlock(void)
{
	struct confine confine;

	assert_int_equal(confine_begin(&confine, CONFINE_ALONE), 0);
	if (confine.fd < 0)
		return false;
	close(confine.fd);
	return true;
}

/* A command of a script that quoting did not stop. */
static void
a_script_writes_nothing_executes_nothing_and_reads_no_other_file(void **state)
{
	static const char *const commands[] = {
		"x = system('echo >canary; echo canary')\nprint x",
		"print `echo >canary; echo 1`",
		"!echo >canary",
		"plot '< echo 1 1; echo >canary'",
		"set output '|cat >canary'\nset terminal dumb\nplot 1",
		"set print 'canary'\nprint 'canary'",
		"set output 'canary'\nset terminal dumb\nplot 1",
		"set print '../canary'\nprint 'canary'",
		"save 'canary'",
		"set table 'canary'\nplot 1",
		"load '< echo >canary'",
		"load '/etc/passwd'",
		"plot '/proc/self/environ' using 1",
		"stats '/etc/passwd' using 1",
		"array A[1]\ncd '/tmp'\nset print 'canary'\nprint 1",
	};

	if (!has_landlock()) {
		printf("SKIPPED: this kernel has no Landlock\n");
		return;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		FILE *file = script("hostile.plot");
		struct err err = { 0 };

		fprintf(file, "%s\nset print '-'\nprint 'still here'\n",
		    commands[i]);
		fclose(file);
		(void)run("hostile.plot", 20 * NS_PER_SECOND, &err);
		if (access(in_dir("canary"), F_OK) == 0 ||
		    access(in_dir("../canary"), F_OK) == 0 ||
		    strstr(drawn(), "canary") != NULL)
			fail_msg("it came out: %s", commands[i]);
		/* It is no script: its first line would be in the sentence. */
		if (strstr(err.text, "root") != NULL)
			fail_msg("it was read: %s", err.text);
	}
}

static void
without_gnuplot_there_is_a_plain_sentence(void **state)
{
	char *path = strdup(getenv("PATH"));
	struct err err;

	setenv("PATH", "/nonexistent", 1);
	assert_int_equal(run("env.plot", NS_PER_SECOND, &err), -1);
	assert_string_equal(
	    err.text, "gnuplot is not installed (Debian: gnuplot-nox)");
	setenv("PATH", path, 1);
	free(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_plain_is_escaped),
		cmocka_unit_test(what_cannot_be_drawn_is_a_question_mark),
		cmocka_unit_test(only_harmless_text_is_plain),
		cmocka_unit_test(nothing_in_a_name_is_executed),
		cmocka_unit_test(what_it_says_is_in_the_error),
		cmocka_unit_test(what_hangs_is_ended),
		cmocka_unit_test(home_is_not_seen),
		cmocka_unit_test(the_zone_is_utc_whatever_ours),
		cmocka_unit_test(
		    a_script_writes_nothing_executes_nothing_and_reads_no_other_file),
		cmocka_unit_test(without_gnuplot_there_is_a_plain_sentence),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
