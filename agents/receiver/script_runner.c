/*
 * script_runner - a process that runs one script whenever it is asked to.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/script_runner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/memory.h"

/* ---- in the runner ---- */

/* Keep the standard descriptors, and `fd` as the next one. */
static int
keep_only(int fd)
{
	int kept = STDERR_FILENO + 1;

	if (fd != kept && dup3(fd, kept, O_CLOEXEC) < 0)
		return -1;
	return close_range((unsigned)kept + 1, ~0U, 0) == 0 ? kept : -1;
}

/* The signals of a terminal or a supervisor reach the receiver, too: it hangs
 * up when it has stopped. */
static void
ignore_signals(void)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE,
		SIGQUIT, SIGUSR1, SIGUSR2 };

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		(void)sigaction(ignored[i],
		    &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
}

static _Noreturn void
serve(int fd, const struct script_command *command)
{
	struct script_result *result = memory_zero(1, sizeof(*result));
	int children;
	char byte;

	(void)prctl(PR_SET_NAME, "poolscope-scrip");
	(void)setsid();
	ignore_signals();
	fd = keep_only(fd);
	children = script_run_prepare(NULL);
	while (fd >= 0 && children >= 0 && recv(fd, &byte, 1, 0) == 1) {
		size_t bytes;

		script_run(command, children, fd, result);
		bytes = offsetof(struct script_result, output) +
			result->output_bytes;
		if (send(fd, result, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
			break;
	}
	free(result);
	_exit(0);
}

/* ---- in the receiver ---- */

int
script_runner_open(struct script_runner *runner,
    const struct script_command *command, struct err *err)
{
	int fd[2];

	*runner = (struct script_runner){ .fd = -1, .pid = -1 };
	/* A message arrives complete or not at all. */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) != 0)
		return err_set(err, "socketpair: %s", strerror(errno));
	runner->pid = fork();
	if (runner->pid == 0)
		serve(fd[1], command);
	close(fd[1]);
	runner->fd = fd[0];
	return runner->pid > 0 ? 0 : err_set(err, "fork: %s", strerror(errno));
}

void
script_runner_hang_up(struct script_runner *runner)
{
	if (runner->fd >= 0)
		close(runner->fd);
	runner->fd = -1;
}

void
script_runner_close(struct script_runner *runner)
{
	script_runner_hang_up(runner);
	if (runner->pid > 0)
		while (waitpid(runner->pid, NULL, 0) < 0 && errno == EINTR)
			;
	runner->pid = -1;
}

static int
has_gone(struct err *err)
{
	return err_set(err, "the process that runs the script has ended");
}

int
script_runner_begin(struct script_runner *runner, struct err *err)
{
	return send(runner->fd, "", 1, MSG_NOSIGNAL) == 1 ? 0 : has_gone(err);
}

int
script_runner_take(
    struct script_runner *runner, struct script_result *result, struct err *err)
{
	ssize_t n;

	do
		n = recv(runner->fd, result, sizeof(*result), 0);
	while (n < 0 && errno == EINTR);
	return n >= (ssize_t)offsetof(struct script_result, output) &&
		       result->output_bytes <= SCRIPT_OUTPUT_BYTES
		   ? 0
		   : has_gone(err);
}
