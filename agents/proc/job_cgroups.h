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

/* All processes of one name.  Names are few and stay the same; pids are many
 * and change. */
struct job_cgroups_command {
	char name[JOB_CGROUPS_NAME_BYTES];
	uint64_t processes, threads, resident_pages;
	double processors; /* number of processors used since the last call */
};

struct job_cgroups; /* opaque */

/* Find the root of the control groups of version 2 in /proc/self/mountinfo;
 * false: there is none. */
bool job_cgroups_root(char to[static PATH_MAX], struct text mountinfo);

/* `patterns` are separated by commas; they and `root` must outlive it. */
void job_cgroups_open(
    struct job_cgroups **job_cgroups, const char *root, const char *patterns);
void job_cgroups_close(struct job_cgroups **job_cgroups);

/* Search for groups again.  Returns their number. */
uint32_t job_cgroups_find(struct job_cgroups *job_cgroups);
uint32_t job_cgroups_count(const struct job_cgroups *job_cgroups);

/* The path of a group below the root. */
const char *job_cgroups_path(
    const struct job_cgroups *job_cgroups, uint32_t group);
/* The current content of a file of a group; a view, valid until the next call.
 * Empty if the file does not exist. */
struct text job_cgroups_read(struct job_cgroups *job_cgroups, uint32_t group,
    enum job_cgroups_file which);

/* The `max` commands of all groups that have used the most processor time
 * since the last call, sorted by it.  Returns their number; the first call has
 * none. */
uint32_t job_cgroups_top(struct job_cgroups *job_cgroups,
    struct job_cgroups_command *top, uint32_t max);

#endif
