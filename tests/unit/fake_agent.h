/*
 * fake_agent - a process that listens where an agent does, for tests of what
 * submits to one.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_FAKE_AGENT_H
#define TESTS_UNIT_FAKE_AGENT_H

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agents/accept/local_listen.h"
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

static char fake_agent_dir[SCRATCH_BYTES];
static char fake_agent_path[SCRATCH_BYTES + 16]; /* of its socket */

/* It does this with each client that comes, and ends with the test. */
static inline pid_t
fake_agent_start(void (*serve)(int client))
{
	struct lockfile lockfile = { .path = NULL };
	struct err err = { 0 };
	pid_t pid;
	int fd = -1;

	scratch_make(fake_agent_dir);
	snprintf(fake_agent_path, sizeof(fake_agent_path), "%s/agent.sock",
	    fake_agent_dir);
	if (local_listen(
		&fd, &lockfile, fake_agent_path, SOCK_SEQPACKET, &err) != 0)
		fail_msg("%s", err.text);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (pid == 0) {
		struct pollfd waiting = { .fd = fd, .events = POLLIN };
		int client;

		poll(&waiting, 1, -1);
		client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		if (client >= 0) {
			serve(client);
			close(client);
		}
	}
	close(fd);
	lockfile_release(&lockfile);
	return pid;
}

static inline void
fake_agent_stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	scratch_remove(fake_agent_dir);
}

#endif
