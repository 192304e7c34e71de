/*
 * child - runs a command: passes signals on, measures its use of resources.
 * SPDX-License-Identifier: MIT
 */
#include "agents/child/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agents/child/child_trace.h"
#include "proto/os/clock.h"

enum { BLOCK_BYTES = 512 }; /* unit of ru_inblock, for any disk */

/* ---- signals ---- */

static volatile pid_t command;

/* The terminal sends these to the command as well: it is in our group. */
static void
pass_on(int signal, siginfo_t *info, void *context)
{
	int before = errno;

	(void)context;
	if (info->si_code == SI_QUEUE)
		sigqueue(command, signal, info->si_value);
	else if (info->si_code != SI_KERNEL)
		kill(command, signal);
	errno = before;
}

/* Signals of this process itself, or that cannot be caught. */
static bool
is_passed_on(int signal)
{
	switch (signal) {
	case SIGKILL:
	case SIGSTOP:
	case SIGCHLD:
	case SIGSEGV:
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
	case SIGTRAP:
	case SIGSYS:
	case SIGABRT:
	case SIGPIPE:
	case SIGXFSZ:
	case SIGTTIN:
	case SIGTTOU: return false;
	default:
		return signal < SIGSYS ||
		       (signal >= SIGRTMIN && signal <= SIGRTMAX);
	}
}

/* The command ignores what we ignore, as it would without us. */
static void
catch_signals(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO }, before;

	action.sa_sigaction = pass_on;
	sigfillset(&action.sa_mask);
	for (int signal = 1; signal <= SIGRTMAX; signal++)
		if (is_passed_on(signal) &&
		    sigaction(signal, NULL, &before) == 0 &&
		    before.sa_handler != SIG_IGN)
			sigaction(signal, &action, NULL);
}

void
child_end_like(int status)
{
	const struct rlimit none = { 0, 0 };
	sigset_t set;
	int signal;

	if (WIFEXITED(status))
		exit(WEXITSTATUS(status));
	signal = WTERMSIG(status);
	setrlimit(RLIMIT_CORE, &none); /* the command has dumped its own */
	(void)sigaction(
	    signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	sigemptyset(&set);
	sigaddset(&set, signal);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	exit(128 + signal);
}

/* ---- the command ---- */

/* In the child: wait until the parent is ready, and exec the command.  An
 * error is written to the pipe. */
static void
become(char **argv, const sigset_t *mask, int ready, int failed)
{
	char byte;
	int why;

	while (read(ready, &byte, 1) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	why = errno;
	if (write(failed, &why, sizeof(why)) < 0) {
		/* Nobody reads the error. */
	}
	_exit(127);
}

/* The error of the exec, or 0 when the pipe was closed by its success. */
static int
exec_error(int failed)
{
	int why = 0;
	ssize_t n;

	do
		n = read(failed, &why, sizeof(why));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(why) ? why : 0;
}

/* The command has stopped: stop as well, until a signal continues us, and then
 * continue the command. */
static void
stop_too(void)
{
	raise(SIGSTOP);
	kill(command, SIGCONT);
}

static double
seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Wait until the command has ended; report its descendants in the meantime. */
static void
wait_for(struct child_trace *trace, struct child_process *process)
{
	struct rusage usage;
	int status;

	for (;;) {
		pid_t pid = wait4(trace != NULL ? -1 : command, &status,
		    WUNTRACED | (trace != NULL ? __WALL : 0), &usage);

		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			break; /* cannot happen: it is our child */
		if (WIFSTOPPED(status)) {
			if (trace == NULL ||
			    child_trace_stop(trace, pid, status))
				stop_too();
			continue;
		}
		if (pid != command)
			continue;
		process->status = status;
		process->cpu_user = seconds(usage.ru_utime);
		process->cpu_system = seconds(usage.ru_stime);
		process->memory_peak = (uint64_t)usage.ru_maxrss << 10;
		process->io_read = (uint64_t)usage.ru_inblock * BLOCK_BYTES;
		process->io_write = (uint64_t)usage.ru_oublock * BLOCK_BYTES;
		break;
	}
}

/* From the fork to the end; returns the error of the exec. */
static int
run_command(const struct child_options *options, struct child_process *process,
    uint64_t *unreported, int ready, int failed)
{
	struct child_trace *trace = NULL;
	int why;

	if (options->on_child != NULL)
		child_trace_begin(&trace, command, options);
	close(ready); /* the child may continue */
	/* The tracer must handle the stop at exec before the exec completes. */
	why = trace == NULL ? exec_error(failed) : 0;
	wait_for(trace, process);
	if (trace != NULL)
		why = exec_error(failed);
	*unreported = child_trace_end(&trace);
	return why;
}

static int
open_pipes(int ready[static 2], int failed[static 2])
{
	int why;

	if (pipe2(ready, O_CLOEXEC) != 0)
		return -1;
	if (pipe2(failed, O_CLOEXEC) == 0)
		return 0;
	why = errno;
	close(ready[0]);
	close(ready[1]);
	errno = why;
	return -1;
}

enum child_result
child_command(const struct child_options *options,
    struct child_process *process, uint64_t *unreported, struct err *err)
{
	int64_t began_ns = clock_monotonic_ns();
	int ready[2], failed[2], why;
	sigset_t all, before;

	*process = (struct child_process){
		.begin_ns = clock_wall_ns(),
		.span = options->span,
	};
	*unreported = 0;
	if (open_pipes(ready, failed) != 0) {
		err_set(err, "pipe: %s", strerror(errno));
		return CHILD_FAILED;
	}
	/* Block signals until there is a child to pass them to. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	command = process->pid = fork();
	if (command == 0) {
		close(ready[1]);
		become(options->argv, &before, ready[0], failed[1]);
	}
	close(ready[0]);
	close(failed[1]);
	if (command < 0) {
		err_set(err, "fork: %s", strerror(errno));
		close(ready[1]);
		close(failed[0]);
		sigprocmask(SIG_SETMASK, &before, NULL);
		return CHILD_FAILED;
	}
	catch_signals();
	sigprocmask(SIG_SETMASK, &before, NULL);
	why = run_command(options, process, unreported, ready[1], failed[0]);
	close(failed[0]);
	process->end_ns = process->begin_ns + clock_monotonic_ns() - began_ns;
	if (why == 0)
		return CHILD_ENDED;
	err_set(err, "%s: %s", options->argv[0], strerror(why));
	return why == ENOENT ? CHILD_NOT_FOUND : CHILD_NOT_EXECUTABLE;
}
