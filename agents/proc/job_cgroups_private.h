/*
 * job_cgroups_private - shared by job_cgroups.c (groups) and job_cgroups_top.c
 * (processes).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_PROC_JOB_CGROUPS_PRIVATE_H
#define AGENTS_PROC_JOB_CGROUPS_PRIVATE_H

#include "agents/proc/job_cgroups.h"

struct job_cgroups_group {
	char path[NAME_BYTES_MAX + 1]; /* below the root */
	char name[NAME_BYTES_MAX + 1];
	bool named; /* the id of its job is known, or none is needed */
	struct processor_times times;
};

/* The processor time of a process at the last call. */
struct job_cgroups_seen {
	uint64_t pid, start_ticks, used_ticks;
};

struct job_cgroups {
	struct job_cgroups_options options;
	struct job_cgroups_group *groups; /* by path */
	uint32_t count, room;
	struct job_cgroups_left_out left_out;
	char *buffer;
	uint32_t buffer_bytes;

	struct job_cgroups_seen *seen; /* sorted by pid; allocated on demand */
	uint32_t seen_count;
	int64_t pass_ns; /* time of the last pass, since boot; 0: none */
	struct job_cgroups_lookup *lookup; /* of an id; NULL: none was asked */
};

/* Read a file by its path; a view of the buffer. */
struct text job_cgroups_read_path(
    struct job_cgroups *job_cgroups, const char *path);

/* The processes in a group and in those below it, in any order. */
struct job_cgroups_pids {
	uint64_t *at; /* taken by the caller: free it */
	uint32_t count, room;
	uint64_t left_out, hidden;
};
void job_cgroups_list(struct job_cgroups *job_cgroups, const char *path,
    struct job_cgroups_pids *pids);

/* Give a group its name. */
void job_cgroups_set_name(
    struct job_cgroups *job_cgroups, struct job_cgroups_group *group);
void job_cgroups_close_names(struct job_cgroups *job_cgroups);

#endif
