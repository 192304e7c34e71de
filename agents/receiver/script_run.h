/*
 * script_run - runs a script once, to its end and to that of all it started.
 *
 * The script has a process group of its own, an environment of five names, and
 * nothing on its standard input.  At the timeout its group gets TERM, and KILL
 * after two seconds.  When it has ended, whatever it started and left behind
 * is killed, also what has left its group: the calling process adopts that
 * (PR_SET_CHILD_SUBREAPER) and so must have no other children.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_SCRIPT_RUN_H
#define AGENTS_RECEIVER_SCRIPT_RUN_H

#include <stdint.h>
#include <sys/types.h>

#include "proto/base/err.h"

enum {
	SCRIPT_OUTPUT_BYTES = 64 << 10, /* more than that is refused */
	SCRIPT_ERRORS_BYTES = 4 << 10,  /* the first ones are kept */
};

struct script_command {
	const char *name;    /* of the script */
	const char *command; /* script_file_words */
	const char *user;    /* NULL: that of this process */
	uid_t uid;           /* the user's */
	gid_t gid;
	const char *home;
	int64_t timeout_ns;
};

enum script_end {
	SCRIPT_EXITED,
	SCRIPT_SIGNALLED, /* it died of a signal that was not ours */
	SCRIPT_TIMED_OUT,
	SCRIPT_TOO_LONG, /* it printed more than SCRIPT_OUTPUT_BYTES */
	SCRIPT_STOPPED,  /* this process is asked to end */
	SCRIPT_REFUSED,  /* not started; `why` says why */
};

struct script_result {
	enum script_end end;
	int status;          /* as shells have it: 128 + the signal's number */
	uint32_t left;       /* processes that it left behind, killed now */
	uint32_t unkillable; /* those that KILL does not end */
	int64_t ns;          /* from start to end */
	struct err why;
	uint32_t errors_bytes, output_bytes;
	char errors[SCRIPT_ERRORS_BYTES];
	char output[SCRIPT_OUTPUT_BYTES]; /* the last member: sent in part */
};

/* Make this process one that runs scripts.  Returns a descriptor that reports
 * children, or -1. */
int script_run_prepare(struct err *err);

/* Run the script; a hang-up of `stop` ends it as the timeout does. */
void script_run(const struct script_command *command, int children, int stop,
    struct script_result *result);

#endif
