/*
 * job_cgroups - the control groups (version 2) that batch systems make for
 * jobs, and the busiest commands in them.
 *
 * Which groups are jobs is said by patterns of paths below the root.  They are
 * looked for again from time to time; the files of those that are there are
 * kept open.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_PROC_JOB_CGROUPS_H
#define AGENTS_PROC_JOB_CGROUPS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "agents/proc/cgroup_stat.h"
#include "proto/base/text.h"

enum {
	JOBS_MAX = 32,     /* groups at a time */
	JOBS_TOP_MAX = 64, /* commands in a sample */
	JOBS_NAME_BYTES = 64,
};

enum jobs_file {
	JOBS_CPU,
	JOBS_MEMORY,
	JOBS_MEMORY_PEAK,
	JOBS_MEMORY_EVENTS,
	JOBS_IO,
	JOBS_PROCESSES,
	JOBS_PRESSURE_CPU,
	JOBS_PRESSURE_MEMORY,
	JOBS_PRESSURE_IO,
	JOBS_FILES
};

/* The processes of one name, together: names are few and stay, pids are many
 * and go. */
struct jobs_command {
	char name[JOBS_NAME_BYTES];
	uint64_t processes, threads, resident_pages;
	double processors; /* how many it used since the last look */
};

struct jobs; /* opaque */

/* Where the control groups of version 2 are, out of /proc/self/mountinfo;
 * false: nowhere. */
bool jobs_root(char to[static PATH_MAX], struct text mountinfo);

/* `patterns` are separated by commas; they and `root` must stay. */
void jobs_open(struct jobs **jobs, const char *root, const char *patterns);
void jobs_close(struct jobs **jobs);

/* Look for groups anew.  Returns how many there are. */
uint32_t jobs_find(struct jobs *jobs);
uint32_t jobs_count(const struct jobs *jobs);

/* Path of a group below the root. */
const char *jobs_path(const struct jobs *jobs, uint32_t group);
/* A file of a group as it is now; a view, valid until the next call.  Empty
 * when it is not there. */
struct text jobs_read(struct jobs *jobs, uint32_t group, enum jobs_file which);

/* The `max` commands in all groups that have used most processor time since
 * the last call, most first.  Returns how many; the first call has none. */
uint32_t jobs_top(struct jobs *jobs, struct jobs_command *top, uint32_t max);

#endif
