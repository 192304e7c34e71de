/*
 * job_cgroups_private - what job_cgroups.c (groups) and job_cgroups_top.c
 * (processes) share. SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_PROC_JOB_CGROUPS_PRIVATE_H
#define AGENTS_PROC_JOB_CGROUPS_PRIVATE_H

#include <limits.h>

#include "agents/proc/job_cgroups.h"

enum {
	JOBS_PIDS_MAX = 4096,
	JOBS_READ_BYTES = 16 << 10,
};

struct jobs_group {
	char path[NAME_BYTES_MAX + 1];
	int fd[JOBS_FILES]; /* -1: not there */
	bool seen;
};

/* What a process had used when it was seen last. */
struct jobs_seen {
	uint64_t pid, start_ticks, used_ticks;
};

struct jobs {
	const char *root, *patterns;
	struct jobs_group groups[JOBS_MAX];
	uint32_t count;
	char buffer[JOBS_READ_BYTES];

	struct jobs_seen *seen; /* by pid; made when wanted */
	uint32_t seen_count;
	int64_t looked_ns; /* since boot; 0: never */
};

/* A whole small file by its path; a view into the buffer. */
struct text jobs_read_path(struct jobs *jobs, const char *path);

#endif
