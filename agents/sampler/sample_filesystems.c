/*
 * sampler_sample_filesystems - samples of file systems.
 *
 * The mount table says what there is: of the host, which may be another's than
 * our own.  The sizes come from wherever a file system is mounted for us.  What
 * lies over a mount point is not measured in its place, and what does not
 * answer keeps nobody waiting: deadline.h.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/proc/proc_stat.h"
#include "agents/sampler/sampler_private.h"
#include "proto/base/memory.h"
#include "proto/os/log.h"

enum { PATH_BYTES = 4096, MOUNTS_MAX = 64 << 10 };

enum outcome {
	SAMPLED,
	NOT_HERE, /* the host's, not mounted for us */
	A_FILE,   /* only files of it are: those of a container */
	COVERED,  /* something is mounted over it */
	UNREADABLE,
	SILENT /* it does not answer */
};

/* A path that is asked.  It stays as long as the mount does. */
struct path {
	struct deadline_question question; /* first: it is cast */
	char path[PATH_BYTES];
	uint64_t mount; /* that the path should lead to; 0: any */
	struct statvfs fs;
	enum outcome answer;
	bool seen;
};

/* A file system, by its device, and what was logged of it last. */
struct filesystem {
	uint64_t major, minor;
	enum outcome said;
	bool seen;
};

struct mounts {
	struct proc_mount *at;
	uint32_t count, room;
};

struct sampler_filesystems {
	struct path **paths;
	uint32_t path_count, path_room;
	struct filesystem *known;
	uint32_t known_count, known_room;
};

/* ---- one path ---- */

/* In a thread: each of these calls may take for ever.  A descriptor of O_PATH
 * mounts nothing that would be mounted on demand. */
static void
ask(struct deadline_question *question)
{
	struct path *path = (struct path *)question;
	int fd = open(path->path, O_PATH | O_CLOEXEC);
	struct statx what = { .stx_mask = 0 };

	path->answer = UNREADABLE;
	if (fd < 0)
		return;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
		STATX_TYPE | STATX_MNT_ID, &what) != 0)
		path->answer = UNREADABLE;
	else if (path->mount != 0 && (what.stx_mask & STATX_MNT_ID) != 0 &&
		 what.stx_mnt_id != path->mount)
		path->answer = COVERED;
	else if (path->mount != 0 && !S_ISDIR(what.stx_mode))
		path->answer = A_FILE;
	else if (fstatvfs(fd, &path->fs) == 0 && path->fs.f_blocks > 0)
		path->answer = SAMPLED;
	/* Of a file the sizes are good, too, but it has no name of its own. */
	if (path->answer == A_FILE)
		(void)!fstatvfs(fd, &path->fs);
	close(fd);
}

static struct path *
find_path(struct sampler *sampler, const char *name, uint64_t mount)
{
	struct sampler_filesystems *all = sampler->filesystems;
	struct path *path;

	for (uint32_t i = 0; i < all->path_count; i++)
		if (all->paths[i]->mount == mount &&
		    strcmp(all->paths[i]->path, name) == 0)
			return all->paths[i];
	path = memory_zero(1, sizeof(*path));
	path->question.ask = ask;
	path->mount = mount;
	strcpy(path->path, name);
	*MEMORY_ADD(all->paths, all->path_room, all->path_count) = path;
	return path;
}

static void
ask_paths(struct sampler *sampler, struct path **paths, uint32_t count)
{
	struct deadline_question *questions[SAMPLER_FILESYSTEMS_MAX];
	uint32_t asked = 0;

	for (uint32_t i = 0; i < count; i++) {
		paths[i]->seen = true;
		if (deadline_is_asked(sampler->deadline, &paths[i]->question))
			continue;
		paths[i]->answer = SILENT;
		questions[asked++] = &paths[i]->question;
	}
	deadline_ask(sampler->deadline, questions, asked);
}

static enum outcome
answer_of(struct sampler *sampler, const struct path *path)
{
	return deadline_is_asked(sampler->deadline, &path->question)
		   ? SILENT
		   : path->answer;
}

/* Of paths that are no mount points any more; those that wait are kept. */
static void
forget_paths(struct sampler *sampler, bool all)
{
	struct sampler_filesystems *list = sampler->filesystems;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < list->path_count; i++) {
		struct path *path = list->paths[i];
		bool waits =
		    deadline_is_asked(sampler->deadline, &path->question);

		if (!waits && (all || (!path->seen && path->mount != 0))) {
			free(path);
			continue;
		}
		path->seen = false;
		list->paths[kept++] = path;
	}
	list->path_count = kept;
}

/* On a disk of its own the root answers as long as the agent lives; on a
 * network it may not.  Mounting another one over it is for early boot. */
static bool
is_root_local(struct sampler *sampler)
{
	struct text table;
	struct proc_mount mount;

	if (sampler->now_monotonic_ns < sampler->root_ns)
		return sampler->root_is_local;
	table = proc_files_read(&sampler->files, PROC_OWN_MOUNTS);
	sampler->root_ns = sampler->now_monotonic_ns + SAMPLER_ROOT_NS;
	sampler->root_is_local = false;
	while (proc_next_mount(&table, &mount))
		if (text_equal(mount.point, text_of("/")))
			sampler->root_is_local = proc_is_local(mount.type);
	return sampler->root_is_local;
}

bool
sampler_ask_root(struct sampler *sampler, struct statvfs *fs)
{
	struct path *root;

	/* A thread costs as much as all else of this metric group. */
	if (is_root_local(sampler))
		return statvfs("/", fs) == 0 && fs->f_blocks > 0;
	root = find_path(sampler, "/", 0);
	ask_paths(sampler, &root, 1);
	if (answer_of(sampler, root) != SAMPLED)
		return false;
	*fs = root->fs;
	return true;
}

/* ---- the mount tables ---- */

/* Is it on disks of the host?  The layers of containers are not, except that
 * of our own. */
static bool
is_listed(const struct proc_mount *mount)
{
	return proc_is_local(mount->type) &&
	       (!text_equal(mount->type, text_of("overlay")) ||
		   text_equal(mount->point, text_of("/")));
}

static int
by_device(const void *a, const void *b)
{
	const struct proc_mount *x = a, *y = b;

	if (x->major != y->major)
		return x->major < y->major ? -1 : 1;
	if (x->minor != y->minor)
		return x->minor < y->minor ? -1 : 1;
	if (x->point.bytes != y->point.bytes)
		return x->point.bytes < y->point.bytes ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* All mounts, by device, those with the shortest paths first: the others are
 * bind mounts. */
static struct mounts
list_mounts(struct text table)
{
	struct mounts mounts = { .at = NULL };
	struct proc_mount mount;

	while (mounts.count < MOUNTS_MAX && proc_next_mount(&table, &mount)) {
		*MEMORY_ADD(mounts.at, mounts.room, mounts.count) = mount;
	}
	if (mounts.count > 0)
		qsort(mounts.at, mounts.count, sizeof(*mounts.at), by_device);
	return mounts;
}

static bool
is_same_device(const struct proc_mount *a, const struct proc_mount *b)
{
	return a->major == b->major && a->minor == b->minor;
}

/* Is something mounted right over it?  Then nobody asks what that is. */
static bool
is_covered(const struct mounts *mounts, const struct proc_mount *mount)
{
	for (uint32_t i = 0; i < mounts->count; i++) {
		const struct proc_mount *over = &mounts->at[i];

		if (over->parent == mount->id && over->id != mount->id &&
		    text_equal(over->point, mount->point))
			return true;
	}
	return false;
}

/* ---- file systems ---- */

static void
say(struct sampler *sampler, const struct proc_mount *mount, const char *name,
    enum outcome outcome)
{
	static const char *const why[] = {
		[NOT_HERE] = "it is not mounted where the agent runs",
		[A_FILE] = "only files of it are mounted here",
		[COVERED] = "something else is mounted over it",
		[UNREADABLE] = "the system does not report its size",
		[SILENT] = "it does not answer; the rest goes on without it",
	};
	struct sampler_filesystems *all = sampler->filesystems;
	struct filesystem *known = NULL;

	for (uint32_t i = 0; i < all->known_count && known == NULL; i++)
		if (all->known[i].major == mount->major &&
		    all->known[i].minor == mount->minor)
			known = &all->known[i];
	if (known == NULL) {
		known =
		    MEMORY_ADD(all->known, all->known_room, all->known_count);
		*known = (struct filesystem){ mount->major, mount->minor,
			SAMPLED, true };
	}
	known->seen = true;
	if (outcome == known->said)
		return;
	if (outcome == SAMPLED)
		log_info("file system %s is sampled again", name);
	else if (outcome == SILENT)
		log_warn(
		    "file system %s is not sampled: %s", name, why[SILENT]);
	else
		log_info(
		    "file system %s is not sampled: %s", name, why[outcome]);
	known->said = outcome;
}

static void
forget_known(struct sampler_filesystems *all)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < all->known_count; i++)
		if (all->known[i].seen) {
			all->known[i].seen = false;
			all->known[kept++] = all->known[i];
		}
	all->known_count = kept;
}

static void
add_filesystem(
    struct sampler *sampler, const char *shown, const struct statvfs *fs)
{
	char name[NAME_BYTES_MAX + 1];
	uint64_t unit = fs->f_frsize;
	/* Some have no fixed number of inodes. */
	bool inodes = fs->f_files > 0;
	uint64_t numbers[] = { [METRIC_FILESYSTEM_LIMIT] = fs->f_blocks * unit,
		[METRIC_FILESYSTEM_USED] =
		    scan_less(fs->f_blocks, fs->f_bfree) * unit,
		[METRIC_FILESYSTEM_FREE] = fs->f_bavail * unit,
		[METRIC_FILESYSTEM_RESERVED] =
		    scan_less(fs->f_bfree, fs->f_bavail) * unit,
		[METRIC_FILESYSTEM_INODES_USED] =
		    inodes ? scan_less(fs->f_files, fs->f_ffree) : SCAN_UNKNOWN,
		[METRIC_FILESYSTEM_INODES_FREE] =
		    inodes ? fs->f_ffree : SCAN_UNKNOWN };

	sampler_add_whole(sampler, &metric_group_filesystem,
	    sampler_name(name, "filesystem", text_of(shown)), numbers,
	    SAMPLER_COUNT(numbers));
}

/* The mount tables of a round. */
struct round {
	struct sampler *sampler;
	struct mounts host, own;
	bool is_ours; /* the host's is our own */
};

/* What is found out about a file system of the host. */
struct finding {
	const struct proc_mount *mount; /* the last one that was asked */
	const struct path *path;
	uint32_t next; /* of our own mounts */
	enum outcome outcome;
};

/* The path of the next mount of our own of that device; NULL: none is left. */
static struct path *
next_path(const struct round *round, const struct proc_mount *host,
    struct finding *finding)
{
	char name[PATH_BYTES];

	while (finding->next < round->own.count) {
		const struct proc_mount *here = &round->own.at[finding->next++];

		if (!is_same_device(here, host) || !is_listed(here) ||
		    proc_unescape(name, sizeof(name), here->point) == 0)
			continue;
		if (!is_covered(&round->own, here)) {
			finding->mount = here;
			return find_path(round->sampler, name, here->id);
		}
		finding->outcome = COVERED;
	}
	return NULL;
}

/* Ask the mounts of one device for its sizes. */
static void
measure(const struct round *round, const struct proc_mount *host,
    struct finding *finding)
{
	struct path *path;

	while ((path = next_path(round, host, finding)) != NULL) {
		enum outcome answer;

		if (!path->seen)
			ask_paths(round->sampler, &path, 1);
		answer = answer_of(round->sampler, path);
		/* It has a name by the host's table. */
		if (answer == A_FILE && !round->is_ours &&
		    path->fs.f_blocks > 0)
			answer = SAMPLED;
		finding->path = path;
		finding->outcome = answer;
		/* Another mount of what is silent would be, too. */
		if (answer == SAMPLED || answer == SILENT)
			break;
	}
}

/* The file system of a device of the host, which has its name from `host`. */
static void
read_filesystem(const struct round *round, const struct proc_mount *host)
{
	struct finding finding = { .mount = host, .outcome = NOT_HERE };
	char name[NAME_BYTES_MAX];
	uint32_t bytes;

	measure(round, host, &finding);
	bytes = proc_escape(name, sizeof(name) - 1,
	    round->is_ours && finding.outcome == SAMPLED ? finding.mount->point
							 : host->point);
	name[bytes] = '\0';
	if (bytes == 0) {
		round->sampler->left_out[LEFT_NAMES]++;
		return;
	}
	say(round->sampler, host, name, finding.outcome);
	if (finding.outcome == SAMPLED)
		add_filesystem(round->sampler, name, &finding.path->fs);
}

/* Each handing over to a thread costs as much as many answers: ask the first
 * mounts of all file systems at once. */
static void
read_round(const struct round *round)
{
	const struct proc_mount *found[SAMPLER_FILESYSTEMS_MAX];
	struct path *first[SAMPLER_FILESYSTEMS_MAX];
	const struct mounts *host = &round->host;
	uint32_t count = 0, asked = 0, left_out = 0;

	for (uint32_t i = 0; i < host->count; i++) {
		struct finding finding = { .next = 0 };

		if (!is_listed(&host->at[i]) ||
		    (i > 0 && is_same_device(&host->at[i - 1], &host->at[i])))
			continue;
		if (count == SAMPLER_FILESYSTEMS_MAX) {
			left_out++;
			continue;
		}
		found[count++] = &host->at[i];
		first[asked] = next_path(round, &host->at[i], &finding);
		asked += first[asked] != NULL;
	}
	ask_paths(round->sampler, first, asked);
	for (uint32_t i = 0; i < count; i++)
		read_filesystem(round, found[i]);
	sampler_leave_out(round->sampler, LEFT_FILESYSTEMS, left_out, NULL);
}

void
sampler_read_filesystems(struct sampler *sampler)
{
	struct text table = proc_files_read(&sampler->files, PROC_MOUNTS);
	char *copy = memory_copy(table.at, table.bytes);
	struct round round = { .sampler = sampler,
		.is_ours = strcmp(sampler->options.proc, "/proc") == 0 };

	round.host = list_mounts((struct text){ copy, table.bytes });
	round.own = round.is_ours ? round.host
				  : list_mounts(proc_files_read(
					&sampler->files, PROC_OWN_MOUNTS));
	read_round(&round);
	forget_paths(sampler, false);
	forget_known(sampler->filesystems);
	if (!round.is_ours)
		free(round.own.at);
	free(round.host.at);
	free(copy);
}

void
sampler_open_filesystems(struct sampler *sampler)
{
	sampler->filesystems = memory_zero(1, sizeof(*sampler->filesystems));
}

void
sampler_close_filesystems(struct sampler *sampler)
{
	/* Those that wait for an answer are left to their threads. */
	forget_paths(sampler, true);
	free(sampler->filesystems->paths);
	free(sampler->filesystems->known);
	free(sampler->filesystems);
	sampler->filesystems = NULL;
}
