/*
 * jobs_top - the busiest processes of the jobs.
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/host.h"
#include "agents/jobs_private.h"
#include "agents/scan.h"

enum { DEPTH_MAX = 6, GROUPS_MAX = 256 };

/* One look over all groups. */
struct look {
	struct jobs *jobs;
	uint64_t pids[JOBS_PIDS_MAX];
	uint32_t count, groups;
};

static void
add_pids(struct look *look, const char *group)
{
	char path[PATH_MAX];
	struct text file, line;

	if (snprintf(path, sizeof(path), "%s/cgroup.procs", group) >=
	    (int)sizeof(path))
		return;
	file = jobs_read_path(look->jobs, path);
	while (look->count < JOBS_PIDS_MAX && scan_line(&file, &line))
		look->count += scan_number(&line, &look->pids[look->count]);
}

/* The processes of a job are in the leaves of its tree. */
static void
add_group(struct look *look, const char *group, int depth)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *directory;

	if (look->groups++ >= GROUPS_MAX)
		return;
	add_pids(look, group);
	directory = depth < DEPTH_MAX ? opendir(group) : NULL;
	if (directory == NULL)
		return;
	while ((entry = readdir(directory)) != NULL)
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
		    snprintf(path, sizeof(path), "%s/%s", group,
			entry->d_name) < (int)sizeof(path))
			add_group(look, path, depth + 1);
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
	const struct jobs_seen *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Put into the list when it belongs there, most used first. */
static uint32_t
rank(struct jobs_process *top, uint32_t count, uint32_t max,
    const struct jobs_process *process)
{
	uint32_t at = count;

	while (at > 0 && top[at - 1].used_ticks < process->used_ticks)
		at--;
	if (at == max)
		return count;
	if (count < max)
		count++;
	memmove(top + at + 1, top + at, (count - at - 1) * sizeof(*top));
	top[at] = *process;
	return count;
}

static bool
read_process(struct jobs *jobs, uint64_t pid, struct jobs_process *process)
{
	char path[64];
	uint32_t bytes;

	snprintf(
	    path, sizeof(path), "/proc/%llu/stat", (unsigned long long)pid);
	if (host_parse_process(jobs_read_path(jobs, path), &process->numbers) !=
	    0)
		return false;
	bytes = host_escape(
	    process->name, JOBS_NAME_BYTES - 1, process->numbers.name);
	process->name[bytes] = '\0';
	process->numbers.name = (struct text){ NULL, 0 };
	return true;
}

/* What it has used since it was seen, or since its start. */
static uint64_t
used_since(const struct jobs *jobs, const struct jobs_seen *now)
{
	const struct jobs_seen *last =
	    jobs->seen_count == 0 ? NULL
				  : bsearch(now, jobs->seen, jobs->seen_count,
					sizeof(*now), compare_seen);

	if (last == NULL || last->start_ticks != now->start_ticks ||
	    last->used_ticks > now->used_ticks)
		return now->used_ticks;
	return now->used_ticks - last->used_ticks;
}

static uint32_t
rank_all(struct look *look, struct jobs_process *top, uint32_t max)
{
	struct jobs *jobs = look->jobs;
	struct jobs_seen *seen = calloc(look->count + 1, sizeof(*seen));
	uint32_t seen_count = 0, count = 0;

	if (seen == NULL)
		abort();
	qsort(look->pids, look->count, sizeof(*look->pids), compare_pids);
	for (uint32_t i = 0; i < look->count; i++) {
		struct jobs_process process = { .used_ticks = 0 };
		struct jobs_seen *now = &seen[seen_count];

		if (!read_process(jobs, look->pids[i], &process))
			continue;
		now->pid = process.numbers.pid;
		now->start_ticks = process.numbers.start_ticks;
		now->used_ticks =
		    process.numbers.user_ticks + process.numbers.system_ticks;
		process.used_ticks = used_since(jobs, now);
		seen_count++;
		count = rank(top, count, max, &process);
	}
	free(jobs->seen);
	jobs->seen = seen;
	jobs->seen_count = seen_count;
	return count;
}

uint32_t
jobs_top(struct jobs *jobs, struct jobs_process *top, uint32_t max)
{
	struct look *look;
	char path[PATH_MAX];
	uint32_t count;

	if (jobs->count == 0 || max == 0)
		return 0;
	look = calloc(1, sizeof(*look));
	if (look == NULL)
		abort();
	look->jobs = jobs;
	for (uint32_t i = 0; i < jobs->count; i++)
		if (snprintf(path, sizeof(path), "%s/%s", jobs->root,
			jobs->groups[i].path) < (int)sizeof(path))
			add_group(look, path, 0);
	count = rank_all(look, top, max);
	free(look);
	return count;
}
