/*
 * job_cgroups - the control groups (version 2) that batch systems create for
 * jobs, and the busiest commands in them.
 *
 * Patterns of paths below the root select the groups of jobs.  The search is
 * repeated from time to time.  Nothing is kept open: a group that was removed
 * and made again under its name is the new one from the next read on.
 *
 * Slurm names the group of a job job_ID, from version 26.05 on by its SLUID
 * (sAJ3Z8QV4XY0C0): then its id is what a process of the group says, in
 * SLURM_JOB_ID of its environment or as "slurmstepd: [ID.STEP]".
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_PROC_JOB_CGROUPS_H
#define AGENTS_PROC_JOB_CGROUPS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "agents/proc/cgroup_stat.h"
#include "agents/proc/deadline.h"
#include "agents/proc/processor_times.h"
#include "proto/base/text.h"

enum {
	JOB_CGROUPS_MAX = 1024,           /* groups at a time */
	JOB_CGROUPS_PIDS_MAX = 64 << 10,  /* processes of all groups */
	JOB_CGROUPS_COMMANDS_MAX = 2048,  /* names of processes */
	JOB_CGROUPS_FILE_BYTES = 4 << 20, /* of a file that is read */
	JOB_CGROUPS_TOP_MAX = 64,         /* commands in a sample */
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

/* What was there at the last search or call, and was left out. */
struct job_cgroups_left_out {
	uint64_t groups; /* more than there is room for, or a long name */
	uint64_t processes, commands; /* more than there is room for */
	uint64_t hidden;              /* processes that this one may not see */
	uint64_t unmatched; /* groups of a scheduler that no pattern takes */
	char unmatched_in[NAME_BYTES_MAX + 1]; /* the path of one of them */
};

struct job_cgroups_options {
	const char *root;     /* of the control groups */
	const char *patterns; /* separated by commas */
	const char *proc;     /* "/proc" */
	struct deadline *deadline;
};

/* Find the root of the control groups of version 2 in /proc/self/mountinfo;
 * false: there is none. */
bool job_cgroups_root(char to[static PATH_MAX], struct text mountinfo);

/* What `options` points to must outlive it. */
void job_cgroups_open(struct job_cgroups **job_cgroups,
    const struct job_cgroups_options *options);
void job_cgroups_close(struct job_cgroups **job_cgroups);

/* Search for groups again.  Returns their number. */
uint32_t job_cgroups_find(struct job_cgroups *job_cgroups);
uint32_t job_cgroups_count(const struct job_cgroups *job_cgroups);
const struct job_cgroups_left_out *job_cgroups_left_out(
    const struct job_cgroups *job_cgroups);
/* How many of them the search before the last one did not find. */
uint32_t job_cgroups_appeared(const struct job_cgroups *job_cgroups);

/* The path of a group below the root, as a name: bytes that no name may have
 * are escaped, and the group of a job of Slurm ends in job_ID. */
const char *job_cgroups_name(
    const struct job_cgroups *job_cgroups, uint32_t group);
/* For the caller, zeroed at first; it stays with the group. */
struct processor_times *job_cgroups_times(
    struct job_cgroups *job_cgroups, uint32_t group);
/* The current content of a file of a group; a view, valid until the next call.
 * If there is no such file it has no address. */
struct text job_cgroups_read(struct job_cgroups *job_cgroups, uint32_t group,
    enum job_cgroups_file which);

/* The `max` commands of all groups that have used the most processor time
 * since the last call, sorted by it.  Returns their number; the first call has
 * none. */
uint32_t job_cgroups_top(struct job_cgroups *job_cgroups,
    struct job_cgroups_command *top, uint32_t max);

#endif
