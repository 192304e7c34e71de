/*
 * child - runs a command: passes signals on, measures its use of resources.
 * SPDX-License-Identifier: MIT
 */
#include "agents/child/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

/* ---- the descendants of the command, each from start to end ----
 *
 * ptrace(2) misses no process, however short; the cost is limited to its start,
 * its exec calls and its end.  A traced program cannot trace, and gains no
 * privileges from a set-user-ID program. */

enum { CHILD_TRACE_MAX = 4096 }; /* processes at a time */

struct child_trace {
	struct child_options options;
	pid_t command;
	uint64_t unreported;
	uint32_t count;
	struct child_process
	    process[CHILD_TRACE_MAX]; /* pid 0: the slot is free */
};

/* When the command may not be traced, `*trace` stays NULL, and one log line
 * has the reason. */
static void
child_trace_begin(struct child_trace **made, pid_t command,
    const struct child_options *options)
{
	struct child_trace *trace = memory_zero(1, sizeof(*trace));

	trace->options = *options;
	trace->command = command;
	if (ptrace(PTRACE_SEIZE, command, NULL,
		PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
		    PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT) != 0) {
		log_warn("cannot trace the command, so its descendants get no "
			 "spans: ptrace: %s",
		    strerror(errno));
		free(trace);
		return;
	}
	*made = trace;
}

/* Returns the number of processes that did not fit. */
static uint64_t
child_trace_end(struct child_trace **gone)
{
	uint64_t unreported = *gone != NULL ? (*gone)->unreported : 0;

	free(*gone);
	*gone = NULL;
	return unreported;
}

static struct child_process *
find(struct child_trace *trace, pid_t pid)
{
	for (uint32_t i = 0; i < trace->count; i++)
		if (trace->process[i].pid == pid)
			return &trace->process[i];
	return NULL;
}

/* ---- /proc of a process; it is ours, and stopped ---- */

/* The file's beginning as a string, "" when it cannot be read. */
static const char *
read_proc(char *to, size_t bytes, pid_t pid, const char *name)
{
	char path[64];
	FILE *file;
	size_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	file = fopen(path, "re");
	if (file != NULL) {
		n = fread(to, 1, bytes - 1, file);
		fclose(file);
	}
	to[n] = '\0';
	return to;
}

/* The number after `label`, 0 when there is none. */
static uint64_t
number_after(const char *text, const char *label)
{
	const char *at = strstr(text, label);

	return at != NULL ? strtoull(at + strlen(label), NULL, 10) : 0;
}

static void
take_name(struct child_process *process)
{
	char comm[64];

	read_proc(comm, sizeof(comm), process->pid, "comm");
	comm[strcspn(comm, "\n")] = '\0';
	snprintf(process->name, sizeof(process->name), "%.15s", comm);
}

static void
take_use(struct child_process *process)
{
	double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
	unsigned long long user = 0, system = 0;
	char text[4096];
	const char *at;

	/* The name may contain anything, also a parenthesis. */
	at = strrchr(read_proc(text, sizeof(text), process->pid, "stat"), ')');
	if (at != NULL &&
	    sscanf(at + 1,
		" %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
		&system) == 2) {
		process->cpu_user = (double)user * tick;
		process->cpu_system = (double)system * tick;
	}
	read_proc(text, sizeof(text), process->pid, "status");
	process->memory_peak = number_after(text, "\nVmHWM:") << 10;
	read_proc(text, sizeof(text), process->pid, "io");
	process->io_read = number_after(text, "\nread_bytes:");
	process->io_write = number_after(text, "\nwrite_bytes:");
}

/* ---- start and end ---- */

/* A process that was just created and has not run yet.  Its own first stop
 * reports it: the parent's stop may come later, even after the process has
 * ended. */
static void
begin(struct child_trace *trace, pid_t pid)
{
	struct child_process *process = find(trace, 0);
	const struct child_process *parent;
	char text[2048];

	read_proc(text, sizeof(text), pid, "status");
	/* A thread is not a process: it gets no span. */
	if (number_after(text, "\nTgid:") != (uint64_t)pid)
		return;
	if (process == NULL && trace->count < CHILD_TRACE_MAX)
		process = &trace->process[trace->count++];
	if (process == NULL) {
		trace->unreported++;
		return;
	}
	parent = find(trace, (pid_t)number_after(text, "\nPPid:"));
	*process = (struct child_process){
		.pid = pid,
		.begin_ns = clock_wall_ns(),
		.parent = parent != NULL ? parent->span : trace->options.span,
	};
	hash_random_bytes(&process->span, sizeof(process->span));
	process->span |= 1; /* zero is none */
	take_name(process);
}

static void
end(struct child_trace *trace, struct child_process *process, int status)
{
	process->status = status;
	process->end_ns = clock_wall_ns();
	if (process->end_ns < process->begin_ns) /* the clock was set */
		process->end_ns = process->begin_ns;
	take_use(process);
	trace->options.on_child(trace->options.arg, process);
	process->pid = 0;
}

/* A traced process has stopped with this status: handle it and continue the
 * process.  True when the command itself must stay stopped. */
static bool
child_trace_stop(struct child_trace *trace, pid_t pid, int status)
{
	int event = status >> 16, signal = WSTOPSIG(status);
	struct child_process *process = find(trace, pid);
	unsigned long message = 0;

	if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
		/* Its process group was stopped: it stays stopped until a
		 * signal continues it. */
		ptrace(PTRACE_LISTEN, pid, NULL, NULL);
		return pid == trace->command;
	}
	if (event == PTRACE_EVENT_STOP && process == NULL &&
	    pid != trace->command)
		begin(trace, pid);
	else if (event == PTRACE_EVENT_EXEC && process != NULL)
		take_name(process);
	else if (event == PTRACE_EVENT_EXIT && process != NULL &&
		 ptrace(PTRACE_GETEVENTMSG, pid, NULL, &message) == 0)
		end(trace, process, (int)message);
	ptrace(PTRACE_CONT, pid, NULL, event == 0 ? (long)signal : 0);
	return false;
}

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
