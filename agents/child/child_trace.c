/*
 * child_trace - observes the descendants of a command, each from start to end.
 * SPDX-License-Identifier: MIT
 */
#include "agents/child/child_trace.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/hash/hash.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

struct child_trace {
	struct child_options options;
	pid_t command;
	uint64_t unreported;
	uint32_t count;
	struct child_process
	    process[CHILD_TRACE_MAX]; /* pid 0: the slot is free */
};

void
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

uint64_t
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

bool
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
