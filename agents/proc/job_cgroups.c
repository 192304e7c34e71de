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
#include "agents/proc/scan.h"
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
    struct job_cgroups **made, const struct job_cgroups_options *options)
{
	struct job_cgroups *job_cgroups = memory_zero(1, sizeof(*job_cgroups));

	job_cgroups->options = *options;
	*made = job_cgroups;
}

void
job_cgroups_close(struct job_cgroups **gone)
{
	struct job_cgroups *job_cgroups = *gone;

	*gone = NULL;
	if (job_cgroups == NULL)
		return;
	job_cgroups_close_names(job_cgroups);
	free(job_cgroups->groups);
	free(job_cgroups->seen);
	free(job_cgroups->buffer);
	free(job_cgroups);
}

/* ---- the search ---- */

static bool
path_of(char to[static PATH_MAX], const struct job_cgroups *job_cgroups,
    struct text pattern)
{
	return pattern.bytes > 0 &&
	       snprintf(to, PATH_MAX, "%s/%.*s", job_cgroups->options.root,
		   (int)pattern.bytes, pattern.at) < PATH_MAX;
}

static int
by_path(const void *a, const void *b)
{
	const struct job_cgroups_group *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* A matching regular file is not a group. */
static bool
is_group(const char *path)
{
	char file[PATH_MAX];

	return snprintf(file, sizeof(file), "%s/cpu.stat", path) <
		   (int)sizeof(file) &&
	       access(file, R_OK) == 0;
}

/* Called for each path of a pattern. */
static void
add_group(struct job_cgroups *job_cgroups, const char *path)
{
	const char *below = path + strlen(job_cgroups->options.root) + 1;
	struct job_cgroups_group *group;

	if (!is_group(path))
		return;
	if (strlen(below) > NAME_BYTES_MAX ||
	    job_cgroups->count >= JOB_CGROUPS_MAX) {
		job_cgroups->left_out.groups++;
		return;
	}
	job_cgroups->groups = memory_grow(job_cgroups->groups,
	    &job_cgroups->room, job_cgroups->count, sizeof(*group));
	group = &job_cgroups->groups[job_cgroups->count++];
	*group = (struct job_cgroups_group){ .named = false };
	strcpy(group->path, below);
}

static bool
is_found(const struct job_cgroups *job_cgroups, const char *below)
{
	for (uint32_t i = 0; i < job_cgroups->count; i++)
		if (strcmp(job_cgroups->groups[i].path, below) == 0)
			return true;
	return false;
}

/* The pattern took nothing, but its folder has groups, and is not one that
 * others have them in, too: another version of the scheduler names them
 * differently. */
static void
note_unmatched(struct job_cgroups *job_cgroups, struct text pattern)
{
	struct job_cgroups_left_out *left_out = &job_cgroups->left_out;
	size_t root = strlen(job_cgroups->options.root);
	char path[PATH_MAX], *slash;
	glob_t found = { 0 };

	if (!path_of(path, job_cgroups, pattern))
		return;
	slash = strrchr(path, '/');
	*slash = '\0';
	if ((size_t)(slash - path) <= root ||
	    (slash - path > 6 && strcmp(slash - 6, ".slice") == 0) ||
	    (size_t)(slash - path) + 4 > PATH_MAX)
		return;
	strcpy(slash, "/*/");
	if (glob(path, GLOB_ONLYDIR, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++) {
			char *at = found.gl_pathv[i];
			size_t bytes = strlen(at) - 1;

			at[bytes] = '\0';
			/* Of Slurm's daemon itself. */
			if (strcmp(strrchr(at, '/'), "/system") == 0 ||
			    is_found(job_cgroups, at + root + 1) ||
			    !is_group(at))
				continue;
			left_out->unmatched++;
			snprintf(left_out->unmatched_in,
			    sizeof(left_out->unmatched_in), "%s",
			    at + root + 1);
		}
	globfree(&found);
}

/* Returns how many groups it took. */
static uint32_t
find_pattern(struct job_cgroups *job_cgroups, struct text pattern)
{
	uint32_t before = job_cgroups->count;
	char path[PATH_MAX];
	glob_t found = { 0 };

	if (!path_of(path, job_cgroups, pattern))
		return 0;
	if (glob(path, GLOB_ONLYDIR, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			add_group(job_cgroups, found.gl_pathv[i]);
	globfree(&found);
	return job_cgroups->count - before;
}

/* Patterns may take the same group. */
static void
remove_repeated(struct job_cgroups *job_cgroups)
{
	uint32_t kept = 0;

	qsort(job_cgroups->groups, job_cgroups->count,
	    sizeof(*job_cgroups->groups), by_path);
	for (uint32_t i = 0; i < job_cgroups->count; i++)
		if (kept == 0 || by_path(&job_cgroups->groups[kept - 1],
				     &job_cgroups->groups[i]) != 0)
			job_cgroups->groups[kept++] = job_cgroups->groups[i];
	job_cgroups->count = kept;
}

/* What is known of a group that was there before stays known. */
static void
keep_known(struct job_cgroups *job_cgroups,
    const struct job_cgroups_group *before, uint32_t count)
{
	for (uint32_t i = 0; i < job_cgroups->count; i++) {
		struct job_cgroups_group *group = &job_cgroups->groups[i];
		const struct job_cgroups_group *known =
		    count == 0 ? NULL
			       : bsearch(group, before, count, sizeof(*before),
				     by_path);

		if (known != NULL)
			*group = *known;
		if (!group->named)
			job_cgroups_set_name(job_cgroups, group);
		if (group->name[0] == '\0')
			job_cgroups->left_out.groups++;
	}
}

uint32_t
job_cgroups_find(struct job_cgroups *job_cgroups)
{
	struct text rest = text_of(job_cgroups->options.patterns);
	uint64_t taken = 0;
	struct job_cgroups_group *before = job_cgroups->groups;
	uint32_t count = job_cgroups->count;

	job_cgroups->groups = NULL;
	job_cgroups->count = job_cgroups->room = 0;
	job_cgroups->left_out.groups = job_cgroups->left_out.unmatched = 0;
	for (int i = 0; rest.bytes > 0; i++)
		if (find_pattern(job_cgroups, scan_until(&rest, ',')) > 0 &&
		    i < 64)
			taken |= UINT64_C(1) << i;
	if (job_cgroups->count > 0)
		remove_repeated(job_cgroups);
	rest = text_of(job_cgroups->options.patterns);
	for (int i = 0; rest.bytes > 0 && i < 64; i++) {
		struct text pattern = scan_until(&rest, ',');

		if ((taken >> i & 1) == 0)
			note_unmatched(job_cgroups, pattern);
	}
	keep_known(job_cgroups, before, count);
	free(before);
	return job_cgroups->count;
}

uint32_t
job_cgroups_count(const struct job_cgroups *job_cgroups)
{
	return job_cgroups->count;
}

const struct job_cgroups_left_out *
job_cgroups_left_out(const struct job_cgroups *job_cgroups)
{
	return &job_cgroups->left_out;
}

const char *
job_cgroups_name(const struct job_cgroups *job_cgroups, uint32_t group)
{
	return job_cgroups->groups[group].name;
}

struct processor_times *
job_cgroups_times(struct job_cgroups *job_cgroups, uint32_t group)
{
	return &job_cgroups->groups[group].times;
}

/* ---- files ---- */

struct text
job_cgroups_read_path(struct job_cgroups *job_cgroups, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	uint32_t used = 0;
	ssize_t n = 1;

	if (fd < 0)
		return (struct text){ NULL, 0 };
	while (n > 0 && used < JOB_CGROUPS_FILE_BYTES) {
		if (used == job_cgroups->buffer_bytes) {
			job_cgroups->buffer_bytes =
			    used == 0 ? 16 << 10 : 2 * used;
			job_cgroups->buffer = memory_resize(
			    job_cgroups->buffer, job_cgroups->buffer_bytes);
		}
		do
			n = read(fd, job_cgroups->buffer + used,
			    job_cgroups->buffer_bytes - used);
		while (n < 0 && errno == EINTR);
		used += n > 0 ? (uint32_t)n : 0;
	}
	close(fd);
	/* The group has gone, or its controller was switched off. */
	if (n < 0)
		return (struct text){ NULL, 0 };
	return (struct text){ job_cgroups->buffer, used };
}

struct text
job_cgroups_read(struct job_cgroups *job_cgroups, uint32_t group,
    enum job_cgroups_file which)
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
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s/%s", job_cgroups->options.root,
		job_cgroups->groups[group].path,
		names[which]) >= (int)sizeof(path))
		return (struct text){ NULL, 0 };
	return job_cgroups_read_path(job_cgroups, path);
}
