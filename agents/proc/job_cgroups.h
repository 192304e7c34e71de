/*
 * job_cgroups - the control groups (version 2) that batch systems create for
 * jobs, and the busiest commands in them.
 *
 * Patterns of paths below the root select the groups of jobs.  The search is
 * repeated from time to time; the files of existing groups are kept open.
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
	JOB_CGROUPS_MAX = 32,     /* groups at a time */
	JOB_CGROUPS_TOP_MAX = 64, /* commands in a sample */
	JOB_CGROUPS_NAME_BYTES = 64,
};

enum job_cgroups_file {
	JOB_CGROUPS_CPU,
	JOB_CGROUPS_MEMORY,
	JOB_CGROUPS_MEMORY_PEAK,
	JOB_CGROUPS_MEMORY_EVENTS,
	JOB_CGROUPS_IO,
	JOB_CGROUPS_PROCESSES,
	JOB_CGROUPS_PRESSURE_CPU,
	JOB_CGROUPS_PRESSURE_MEMORY,
	JOB_CGROUPS_PRESSURE_IO,
	JOB_CGROUPS_FILES
};

/* The processes of one name, together: names are few and stay, pids are many
 * and go. */
struct job_cgroups_command {
	char name[JOB_CGROUPS_NAME_BYTES];
	uint64_t processes, threads, resident_pages;
	double processors; /* how many it used since the last look */
};

struct job_cgroups; /* opaque */

/* Where the control groups of version 2 are, out of /proc/self/mountinfo;
 * false: nowhere. */
bool job_cgroups_root(char to[static PATH_MAX], struct text mountinfo);

/* `patterns` are separated by commas; they and `root` must stay. */
void job_cgroups_open(
    struct job_cgroups **job_cgroups, const char *root, const char *patterns);
void job_cgroups_close(struct job_cgroups **job_cgroups);

/* Search for groups again.  Returns their number. */
uint32_t job_cgroups_find(struct job_cgroups *job_cgroups);
uint32_t job_cgroups_count(const struct job_cgroups *job_cgroups);

/* Path of a group below the root. */
const char *job_cgroups_path(
    const struct job_cgroups *job_cgroups, uint32_t group);
/* A file of a group as it is now; a view, valid until the next call.  Empty
 * when it is not there. */
struct text job_cgroups_read(struct job_cgroups *job_cgroups, uint32_t group,
    enum job_cgroups_file which);

/* The `max` commands in all groups that have used most processor time since
 * the last call, most first.  Returns how many; the first call has none. */
uint32_t job_cgroups_top(struct job_cgroups *job_cgroups,
    struct job_cgroups_command *top, uint32_t max);

#endif
