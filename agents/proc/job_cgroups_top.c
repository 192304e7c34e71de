/*
 * job_cgroups_top - the busiest commands of the jobs.
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/proc/job_cgroups_private.h"
#include "agents/proc/proc_stat.h"
#include "agents/proc/scan.h"
#include "proto/base/memory.h"
#include "proto/base/text.h"
#include "proto/os/clock.h"

enum {
	DEPTH_MAX = 16,
	TICK_NS = 10000000,
};

struct command {
	struct job_cgroups_command sum;
	uint64_t used_ticks;
};

/* One pass over all groups. */
struct pass {
	struct job_cgroups *job_cgroups;
	struct job_cgroups_pids pids;
	struct command *commands;
	uint32_t count, room;
};

/* ---- processes of groups ---- */

static void
add_pids(struct job_cgroups *job_cgroups, const char *group,
    struct job_cgroups_pids *pids)
{
	char path[PATH_MAX];
	struct text file, line;

	if (snprintf(path, sizeof(path), "%s/cgroup.procs", group) >=
	    (int)sizeof(path))
		return;
	file = job_cgroups_read_path(job_cgroups, path);
	while (text_next_line(&file, &line)) {
		uint64_t pid;

		if (!scan_number(&line, &pid))
			continue;
		/* A process of another namespace. */
		if (pid == 0) {
			pids->hidden++;
		} else if (pids->count >= JOB_CGROUPS_PIDS_MAX) {
			pids->left_out++;
		} else {
			pids->at = memory_grow(pids->at, &pids->room,
			    pids->count, sizeof(*pids->at));
			pids->at[pids->count++] = pid;
		}
	}
}

/* The processes of a job are in the leaves of its tree of groups. */
static void
add_tree(struct job_cgroups *job_cgroups, const char *group, int depth,
    struct job_cgroups_pids *pids)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *directory;

	add_pids(job_cgroups, group, pids);
	directory = depth < DEPTH_MAX ? opendir(group) : NULL;
	if (directory == NULL)
		return;
	while ((entry = readdir(directory)) != NULL)
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
		    snprintf(path, sizeof(path), "%s/%s", group,
			entry->d_name) < (int)sizeof(path))
			add_tree(job_cgroups, path, depth + 1, pids);
	closedir(directory);
}

void
job_cgroups_list(struct job_cgroups *job_cgroups, const char *path,
    struct job_cgroups_pids *pids)
{
	char group[PATH_MAX];

	if (snprintf(group, sizeof(group), "%s/%s", job_cgroups->options.root,
		path) < (int)sizeof(group))
		add_tree(job_cgroups, group, 0, pids);
}

/* ---- commands ---- */

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
	while (i < pass->count && strcmp(pass->commands[i].sum.name, name) != 0)
		i++;
	if (i == JOB_CGROUPS_COMMANDS_MAX) {
		pass->job_cgroups->left_out.commands++;
		return;
	}
	pass->commands = memory_grow_zero(
	    pass->commands, &pass->room, i, sizeof(*pass->commands));
	command = &pass->commands[i];
	if (i == pass->count) {
		pass->count++;
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
	struct job_cgroups_pids *pids = &pass->pids;
	struct job_cgroups_seen *seen =
	    memory_zero(pids->count + 1, sizeof(*seen));
	uint32_t seen_count = 0;

	if (pids->count > 0)
		qsort(pids->at, pids->count, sizeof(*pids->at), compare_pids);
	for (uint32_t i = 0; i < pids->count; i++) {
		struct job_cgroups_seen *now = &seen[seen_count];
		struct proc_process process;
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%llu/stat",
		    job_cgroups->options.proc, (unsigned long long)pids->at[i]);
		if (proc_parse_process(job_cgroups_read_path(job_cgroups, path),
			&process) != 0)
			continue;
		now->pid = process.pid;
		now->start_ticks = process.start_ticks;
		now->used_ticks = process.user_ticks + process.system_ticks;
		add_process(pass, &process, used_since(job_cgroups, now));
		seen_count++;
	}
	/* None of them can be seen: that is no coincidence. */
	if (seen_count == 0)
		pids->hidden += pids->count;
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

/* The totals of a pass that began at `now_ns`. */
static uint32_t
rank(struct pass *pass, int64_t now_ns, struct job_cgroups_command *top,
    uint32_t max)
{
	int64_t elapsed_ns = now_ns - pass->job_cgroups->pass_ns;
	uint32_t count = pass->count < max ? pass->count : max;

	if (pass->job_cgroups->pass_ns == 0 || elapsed_ns <= 0)
		return 0;
	if (pass->count == 0)
		return 0;
	qsort(
	    pass->commands, pass->count, sizeof(*pass->commands), compare_used);
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
	int64_t now_ns = clock_boot_ns();
	struct pass pass = { .job_cgroups = job_cgroups };
	uint32_t count;

	job_cgroups->left_out.commands = 0;
	for (uint32_t i = 0; i < job_cgroups->count; i++)
		job_cgroups_list(
		    job_cgroups, job_cgroups->groups[i].path, &pass.pids);
	read_processes(&pass);
	job_cgroups->left_out.processes = pass.pids.left_out;
	job_cgroups->left_out.hidden = pass.pids.hidden;
	count = rank(&pass, now_ns, top, max);
	job_cgroups->pass_ns = now_ns;
	free(pass.pids.at);
	free(pass.commands);
	return count;
}
