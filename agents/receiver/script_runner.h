/*
 * script_runner - a process that runs one script whenever it is asked to.
 *
 * The receiver forks it before its sandbox, which no script could work in.  It
 * holds none of the receiver's descriptors, and ends with the receiver, however
 * that ends; the script ends with it.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_SCRIPT_RUNNER_H
#define AGENTS_RECEIVER_SCRIPT_RUNNER_H

#include "agents/receiver/script_run.h"
#include "proto/base/err.h"

struct script_runner {
	int fd; /* readable when the result is there */
	pid_t pid;
};

/* Before threads and the sandbox.  `command` must outlive it. */
int script_runner_open(struct script_runner *runner,
    const struct script_command *command, struct err *err);
/* End the script, if it runs, as a timeout does; close waits for that. */
void script_runner_hang_up(struct script_runner *runner);
void script_runner_close(struct script_runner *runner);

/* Ask it to run the script; then wait for the result.  -1: it has ended. */
int script_runner_begin(struct script_runner *runner, struct err *err);
int script_runner_take(struct script_runner *runner,
    struct script_result *result, struct err *err);

#endif
