/*
 * rig - real processes for a benchmark: a fresh instance in a folder of its
 * own, aggregator and broker of the same build, their memory, their end.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_BENCH_RIG_H
#define TESTS_BENCH_RIG_H

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/os/clock.h"

enum { RIG_PATH_BYTES = 400 };

struct rig {
	char dir[RIG_PATH_BYTES];
	pid_t aggregator, broker;
};

/* Ends with a sentence: a benchmark that cannot run measures nothing. */
static inline void
rig_fail(const char *what)
{
	perror(what);
	exit(1);
}

/* $BENCH_DIR, else $TMPDIR, else /tmp: what is measured is its disk. */
static inline void
rig_make_dir(struct rig *rig)
{
	const char *base = getenv("BENCH_DIR");

	if (base == NULL)
		base = getenv("TMPDIR");
	snprintf(rig->dir, sizeof(rig->dir), "%s/poolscope-bench-XXXXXX",
	    base != NULL ? base : "/tmp");
	if (mkdtemp(rig->dir) == NULL)
		rig_fail(rig->dir);
}

/* DIR/name. */
static inline const char *
rig_path(const struct rig *rig, const char *name)
{
	static char path[2 * RIG_PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", rig->dir, name);
	return path;
}

/* "build/bin/poolscope-NAME" next to "build/bench/this". */
static inline void
rig_program(char to[static PATH_MAX], const char *name)
{
	char self[PATH_MAX - 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		rig_fail("/proc/self/exe");
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(to, PATH_MAX, "%s/../bin/poolscope-%s", self, name);
}

/* Returns when it says that it is ready. */
static inline pid_t
rig_start(const struct rig *rig, const char *name)
{
	char program[PATH_MAX], ready[16], byte;
	int ends[2];
	pid_t pid;

	rig_program(program, name);
	if (pipe(ends) != 0)
		rig_fail("pipe");
	snprintf(ready, sizeof(ready), "%d", ends[1]);
	pid = fork();
	if (pid < 0)
		rig_fail("fork");
	if (pid == 0) {
		close(ends[0]);
		execl(program, program, "--dir", rig->dir, "--ready-fd", ready,
		    "--log", "warn", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1) {
		fprintf(stderr, "%s did not start\n", program);
		exit(1);
	}
	close(ends[0]);
	return pid;
}

static inline void
rig_up(struct rig *rig)
{
	rig_make_dir(rig);
	rig->aggregator = rig_start(rig, "aggregator");
	rig->broker = rig_start(rig, "broker");
}

/* A line of /proc/PID/status in KiB: "VmHWM", "RssAnon". */
static inline long
rig_memory(pid_t pid, const char *line)
{
	char path[64], text[256];
	long kib = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return -1;
	while (fgets(text, sizeof(text), file) != NULL)
		if (strncmp(text, line, strlen(line)) == 0)
			kib = strtol(text + strlen(line) + 1, NULL, 10);
	fclose(file);
	return kib;
}

static inline double
rig_mib(pid_t pid, const char *line)
{
	return (double)rig_memory(pid, line) / 1024;
}

static inline void
rig_end(pid_t pid)
{
	int status;

	kill(pid, SIGTERM);
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fprintf(stderr, "process %d ended with status %x\n", (int)pid,
		    (unsigned)status);
}

static inline void
rig_remove(const struct rig *rig)
{
	char command[2 * RIG_PATH_BYTES];

	snprintf(command, sizeof(command), "rm -rf '%s'", rig->dir);
	if (system(command) != 0)
		rig_fail(rig->dir);
}

static inline void
rig_down(struct rig *rig)
{
	rig_end(rig->broker);
	rig_end(rig->aggregator);
	rig_remove(rig);
}

#endif
