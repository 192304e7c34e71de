/*
 * job_cgroups_name - the names of groups, and the ids of Slurm's jobs.
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/proc/job_cgroups_private.h"
#include "agents/proc/proc_stat.h"
#include "proto/base/memory.h"

enum {
	SLUID_BYTES = 14,
	ID_BYTES = 24,
	PROCESSES = 16, /* that are asked for the id */
	ENVIRONMENT_BYTES = 256 << 10,
};

/* To read the memory of a process may take for ever. */
struct job_cgroups_lookup {
	struct deadline_question question;
	const char *proc;
	uint64_t pids[PROCESSES];
	uint32_t count;
	char id[ID_BYTES]; /* the answer; empty: none */
};

/* Returns the content with a NUL behind it, which the caller frees. */
static char *
read_all(const char *proc, uint64_t pid, const char *file, size_t *bytes)
{
	char path[PATH_MAX], *at;
	ssize_t n = 1;
	int fd;

	*bytes = 0;
	snprintf(path, sizeof(path), "%s/%llu/%s", proc,
	    (unsigned long long)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	at = memory_alloc(ENVIRONMENT_BYTES + 1);
	while (n > 0 && *bytes < ENVIRONMENT_BYTES) {
		n = read(fd, at + *bytes, ENVIRONMENT_BYTES - *bytes);
		*bytes += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	at[*bytes] = '\0';
	return at;
}

static bool
take_id(char id[static ID_BYTES], const char *digits)
{
	size_t count = strspn(digits, "0123456789");

	if (count == 0 || count >= ID_BYTES)
		return false;
	memcpy(id, digits, count);
	id[count] = '\0';
	return true;
}

/* Find the id behind `front` in one of the strings of the file, or in the first
 * one only. */
static bool
find_in(const struct job_cgroups_lookup *lookup, uint32_t process,
    const char *file, const char *front, bool first, char id[static ID_BYTES])
{
	size_t bytes, front_bytes = strlen(front);
	char *all = read_all(lookup->proc, lookup->pids[process], file, &bytes);
	bool found = false;

	for (const char *at = all;
	     at != NULL && at < all + bytes && !found && (!first || at == all);
	     at += strlen(at) + 1)
		found = strncmp(at, front, front_bytes) == 0 &&
			take_id(id, at + front_bytes);
	free(all);
	return found;
}

static void
look_up(struct deadline_question *question)
{
	struct job_cgroups_lookup *lookup =
	    (struct job_cgroups_lookup *)question;

	for (uint32_t i = 0; i < lookup->count; i++)
		if (find_in(lookup, i, "environ", "SLURM_JOB_ID=", false,
			lookup->id) ||
		    find_in(lookup, i, "cmdline", "slurmstepd: [", true,
			lookup->id))
			return;
}

/* Does the path end in a SLUID, in a group of Slurm? */
static bool
has_sluid(const char *path)
{
	static const char letters[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
	const char *last = strrchr(path, '/');

	return last != NULL && strstr(path, "slurm") != NULL &&
	       strstr(path, "slurm") < last &&
	       strlen(last + 1) == SLUID_BYTES && last[1] == 's' &&
	       strspn(last + 2, letters) == SLUID_BYTES - 1;
}

/* False: no process of the group shows it yet. */
static bool
find_id(struct job_cgroups *job_cgroups, const struct job_cgroups_group *group,
    char id[static ID_BYTES])
{
	struct job_cgroups_lookup *lookup = job_cgroups->lookup;
	struct job_cgroups_pids pids = { .at = NULL };
	struct deadline_question *question;

	if (lookup != NULL &&
	    deadline_is_asked(job_cgroups->options.deadline, &lookup->question))
		return false;
	if (lookup == NULL)
		lookup = memory_alloc(sizeof(*lookup));
	*lookup = (struct job_cgroups_lookup){ .question = { .ask = look_up },
		.proc = job_cgroups->options.proc };
	job_cgroups->lookup = lookup;
	job_cgroups_list(job_cgroups, group->path, &pids);
	while (lookup->count < PROCESSES && lookup->count < pids.count) {
		lookup->pids[lookup->count] = pids.at[lookup->count];
		lookup->count++;
	}
	free(pids.at);
	question = &lookup->question;
	if (lookup->count == 0 ||
	    !deadline_ask(job_cgroups->options.deadline, &question, 1))
		return false;
	memcpy(id, lookup->id, ID_BYTES);
	return id[0] != '\0';
}

void
job_cgroups_set_name(
    struct job_cgroups *job_cgroups, struct job_cgroups_group *group)
{
	struct text path = { group->path, (uint32_t)strlen(group->path) };
	char id[ID_BYTES], *last;
	uint32_t bytes;

	/* The metric group's name has "cgroup/" in front. */
	bytes = proc_escape(
	    group->name, NAME_BYTES_MAX - (uint32_t)strlen("cgroup/"), path);
	group->name[bytes] = '\0';
	group->named = true;
	if (bytes == 0 || !has_sluid(group->path))
		return;
	group->named = find_id(job_cgroups, group, id);
	last = strrchr(group->name, '/') + 1;
	if (group->named)
		snprintf(last,
		    sizeof(group->name) - (size_t)(last - group->name),
		    "job_%s", id);
}

void
job_cgroups_close_names(struct job_cgroups *job_cgroups)
{
	struct job_cgroups_lookup *lookup = job_cgroups->lookup;

	/* Otherwise it is the thread's. */
	if (lookup != NULL && !deadline_is_asked(job_cgroups->options.deadline,
				  &lookup->question))
		free(lookup);
	job_cgroups->lookup = NULL;
}
