/*
 * child_trace - the descendants of a command, each from its begin to its end.
 *
 * By ptrace(2): none is missed, however short; only its begin, its programs
 * and its end cost it anything.  A program that is traced cannot trace, and
 * gains no privileges from a set-user-ID program.
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

/* `*trace` stays NULL, and one line of the log says why, when the command may
 * not be traced. */
void child_trace_begin(struct child_trace **trace, pid_t command,
    const struct child_options *options);

/* Returns how many processes there was no room for. */
uint64_t child_trace_end(struct child_trace **trace);

/* A traced process has stopped with this status: note what happened and let it
 * go on.  True when the command itself is to stay stopped. */
bool child_trace_stop(struct child_trace *trace, pid_t pid, int status);

#endif
