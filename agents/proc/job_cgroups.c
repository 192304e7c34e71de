/*
 * job_cgroups - the control groups that batch systems make for jobs.
 * SPDX-License-Identifier: MIT
 */
#include "agents/proc/job_cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/proc/job_cgroups_private.h"
#include "agents/proc/proc_stat.h"

bool
jobs_root(char to[static PATH_MAX], struct text mountinfo)
{
	struct host_mount mount;

	while (host_next_mount(&mountinfo, &mount))
		if (text_equal(mount.type, text_of("cgroup2")))
			return host_unescape(to, PATH_MAX, mount.point) > 0;
	return false;
}

void
jobs_open(struct jobs **made, const char *root, const char *patterns)
{
	struct jobs *jobs = calloc(1, sizeof(*jobs));

	if (jobs == NULL)
		abort();
	jobs->root = root;
	jobs->patterns = patterns;
	*made = jobs;
}

static void
forget_group(struct jobs *jobs, uint32_t group)
{
	struct jobs_group *gone = &jobs->groups[group];

	for (int i = 0; i < JOBS_FILES; i++)
		if (gone->fd[i] >= 0)
			close(gone->fd[i]);
	*gone = jobs->groups[--jobs->count];
}

void
jobs_close(struct jobs **gone)
{
	struct jobs *jobs = *gone;

	*gone = NULL;
	if (jobs == NULL)
		return;
	while (jobs->count > 0)
		forget_group(jobs, 0);
	free(jobs->seen);
	free(jobs);
}

static void
add_group(struct jobs *jobs, const char *path)
{
	static const char *const names[JOBS_FILES] = {
		[JOBS_CPU] = "cpu.stat",
		[JOBS_MEMORY] = "memory.current",
		[JOBS_MEMORY_PEAK] = "memory.peak",
		[JOBS_MEMORY_EVENTS] = "memory.events",
		[JOBS_IO] = "io.stat",
		[JOBS_PROCESSES] = "pids.current",
		[JOBS_PRESSURE_CPU] = "cpu.pressure",
		[JOBS_PRESSURE_MEMORY] = "memory.pressure",
		[JOBS_PRESSURE_IO] = "io.pressure",
	};
	const char *name = path + strlen(jobs->root) + 1;
	struct jobs_group *group;
	char file[PATH_MAX];

	if (strlen(name) > NAME_BYTES_MAX)
		return;
	for (uint32_t i = 0; i < jobs->count; i++)
		if (strcmp(jobs->groups[i].path, name) == 0) {
			jobs->groups[i].seen = true;
			return;
		}
	if (jobs->count == JOBS_MAX)
		return;
	group = &jobs->groups[jobs->count];
	strcpy(group->path, name);
	group->seen = true;
	for (int i = 0; i < JOBS_FILES; i++) {
		group->fd[i] = -1;
		if (snprintf(file, sizeof(file), "%s/%s", path, names[i]) <
		    (int)sizeof(file))
			group->fd[i] = open(file, O_RDONLY | O_CLOEXEC);
	}
	/* A plain file that matches is no group. */
	if (group->fd[JOBS_CPU] >= 0)
		jobs->count++;
	else
		for (int i = 0; i < JOBS_FILES; i++)
			if (group->fd[i] >= 0)
				close(group->fd[i]);
}

static void
find_pattern(struct jobs *jobs, struct text pattern)
{
	char path[PATH_MAX];
	glob_t found = { 0 };

	if (snprintf(path, sizeof(path), "%s/%.*s", jobs->root,
		(int)pattern.bytes, pattern.at) >= (int)sizeof(path))
		return;
	if (glob(path, GLOB_ONLYDIR, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			add_group(jobs, found.gl_pathv[i]);
	globfree(&found);
}

uint32_t
jobs_find(struct jobs *jobs)
{
	const char *pattern = jobs->patterns;

	for (uint32_t i = 0; i < jobs->count; i++)
		jobs->groups[i].seen = false;
	while (*pattern != '\0') {
		size_t bytes = strcspn(pattern, ",");

		if (bytes > 0)
			find_pattern(
			    jobs, (struct text){ pattern, (uint32_t)bytes });
		pattern += bytes + (pattern[bytes] == ',');
	}
	for (uint32_t i = 0; i < jobs->count;)
		if (jobs->groups[i].seen)
			i++;
		else
			forget_group(jobs, i);
	return jobs->count;
}

uint32_t
jobs_count(const struct jobs *jobs)
{
	return jobs->count;
}

const char *
jobs_path(const struct jobs *jobs, uint32_t group)
{
	return jobs->groups[group].path;
}

/* These files are small, and whole in one read. */
static struct text
read_fd(struct jobs *jobs, int fd)
{
	ssize_t n;

	do
		n = pread(fd, jobs->buffer, sizeof(jobs->buffer), 0);
	while (n < 0 && errno == EINTR);
	return (struct text){ jobs->buffer, n > 0 ? (uint32_t)n : 0 };
}

struct text
jobs_read(struct jobs *jobs, uint32_t group, enum jobs_file which)
{
	int fd = jobs->groups[group].fd[which];

	if (fd < 0)
		return (struct text){ jobs->buffer, 0 };
	return read_fd(jobs, fd);
}

struct text
jobs_read_path(struct jobs *jobs, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct text text = { jobs->buffer, 0 };

	if (fd < 0)
		return text;
	text = read_fd(jobs, fd);
	close(fd);
	return text;
}
