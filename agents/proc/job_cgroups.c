/*
 * job_cgroups - the control groups that batch systems create for jobs.
 * SPDX-License-Identifier: MIT
 */
#include "agents/proc/job_cgroups.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/proc/proc_stat.h"
#include "agents/proc/scan.h"
#include "proto/base/memory.h"
#include "proto/base/text.h"
#include "proto/os/clock.h"

struct job_cgroups_group {
	char path[NAME_BYTES_MAX + 1]; /* below the root */
	char name[NAME_BYTES_MAX + 1];
	bool named; /* the id of its job is known, or none is needed */
	struct processor_times times;
};

/* The processor time of a process at the last call. */
struct job_cgroups_seen {
	uint64_t pid, start_ticks, used_ticks;
};

struct job_cgroups {
	struct job_cgroups_options options;
	struct job_cgroups_group *groups; /* by path */
	uint32_t count, room, appeared;
	struct job_cgroups_left_out left_out;
	char *buffer;
	uint32_t buffer_bytes;

	struct job_cgroups_seen *seen; /* sorted by pid; allocated on demand */
	uint32_t seen_count;
	int64_t pass_ns; /* time of the last pass, since boot; 0: none */
	struct job_cgroups_lookup *lookup; /* of an id; NULL: none was asked */
};

/* The processes in a group and in those below it, in any order. */
struct job_cgroups_pids {
	uint64_t *at; /* taken by the caller: free it */
	uint32_t count, room;
	uint64_t left_out, hidden;
};

enum {
	SLUID_BYTES = 14,
	ID_BYTES = 24,
	PROCESSES = 16, /* that are asked for the id */
	ENVIRONMENT_BYTES = 256 << 10,
	DEPTH_MAX = 16, /* of the groups below a group */
};

/* ---- names, and the ids of Slurm's jobs ---- */

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

/* Read a file by its path; a view of the buffer. */
static struct text
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
			*MEMORY_ADD(pids->at, pids->room, pids->count) = pid;
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

static void
job_cgroups_list(struct job_cgroups *job_cgroups, const char *path,
    struct job_cgroups_pids *pids)
{
	char group[PATH_MAX];

	if (snprintf(group, sizeof(group), "%s/%s", job_cgroups->options.root,
		path) < (int)sizeof(group))
		add_tree(job_cgroups, group, 0, pids);
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

/* Give a group its name. */
static void
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

static void
job_cgroups_close_names(struct job_cgroups *job_cgroups)
{
	struct job_cgroups_lookup *lookup = job_cgroups->lookup;

	/* Otherwise it is the thread's. */
	if (lookup != NULL && !deadline_is_asked(job_cgroups->options.deadline,
				  &lookup->question))
		free(lookup);
	job_cgroups->lookup = NULL;
}

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
	group = MEMORY_ADD(
	    job_cgroups->groups, job_cgroups->room, job_cgroups->count);
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
		else
			job_cgroups->appeared++;
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
	job_cgroups->count = job_cgroups->room = job_cgroups->appeared = 0;
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

uint32_t
job_cgroups_appeared(const struct job_cgroups *job_cgroups)
{
	return job_cgroups->appeared;
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

enum { TICK_NS = 10000000 };

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
	MEMORY_GROW_ZERO(pass->commands, pass->room, i);
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
