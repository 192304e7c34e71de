/*
 * child - a command that cannot be started leaves nothing behind.
 * SPDX-License-Identifier: MIT
 */
#include "agents/child/child.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/check.h"

enum { FD_MAX = 1024 };

static int
count_open(void)
{
	int count = 0;

	for (int fd = 0; fd < FD_MAX; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static enum child_result
run(char *command, struct child_process *process)
{
	char *argv[] = { command, NULL };
	const struct child_options options = { .argv = argv };
	struct err err = { 0 };
	uint64_t unreported;

	return child_command(&options, process, &unreported, &err);
}

/* Room for one pipe, for one and a half, for none: it needs two. */
static void
without_descriptors_for_its_pipes_none_is_left_open(void **state)
{
	struct rlimit before, few;
	struct child_process process;
	int lowest = dup(0), open_before;

	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	open_before = count_open();
	for (int room = 0; room < 4; room++) {
		few = before;
		few.rlim_cur = (rlim_t)(lowest + room);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		assert_int_equal(run("true", &process), CHILD_FAILED);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		assert_int_equal(count_open(), open_before);
	}
	assert_int_equal(run("true", &process), CHILD_ENDED);
	assert_true(WIFEXITED(process.status));
	assert_int_equal(WEXITSTATUS(process.status), 0);
	assert_int_equal(count_open(), open_before);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    without_descriptors_for_its_pipes_none_is_left_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
