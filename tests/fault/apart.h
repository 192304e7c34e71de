/*
 * apart - work in a process of its own, since a crash or a hang there is a
 * result; and a directory in memory for it, that goes with this process.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FAULT_APART_H
#define TESTS_FAULT_APART_H

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Until it ended, or `seconds` in which we looked: those in which both
 * of us were stopped do not count. */
static inline void
apart_wait(pid_t child, unsigned seconds)
{
	struct pollfd ended = { .fd = pidfd_open(child, 0), .events = POLLIN };

	if (ended.fd < 0)
		abort();
	while (seconds > 0 && poll(&ended, 1, 1000) == 0)
		seconds--;
	if (seconds == 0)
		kill(child, SIGALRM);
	close(ended.fd);
}

/* The status, as wait(2) has it: what `work` returned, or a signal; SIGALRM
 * after `seconds`. */
static inline int
apart_run(unsigned seconds, int (*work)(void *arg), void *arg)
{
	const struct rlimit none = { 0, 0 };
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child < 0)
		abort();
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &none);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(work(arg));
	}
	apart_wait(child, seconds);
	if (waitpid(child, &status, 0) != child)
		abort();
	return status;
}

/* ---- the directory ---- */

static char apart_made[64];
static pid_t apart_maker;

static inline void
apart_remove(void)
{
	char command[80];

	if (getpid() != apart_maker)
		return; /* somebody called exit() in a child */
	snprintf(command, sizeof(command), "rm -rf %s", apart_made);
	if (system(command) != 0)
		fprintf(stderr, "%s stays\n", apart_made);
}

/* $KEEP, which stays, or one that goes at the end. */
static inline const char *
apart_base(const char *program)
{
	const char *name = strrchr(program, '/');

	if (getenv("KEEP") != NULL)
		return getenv("KEEP");
	snprintf(apart_made, sizeof(apart_made), "/dev/shm/%.30s.XXXXXX",
	    name == NULL ? program : name + 1);
	if (mkdtemp(apart_made) == NULL) {
		perror(apart_made);
		exit(1);
	}
	apart_maker = getpid();
	atexit(apart_remove);
	return apart_made;
}

#endif
