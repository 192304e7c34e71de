/*
 * child_text - what a function prints that may end the process.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_CHILD_TEXT_H
#define TESTS_UNIT_CHILD_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/check.h"

/* Call `work` in a child; what it prints goes to `out`.  Returns the exit
 * status of the child, 0 if `work` returns. */
static inline int
child_text(void (*work)(void *arg), void *arg, char *out, size_t room)
{
	int fds[2], status;
	size_t used = 0;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		close(fds[1]);
		work(arg);
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

#endif
