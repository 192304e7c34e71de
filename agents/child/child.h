/*
 * child - runs a command: passes signals on, measures its use of resources.
 *
 * Signals that this process gets are passed to the command, except those that
 * a terminal sends to both; when the command stops, so does this process.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_CHILD_CHILD_H
#define AGENTS_CHILD_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/err.h"

enum { CHILD_NAME_BYTES = 16 }; /* with the NUL; as in the kernel */

/* A process that has ended. */
struct child_process {
	pid_t pid;
	char name[CHILD_NAME_BYTES];
	int64_t begin_ns,
	    end_ns; /* wall clock; their difference is from the monotonic one */
	uint64_t span, parent;                   /* numbers of spans */
	int status;                              /* as wait(2) gives it */
	double cpu_user, cpu_system;             /* s */
	uint64_t memory_peak, io_read, io_write; /* bytes */
};

struct child_options {
	char **argv;   /* NULL-terminated */
	uint64_t span; /* of the command */
	/* Reports its descendants as well, when not NULL: called as each one
	 * ends. */
	void (*on_child)(void *arg, const struct child_process *process);
	void *arg;
};

enum child_result {
	CHILD_ENDED,
	CHILD_NOT_FOUND,      /* `process` has the time of the attempt */
	CHILD_NOT_EXECUTABLE, /* same */
	CHILD_FAILED,         /* no process could be created */
};

/* Run the command to its end.  `process` gets its times and resource use,
 * including the descendants that it waited for; `unreported` counts descendants
 * that could not be reported for lack of room.  Every result but CHILD_ENDED
 * sets the error. */
enum child_result child_command(const struct child_options *options,
    struct child_process *process, uint64_t *unreported, struct err *err);

/* End as the command ended: with its status, or by its signal. */
void child_end_like(int status) __attribute__((noreturn));

#endif
