/*
 * script_runner: scripts that hang, fork away, ignore signals, print without
 * end.  What is left of them is judged by /proc and kill(2), not by the runner.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/script_runner.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/os/clock.h"

static char folder[64], path[96], said[96];
static struct script_result result;

static void
write_script(const char *body)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fprintf(file, "#!/bin/sh\n%s\n", body);
	fclose(file);
	assert_int_equal(chmod(path, 0755), 0);
}

static struct script_command
command_of(int64_t timeout_ms)
{
	return (struct script_command){
		.name = "test",
		.command = path,
		.uid = geteuid(),
		.home = "/",
		.timeout_ns = timeout_ms * 1000000,
	};
}

/* Run the body once, and see that nothing stays. */
static void
run(const char *body, int64_t timeout_ms)
{
	struct script_command command = command_of(timeout_ms);
	struct script_runner runner;
	struct err err;

	write_script(body);
	unlink(said);
	assert_int_equal(script_runner_open(&runner, &command, &err), 0);
	assert_int_equal(script_runner_begin(&runner, &err), 0);
	assert_int_equal(script_runner_take(&runner, &result, &err), 0);
	script_runner_close(&runner);
}

static void
assert_output(const char *want)
{
	assert_int_equal(result.output_bytes, strlen(want));
	assert_memory_equal(result.output, want, strlen(want));
}

/* The processes whose numbers are in that file are gone. */
static void
assert_all_gone(int want)
{
	FILE *file = fopen(said, "r");
	int pid, count = 0;

	assert_non_null(file);
	for (; fscanf(file, "%d", &pid) == 1; count++)
		if (kill(pid, 0) == 0 || errno != ESRCH)
			fail_msg("process %d still runs", pid);
	fclose(file);
	assert_int_equal(count, want);
}

/* ---- what it prints ---- */

static void
output_errors_and_status_are_the_scripts(void **state)
{
	run("echo queue.length 17; echo oh >&2; exit 3", 5000);
	assert_int_equal(result.end, SCRIPT_EXITED);
	assert_int_equal(result.status, 3);
	assert_output("queue.length 17\n");
	assert_int_equal(result.errors_bytes, 3);
	assert_memory_equal(result.errors, "oh\n", 3);
	assert_int_equal(result.left, 0);
	assert_true(result.ns > 0 && result.ns < 5000000000);
}

static void
nothing_printed_is_nothing(void **state)
{
	run(":", 5000);
	assert_int_equal(result.end, SCRIPT_EXITED);
	assert_int_equal(result.status, 0);
	assert_output("");
}

static void
the_environment_has_five_names(void **state)
{
	setenv("SECRET", "hidden", 1);
	run("tr '\\0' '\\n' </proc/$$/environ | sed 's/=.*//' | sort", 5000);
	assert_output("HOME\nLANG\nPATH\nPOOLSCOPE_SCRIPT\nUSER\n");
}

static void
it_has_no_descriptors_but_three_and_no_input(void **state)
{
	const char *preload = getenv("LD_PRELOAD");

	/* The log of valgrind is one more. */
	if (preload != NULL && strstr(preload, "vgpreload") != NULL)
		skip();
	run("cat; ls /proc/self/fd | wc -l", 5000);
	assert_output("4\n"); /* the fourth is that of ls for the folder */
}

static void
it_has_default_signals(void **state)
{
	signal(SIGPIPE, SIG_IGN);
	/* What make starts ignores 32 and 33, which are the C library's: no
	 * program can change that. */
	run("sed -nE 's/^(SigIgn:.*)180000000$/\\1000000000/; "
	    "/^Sig(Ign|Blk)/p' /proc/self/status",
	    5000);
	assert_output("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
	signal(SIGPIPE, SIG_DFL);
}

static void
a_gigabyte_is_refused_after_64_kib(void **state)
{
	run("head -c 1000000000 /dev/zero", 20000);
	assert_int_equal(result.end, SCRIPT_TOO_LONG);
	assert_int_equal(result.output_bytes, 65536);
}

static void
as_much_as_there_is_room_for_is_taken(void **state)
{
	run("head -c 65536 /dev/zero; head -c 1000000 /dev/zero >&2", 20000);
	assert_int_equal(result.end, SCRIPT_EXITED);
	assert_int_equal(result.output_bytes, 65536);
	assert_int_equal(result.errors_bytes, 4096);
}

/* ---- how it ends ---- */

static void
a_script_that_hangs_ends_with_its_children(void **state)
{
	run("sleep 1000 & echo $! $$ >$0.said; sleep 1000", 300);
	assert_int_equal(result.end, SCRIPT_TIMED_OUT);
	assert_int_equal(result.status, 128 + SIGTERM);
	assert_true(result.ns < 2000000000);
	assert_all_gone(2);
}

static void
who_ignores_term_is_killed_after_two_seconds(void **state)
{
	run("trap '' TERM; echo $$ >$0.said; while :; do sleep 1; done", 300);
	assert_int_equal(result.end, SCRIPT_TIMED_OUT);
	assert_int_equal(result.status, 128 + SIGKILL);
	assert_true(result.ns > 2000000000 && result.ns < 6000000000);
	assert_all_gone(1);
}

static void
a_stopped_script_hears_term(void **state)
{
	run("echo $$ >$0.said; kill -STOP $$", 300);
	assert_int_equal(result.end, SCRIPT_TIMED_OUT);
	assert_int_equal(result.status, 128 + SIGTERM);
	assert_all_gone(1);
}

static void
who_leaves_the_group_ends_too(void **state)
{
	run("setsid sh -c 'echo $$ >>'$0'.said; trap \"\" TERM HUP; "
	    "(setsid sh -c \"echo \\$\\$ >>'$0'.said; sleep 1000\" &); "
	    "sleep 1000' & while [ \"$(wc -l <$0.said)\" != 2 ]; do sleep 0.1; "
	    "done; sleep 1000",
	    1500);
	assert_int_equal(result.end, SCRIPT_TIMED_OUT);
	assert_all_gone(2);
}

/* A reader that waits for the end of the pipe waits for the child. */
static void
a_child_that_holds_the_output_delays_nothing(void **state)
{
	run("sleep 1000 & echo $! >$0.said; echo a 1", 10000);
	assert_int_equal(result.end, SCRIPT_EXITED);
	assert_int_equal(result.left, 1);
	assert_true(result.ns < 5000000000);
	assert_output("a 1\n");
	assert_all_gone(1);
}

static void
a_signal_is_said_as_shells_say_it(void **state)
{
	run("echo a 1; kill -SEGV $$", 5000);
	assert_int_equal(result.end, SCRIPT_SIGNALLED);
	assert_int_equal(result.status, 128 + SIGSEGV);
}

/* ---- the runner ---- */

static void
a_script_ends_with_its_runner(void **state)
{
	struct script_command command = command_of(60000);
	struct script_runner runner;
	struct err err;

	write_script("echo $$ >$0.said; sleep 1000");
	unlink(said);
	assert_int_equal(script_runner_open(&runner, &command, &err), 0);
	assert_int_equal(script_runner_begin(&runner, &err), 0);
	for (int i = 0; i < 1000 && access(said, F_OK) != 0; i++)
		usleep(10000);
	usleep(100000);
	script_runner_close(&runner);
	assert_all_gone(1);
}

static void
it_runs_again_and_notices_what_changed(void **state)
{
	struct script_command command = command_of(5000);
	struct script_runner runner;
	struct err err;

	write_script("echo a 1");
	assert_int_equal(script_runner_open(&runner, &command, &err), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(script_runner_begin(&runner, &err), 0);
		assert_int_equal(script_runner_take(&runner, &result, &err), 0);
		assert_output("a 1\n");
	}
	chmod(path, 0757);
	assert_int_equal(script_runner_begin(&runner, &err), 0);
	assert_int_equal(script_runner_take(&runner, &result, &err), 0);
	assert_int_equal(result.end, SCRIPT_REFUSED);
	assert_non_null(strstr(result.why.text, "can be written by others"));
	unlink(path);
	assert_int_equal(script_runner_begin(&runner, &err), 0);
	assert_int_equal(script_runner_take(&runner, &result, &err), 0);
	assert_int_equal(result.end, SCRIPT_REFUSED);
	assert_non_null(strstr(result.why.text, "No such file"));
	script_runner_close(&runner);
}

static int
begin(void **state)
{
	snprintf(folder, sizeof(folder), "/tmp/script_runner.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/q.sh", folder);
	snprintf(said, sizeof(said), "%s/q.sh.said", folder);
	return 0;
}

static int
end(void **state)
{
	unlink(path);
	unlink(said);
	return rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_errors_and_status_are_the_scripts),
		cmocka_unit_test(nothing_printed_is_nothing),
		cmocka_unit_test(the_environment_has_five_names),
		cmocka_unit_test(it_has_no_descriptors_but_three_and_no_input),
		cmocka_unit_test(it_has_default_signals),
		cmocka_unit_test(a_gigabyte_is_refused_after_64_kib),
		cmocka_unit_test(as_much_as_there_is_room_for_is_taken),
		cmocka_unit_test(a_script_that_hangs_ends_with_its_children),
		cmocka_unit_test(who_ignores_term_is_killed_after_two_seconds),
		cmocka_unit_test(a_stopped_script_hears_term),
		cmocka_unit_test(who_leaves_the_group_ends_too),
		cmocka_unit_test(a_child_that_holds_the_output_delays_nothing),
		cmocka_unit_test(a_signal_is_said_as_shells_say_it),
		cmocka_unit_test(a_script_ends_with_its_runner),
		cmocka_unit_test(it_runs_again_and_notices_what_changed),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
