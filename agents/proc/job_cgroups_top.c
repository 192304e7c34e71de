/*
 * job_cgroups_top - the busiest commands of the jobs.
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agents/proc/job_cgroups_private.h"
#include "agents/proc/proc_stat.h"
#include "agents/proc/scan.h"
#include "proto/base/memory.h"
#include "proto/base/text.h"
#include "proto/os/clock.h"

enum {
	DEPTH_MAX = 6,
	GROUPS_MAX = 256,
	COMMANDS_MAX = 512,
	TICK_NS = 10000000,
};

struct command {
	struct job_cgroups_command sum;
	uint64_t used_ticks;
};

/* One pass over all groups. */
struct pass {
	struct job_cgroups *job_cgroups;
	uint64_t pids[JOB_CGROUPS_PIDS_MAX];
	uint32_t count, groups;
	struct command commands[COMMANDS_MAX];
	uint32_t command_count;
};

static void
add_pids(struct pass *pass, const char *group)
{
	char path[PATH_MAX];
	struct text file, line;

	if (snprintf(path, sizeof(path), "%s/cgroup.procs", group) >=
	    (int)sizeof(path))
		return;
	file = job_cgroups_read_path(pass->job_cgroups, path);
	while (
	    pass->count < JOB_CGROUPS_PIDS_MAX && text_next_line(&file, &line))
		pass->count += scan_number(&line, &pass->pids[pass->count]);
}

/* The processes of a job are in the leaves of its tree of groups. */
static void
add_group(struct pass *pass, const char *group, int depth)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *directory;

	if (pass->groups++ >= GROUPS_MAX)
		return;
	add_pids(pass, group);
	directory = depth < DEPTH_MAX ? opendir(group) : NULL;
	if (directory == NULL)
		return;
	while ((entry = readdir(directory)) != NULL)
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
		    snprintf(path, sizeof(path), "%s/%s", group,
			entry->d_name) < (int)sizeof(path))
			add_group(pass, path, depth + 1);
	closedir(directory);
}

static int
compare_pids(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int
compare_seen(const void *a, const void *b)
{
	const struct job_cgroups_seen *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* The processor time that a process has used since the last pass.  A process
 * that is new here but started before it came from elsewhere: what it used
 * there does not count for the job. */
static uint64_t
used_since(
    const struct job_cgroups *job_cgroups, const struct job_cgroups_seen *now)
{
	const struct job_cgroups_seen *last =
	    job_cgroups->seen_count == 0
		? NULL
		: bsearch(now, job_cgroups->seen, job_cgroups->seen_count,
		      sizeof(*now), compare_seen);

	if (last != NULL && last->start_ticks == now->start_ticks)
		return now->used_ticks > last->used_ticks
			   ? now->used_ticks - last->used_ticks
			   : 0;
	return now->start_ticks >= (uint64_t)(job_cgroups->pass_ns / TICK_NS)
		   ? now->used_ticks
		   : 0;
}

/* Add a process to those of its name. */
static void
add_process(
    struct pass *pass, const struct proc_process *process, uint64_t used_ticks)
{
	struct command *command;
	char name[JOB_CGROUPS_NAME_BYTES];
	uint32_t i = 0;

	name[proc_escape(name, sizeof(name) - 1, process->name)] = '\0';
	while (i < pass->command_count &&
	       strcmp(pass->commands[i].sum.name, name) != 0)
		i++;
	if (i == COMMANDS_MAX)
		return;
	command = &pass->commands[i];
	if (i == pass->command_count) {
		pass->command_count++;
		strcpy(command->sum.name, name);
	}
	command->used_ticks += used_ticks;
	command->sum.processes++;
	command->sum.threads += process->threads;
	command->sum.resident_pages += process->resident_pages;
}

static void
read_processes(struct pass *pass)
{
	struct job_cgroups *job_cgroups = pass->job_cgroups;
	struct job_cgroups_seen *seen =
	    memory_zero(pass->count + 1, sizeof(*seen));
	uint32_t seen_count = 0;

	qsort(pass->pids, pass->count, sizeof(*pass->pids), compare_pids);
	for (uint32_t i = 0; i < pass->count; i++) {
		struct job_cgroups_seen *now = &seen[seen_count];
		struct proc_process process;
		char path[64];

		snprintf(path, sizeof(path), "/proc/%llu/stat",
		    (unsigned long long)pass->pids[i]);
		if (proc_parse_process(job_cgroups_read_path(job_cgroups, path),
			&process) != 0)
			continue;
		now->pid = process.pid;
		now->start_ticks = process.start_ticks;
		now->used_ticks = process.user_ticks + process.system_ticks;
		add_process(pass, &process, used_since(job_cgroups, now));
		seen_count++;
	}
	free(job_cgroups->seen);
	job_cgroups->seen = seen;
	job_cgroups->seen_count = seen_count;
}

static int
compare_used(const void *a, const void *b)
{
	const struct command *x = a, *y = b;

	return (x->used_ticks < y->used_ticks) -
	       (x->used_ticks > y->used_ticks);
}

static int64_t
since_boot_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

/* The totals of a pass that began at `now_ns`. */
static uint32_t
rank(struct pass *pass, int64_t now_ns, struct job_cgroups_command *top,
    uint32_t max)
{
	int64_t elapsed_ns = now_ns - pass->job_cgroups->pass_ns;
	uint32_t count = pass->command_count < max ? pass->command_count : max;

	if (pass->job_cgroups->pass_ns == 0 || elapsed_ns <= 0)
		return 0;
	qsort(pass->commands, pass->command_count, sizeof(*pass->commands),
	    compare_used);
	for (uint32_t i = 0; i < count; i++) {
		top[i] = pass->commands[i].sum;
		top[i].processors = (double)pass->commands[i].used_ticks *
				    TICK_NS / (double)elapsed_ns;
	}
	return count;
}

uint32_t
job_cgroups_top(struct job_cgroups *job_cgroups,
    struct job_cgroups_command *top, uint32_t max)
{
	int64_t now_ns = since_boot_ns();
	struct pass *pass;
	char path[PATH_MAX];
	uint32_t count;

	if (job_cgroups->count == 0) {
		job_cgroups->pass_ns = now_ns;
		job_cgroups->seen_count = 0;
		return 0;
	}
	pass = memory_zero(1, sizeof(*pass));
	pass->job_cgroups = job_cgroups;
	for (uint32_t i = 0; i < job_cgroups->count; i++)
		if (snprintf(path, sizeof(path), "%s/%s", job_cgroups->root,
			job_cgroups->groups[i].path) < (int)sizeof(path))
			add_group(pass, path, 0);
	read_processes(pass);
	count = rank(pass, now_ns, top, max);
	job_cgroups->pass_ns = now_ns;
	free(pass);
	return count;
}
