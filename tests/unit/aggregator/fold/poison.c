/*
 * poison - tests of aggregator/fold/poison.h, with children that crash.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/rig.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "aggregator/fold/poison.h"

static char folder[64];

static int
set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/poolscope-poison-XXXXXX");
	return mkdtemp(folder) == NULL ? -1 : 0;
}

static int
tear_down(void **state)
{
	(void)state;
	return nftw(folder, rig_remove, 8, FTW_DEPTH | FTW_PHYS);
}

/* A process that dies of `number` at entries first..last. */
static void
crash(uint64_t first, uint64_t last, int number)
{
	pid_t child = fork();
	struct rlimit none = { 0, 0 };
	struct poison poison;
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &none);
		/* Without what a sanitizer makes of a signal. */
		signal(number, SIG_DFL);
		if (poison_open(&poison, folder, POISON_FOLD, NULL) != 0)
			_exit(1);
		poison_watch();
		poison_enter(&poison, first, last);
		raise(number);
		_exit(2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), number);
}

static struct poison
look(void)
{
	struct poison poison;

	assert_int_equal(poison_open(&poison, folder, POISON_FOLD, NULL), 0);
	return poison;
}

static void
a_crash_makes_a_whole_transaction_suspect(void **state)
{
	struct poison poison;

	(void)state;
	crash(5, 90, SIGSEGV);
	poison = look();
	assert_false(poison_suspects(&poison, 4));
	assert_true(poison_suspects(&poison, 5));
	assert_true(poison_suspects(&poison, 90));
	assert_false(poison_suspects(&poison, 91));
	assert_false(poison_convicts(&poison, 5));
	poison_leave(&poison, 89);
	assert_true(poison_suspects(&poison, 90));
	poison_leave(&poison, 90);
	assert_false(poison_suspects(&poison, 90));
	poison_close(&poison);
	poison = look();
	assert_false(poison_suspects(&poison, 50));
	poison_close(&poison);
}

static void
the_third_crash_convicts(void **state)
{
	struct poison poison;

	(void)state;
	crash(5, 90, SIGABRT);
	crash(17, 17, SIGBUS);
	poison = look();
	assert_true(poison_suspects(&poison, 17));
	assert_false(poison_convicts(&poison, 17));
	poison_close(&poison);
	crash(17, 17, SIGFPE);
	poison = look();
	assert_true(poison_convicts(&poison, 17));
	poison_close(&poison);
}

static void
a_kill_from_outside_says_nothing(void **state)
{
	struct poison poison;
	int i;

	(void)state;
	for (i = 0; i < 5; i++)
		crash(5, 5, SIGKILL);
	poison = look();
	assert_false(poison_suspects(&poison, 5));
	poison_close(&poison);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_crash_makes_a_whole_transaction_suspect),
		CASE(the_third_crash_convicts),
		CASE(a_kill_from_outside_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
