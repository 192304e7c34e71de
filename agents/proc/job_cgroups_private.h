/*
 * job_cgroups_private - shared by job_cgroups.c (groups) and job_cgroups_top.c
 * (processes).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_PROC_JOB_CGROUPS_PRIVATE_H
#define AGENTS_PROC_JOB_CGROUPS_PRIVATE_H

#include <limits.h>

#include "agents/proc/job_cgroups.h"

enum {
	JOB_CGROUPS_PIDS_MAX = 4096,
	JOB_CGROUPS_READ_BYTES = 16 << 10,
};

struct job_cgroups_group {
	char path[NAME_BYTES_MAX + 1];
	int fd[JOB_CGROUPS_FILES]; /* -1: does not exist */
	bool seen;
};

/* The processor time of a process at the last call. */
struct job_cgroups_seen {
	uint64_t pid, start_ticks, used_ticks;
};

struct job_cgroups {
	const char *root, *patterns;
	struct job_cgroups_group groups[JOB_CGROUPS_MAX];
	uint32_t count;
	char buffer[JOB_CGROUPS_READ_BYTES];

	struct job_cgroups_seen *seen; /* sorted by pid; allocated on demand */
	uint32_t seen_count;
	int64_t pass_ns; /* time of the last pass, since boot; 0: none */
};

/* Read a small file by its path; a view of the buffer. */
struct text job_cgroups_read_path(
    struct job_cgroups *job_cgroups, const char *path);

#endif
