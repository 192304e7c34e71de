/*
 * child_trace - observes the descendants of a command, each from start to end.
 *
 * It uses ptrace(2): no process is missed, however short; the cost is limited
 * to its start, its exec calls and its end.  A traced program cannot trace,
 * and gains no privileges from a set-user-ID program.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_CHILD_CHILD_TRACE_H
#define AGENTS_CHILD_CHILD_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agents/child/child.h"

enum { CHILD_TRACE_MAX = 4096 }; /* processes at a time */

struct child_trace; /* opaque */

/* When the command may not be traced, `*trace` stays NULL, and one log line
 * has the reason. */
void child_trace_begin(struct child_trace **trace, pid_t command,
    const struct child_options *options);

/* Returns the number of processes that did not fit. */
uint64_t child_trace_end(struct child_trace **trace);

/* A traced process has stopped with this status: handle it and continue the
 * process.  True when the command itself must stay stopped. */
bool child_trace_stop(struct child_trace *trace, pid_t pid, int status);

#endif
