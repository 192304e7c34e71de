/*
 * job_cgroups - the control groups that batch systems create for jobs.
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
#include "proto/base/memory.h"

bool
job_cgroups_root(char to[static PATH_MAX], struct text mountinfo)
{
	struct proc_mount mount;

	while (proc_next_mount(&mountinfo, &mount))
		if (text_equal(mount.type, text_of("cgroup2")))
			return proc_unescape(to, PATH_MAX, mount.point) > 0;
	return false;
}

void
job_cgroups_open(
    struct job_cgroups **made, const char *root, const char *patterns)
{
	struct job_cgroups *job_cgroups = memory_zero(1, sizeof(*job_cgroups));

	job_cgroups->root = root;
	job_cgroups->patterns = patterns;
	*made = job_cgroups;
}

static void
forget_group(struct job_cgroups *job_cgroups, uint32_t group)
{
	struct job_cgroups_group *gone = &job_cgroups->groups[group];

	for (int i = 0; i < JOB_CGROUPS_FILES; i++)
		if (gone->fd[i] >= 0)
			close(gone->fd[i]);
	*gone = job_cgroups->groups[--job_cgroups->count];
}

void
job_cgroups_close(struct job_cgroups **gone)
{
	struct job_cgroups *job_cgroups = *gone;

	*gone = NULL;
	if (job_cgroups == NULL)
		return;
	while (job_cgroups->count > 0)
		forget_group(job_cgroups, 0);
	free(job_cgroups->seen);
	free(job_cgroups);
}

static void
add_group(struct job_cgroups *job_cgroups, const char *path)
{
	static const char *const names[JOB_CGROUPS_FILES] = {
		[JOB_CGROUPS_CPU] = "cpu.stat",
		[JOB_CGROUPS_MEMORY] = "memory.current",
		[JOB_CGROUPS_MEMORY_PEAK] = "memory.peak",
		[JOB_CGROUPS_MEMORY_EVENTS] = "memory.events",
		[JOB_CGROUPS_IO] = "io.stat",
		[JOB_CGROUPS_PROCESSES] = "pids.current",
		[JOB_CGROUPS_PRESSURE_CPU] = "cpu.pressure",
		[JOB_CGROUPS_PRESSURE_MEMORY] = "memory.pressure",
		[JOB_CGROUPS_PRESSURE_IO] = "io.pressure",
	};
	const char *name = path + strlen(job_cgroups->root) + 1;
	struct job_cgroups_group *group;
	char file[PATH_MAX];

	if (strlen(name) > NAME_BYTES_MAX)
		return;
	for (uint32_t i = 0; i < job_cgroups->count; i++)
		if (strcmp(job_cgroups->groups[i].path, name) == 0) {
			job_cgroups->groups[i].seen = true;
			return;
		}
	if (job_cgroups->count == JOB_CGROUPS_MAX)
		return;
	group = &job_cgroups->groups[job_cgroups->count];
	strcpy(group->path, name);
	group->seen = true;
	for (int i = 0; i < JOB_CGROUPS_FILES; i++) {
		group->fd[i] = -1;
		if (snprintf(file, sizeof(file), "%s/%s", path, names[i]) <
		    (int)sizeof(file))
			group->fd[i] = open(file, O_RDONLY | O_CLOEXEC);
	}
	/* A matching regular file is not a group. */
	if (group->fd[JOB_CGROUPS_CPU] >= 0)
		job_cgroups->count++;
	else
		for (int i = 0; i < JOB_CGROUPS_FILES; i++)
			if (group->fd[i] >= 0)
				close(group->fd[i]);
}

static void
find_pattern(struct job_cgroups *job_cgroups, struct text pattern)
{
	char path[PATH_MAX];
	glob_t found = { 0 };

	if (snprintf(path, sizeof(path), "%s/%.*s", job_cgroups->root,
		(int)pattern.bytes, pattern.at) >= (int)sizeof(path))
		return;
	if (glob(path, GLOB_ONLYDIR, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			add_group(job_cgroups, found.gl_pathv[i]);
	globfree(&found);
}

uint32_t
job_cgroups_find(struct job_cgroups *job_cgroups)
{
	const char *pattern = job_cgroups->patterns;

	for (uint32_t i = 0; i < job_cgroups->count; i++)
		job_cgroups->groups[i].seen = false;
	while (*pattern != '\0') {
		size_t bytes = strcspn(pattern, ",");

		if (bytes > 0)
			find_pattern(job_cgroups,
			    (struct text){ pattern, (uint32_t)bytes });
		pattern += bytes + (pattern[bytes] == ',');
	}
	for (uint32_t i = 0; i < job_cgroups->count;)
		if (job_cgroups->groups[i].seen)
			i++;
		else
			forget_group(job_cgroups, i);
	return job_cgroups->count;
}

uint32_t
job_cgroups_count(const struct job_cgroups *job_cgroups)
{
	return job_cgroups->count;
}

const char *
job_cgroups_path(const struct job_cgroups *job_cgroups, uint32_t group)
{
	return job_cgroups->groups[group].path;
}

/* These files are small: one read gets all of it. */
static struct text
read_fd(struct job_cgroups *job_cgroups, int fd)
{
	ssize_t n;

	do
		n = pread(
		    fd, job_cgroups->buffer, sizeof(job_cgroups->buffer), 0);
	while (n < 0 && errno == EINTR);
	return (struct text){ job_cgroups->buffer, n > 0 ? (uint32_t)n : 0 };
}

struct text
job_cgroups_read(struct job_cgroups *job_cgroups, uint32_t group,
    enum job_cgroups_file which)
{
	int fd = job_cgroups->groups[group].fd[which];

	if (fd < 0)
		return (struct text){ job_cgroups->buffer, 0 };
	return read_fd(job_cgroups, fd);
}

struct text
job_cgroups_read_path(struct job_cgroups *job_cgroups, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct text text = { job_cgroups->buffer, 0 };

	if (fd < 0)
		return text;
	text = read_fd(job_cgroups, fd);
	close(fd);
	return text;
}
