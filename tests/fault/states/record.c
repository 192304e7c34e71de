/*
 * record - the recording: operations in memory, which file a descriptor is,
 * whose turn it is to fail.
 * SPDX-License-Identifier: MIT
 */
#include "tests/fault/states/states.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fault/states/log.h"

struct log states_log;

static char root[PATH_MAX];
bool states_recording;
static uint64_t fail_at = UINT64_MAX, kill_at = UINT64_MAX;
static int fail_error;
static bool failed;

/* Which file a descriptor is: by inode, the latest first, since numbers of
 * deleted files are used again. */
struct inode {
	ino_t ino;
	uint32_t file;
};
static struct inode *inodes;
static uint32_t inodes_count, files;

static void *
grown(void *at, size_t bytes)
{
	void *more = realloc(at, bytes);

	if (more == NULL)
		abort();
	return more;
}

struct op *
states_add(enum op_kind kind, uint32_t file)
{
	struct log *log = &states_log;

	if (log->count == log->room) {
		log->room = log->room > 0 ? 2 * log->room : 1024;
		log->ops = grown(log->ops, log->room * sizeof(*log->ops));
	}
	log->ops[log->count] = (struct op){ .kind = kind, .file = file };
	return &log->ops[log->count++];
}

uint32_t
states_new_file(ino_t ino)
{
	inodes = grown(inodes, (inodes_count + 1) * sizeof(*inodes));
	inodes[inodes_count++] = (struct inode){ ino, files };
	return files++;
}

/* The file behind a descriptor; -1: not below the root, or not a file. */
int64_t
states_file(int fd)
{
	struct stat st;

	if (!states_recording || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return -1;
	for (uint32_t i = inodes_count; i-- > 0;) {
		if (inodes[i].ino == st.st_ino)
			return inodes[i].file;
	}
	return -1;
}

/* The path below the root of what is at dir/name, malloc'd; NULL: it is
 * somewhere else.  `name` NULL: of the descriptor itself. */
char *
states_path(int dir, const char *name)
{
	char link[64], at[PATH_MAX] = "", all[2 * PATH_MAX];
	size_t n = strlen(root);
	ssize_t got = 0;

	if (!states_recording)
		return NULL;
	if (name != NULL && name[0] == '/') {
		snprintf(all, sizeof(all), "%s", name);
	} else {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
		got = readlink(dir == AT_FDCWD ? "/proc/self/cwd" : link, at,
		    sizeof(at) - 1);
		if (got < 0)
			return NULL;
		snprintf(all, sizeof(all), "%s%s%s", at, name ? "/" : "",
		    name ? name : "");
	}
	if (strncmp(all, root, n) != 0 || (all[n] != '/' && all[n] != '\0'))
		return NULL;
	return strdup(all[n] == '/' ? all + n + 1 : "");
}

/* Does the process count as killed? */
bool
states_dead(void)
{
	if (!states_recording || states_position() < kill_at)
		return false;
	kill_at = 0;
	errno = EIO;
	return true;
}

/* Is it this operation's turn to fail? */
bool
states_fails(void)
{
	if (states_dead())
		return true;
	if (!states_recording || states_position() < fail_at)
		return false;
	fail_at = UINT64_MAX;
	failed = true;
	errno = fail_error;
	return true;
}

void
states_note_write(int fd, const void *data, size_t bytes, uint64_t offset)
{
	int64_t file = states_file(fd);
	struct op *op;

	if (file < 0 || bytes == 0)
		return;
	op = states_add(OP_WRITE, (uint32_t)file);
	op->offset = offset;
	op->bytes = (uint32_t)bytes;
	op->data = memcpy(grown(NULL, bytes), data, bytes);
	op->synced = (fcntl(fd, F_GETFL) & O_DSYNC) != 0;
}

/* ---- the recording ---- */

/* What is there already, as operations before the first. */
static void
take_file(const char *path, const char *below, const struct stat *st)
{
	struct op *op = states_add(OP_CREATE, states_new_file(st->st_ino));
	uint32_t file = op->file;
	int fd = open(path, O_RDONLY | O_NOFOLLOW);

	op->path = strdup(below);
	states_add(OP_GROW, file)->offset = (uint64_t)st->st_size;
	if (fd >= 0 && st->st_size > 0) {
		op = states_add(OP_WRITE, file);
		op->data = grown(NULL, (size_t)st->st_size);
		op->synced = true;
		if (pread(fd, op->data, (size_t)st->st_size, 0) == st->st_size)
			op->bytes = (uint32_t)st->st_size;
	}
	if (fd >= 0)
		close(fd);
	states_add(OP_SYNC, file);
}

static void
take_folder(const char *below)
{
	char path[2 * PATH_MAX], name[PATH_MAX];
	const struct dirent *e;
	struct stat st;
	DIR *d;

	snprintf(path, sizeof(path), "%s/%s", root, below);
	d = opendir(path);
	while (d != NULL && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(name, sizeof(name), "%s%s%s", below,
		    below[0] != '\0' ? "/" : "", e->d_name);
		snprintf(path, sizeof(path), "%s/%s", root, name);
		if (lstat(path, &st) != 0)
			continue;
		if (S_ISREG(st.st_mode))
			take_file(path, name, &st);
		if (!S_ISDIR(st.st_mode))
			continue;
		states_add(OP_FOLDER, 0)->path = strdup(name);
		take_folder(name);
	}
	if (d != NULL)
		closedir(d);
	states_add(OP_SYNC_DIR, 0)->path = strdup(below);
}

void
states_start(const char *at)
{
	states_clear();
	if (realpath(at, root) == NULL)
		abort();
	take_folder("");
	states_log.base = states_log.count;
	states_recording = true;
}

void
states_stop(void)
{
	states_recording = false;
}

void
states_clear(void)
{
	struct log *log = &states_log;

	states_stop();
	for (uint64_t i = 0; i < log->count; i++) {
		free(log->ops[i].path);
		free(log->ops[i].to);
		free(log->ops[i].data);
	}
	free(log->ops);
	free(inodes);
	*log = (struct log){ 0 };
	inodes = NULL;
	inodes_count = files = 0;
	fail_at = kill_at = UINT64_MAX;
	failed = false;
}

uint64_t
states_position(void)
{
	return states_log.count - states_log.base;
}

void
states_fail_at(uint64_t position, int error)
{
	fail_at = error != 0 ? position : UINT64_MAX;
	fail_error = error;
	failed = false;
}

void
states_kill_at(uint64_t position)
{
	kill_at = position > 0 ? position : 1;
}

void
states_revive(void)
{
	kill_at = UINT64_MAX;
}

bool
states_failed(void)
{
	return failed;
}

bool
states_killed(void)
{
	return kill_at == 0;
}
