/*
 * quarantine - tests of aggregator/indexer/quarantine.h, with children that
 * crash.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/rig.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "aggregator/indexer/quarantine.h"

static char folder[64];

static int
set_up(void **state)
{
	strcpy(folder, "/tmp/poolscope-quarantine-XXXXXX");
	return mkdtemp(folder) == NULL ? -1 : 0;
}

static int
tear_down(void **state)
{
	return nftw(folder, rig_remove, 8, FTW_DEPTH | FTW_PHYS);
}

/* A process that dies of `number` at entries first..last. */
static void
crash(uint64_t first, uint64_t last, int number)
{
	pid_t child = fork();
	struct rlimit none = { 0, 0 };
	struct quarantine quarantine;
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &none);
		/* Restore the default action: a sanitizer installs its own. */
		signal(number, SIG_DFL);
		if (quarantine_open(
			&quarantine, folder, QUARANTINE_INDEXER, NULL) != 0)
			_exit(1);
		quarantine_watch();
		quarantine_enter(&quarantine, first, last);
		raise(number);
		_exit(2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), number);
}

static struct quarantine
look(void)
{
	struct quarantine quarantine;

	assert_int_equal(
	    quarantine_open(&quarantine, folder, QUARANTINE_INDEXER, NULL), 0);
	return quarantine;
}

static void
a_crash_makes_a_whole_transaction_suspect(void **state)
{
	struct quarantine quarantine;

	crash(5, 90, SIGSEGV);
	quarantine = look();
	assert_false(quarantine_suspects(&quarantine, 4));
	assert_true(quarantine_suspects(&quarantine, 5));
	assert_true(quarantine_suspects(&quarantine, 90));
	assert_false(quarantine_suspects(&quarantine, 91));
	assert_false(quarantine_gives_up(&quarantine, 5));
	quarantine_leave(&quarantine, 89);
	assert_true(quarantine_suspects(&quarantine, 90));
	quarantine_leave(&quarantine, 90);
	assert_false(quarantine_suspects(&quarantine, 90));
	quarantine_close(&quarantine);
	quarantine = look();
	assert_false(quarantine_suspects(&quarantine, 50));
	quarantine_close(&quarantine);
}

static void
the_third_crash_convicts(void **state)
{
	struct quarantine quarantine;

	crash(5, 90, SIGABRT);
	crash(17, 17, SIGBUS);
	quarantine = look();
	assert_true(quarantine_suspects(&quarantine, 17));
	assert_false(quarantine_gives_up(&quarantine, 17));
	quarantine_close(&quarantine);
	crash(17, 17, SIGFPE);
	quarantine = look();
	assert_true(quarantine_gives_up(&quarantine, 17));
	quarantine_close(&quarantine);
}

static void
a_kill_from_outside_leaves_no_note(void **state)
{
	struct quarantine quarantine;
	int i;

	for (i = 0; i < 5; i++)
		crash(5, 5, SIGKILL);
	quarantine = look();
	assert_false(quarantine_suspects(&quarantine, 5));
	quarantine_close(&quarantine);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_crash_makes_a_whole_transaction_suspect),
		CASE(the_third_crash_convicts),
		CASE(a_kill_from_outside_leaves_no_note),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
