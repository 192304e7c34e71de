/*
 * fallback_queue_leave - the directory where events wait for an agent: the
 * sender's side.
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "agents/submit/fallback_queue.h"
#include "proto/config/instance.h"
#include "proto/os/whole_file.h"
#include "proto/os/file_io.h"

static int
part_path(char to[static INSTANCE_PATH_BYTES], const char *dir,
    const char *part, const char *name, struct err *err)
{
	if (snprintf(to, INSTANCE_PATH_BYTES, "%s/%s/%s", dir, part, name) >=
	    INSTANCE_PATH_BYTES)
		return err_set(err, "%s: name too long", dir);
	return 0;
}

static int
make_parts(const char *dir, struct err *err)
{
	static const char *const parts[] = { "tmp", "new" };
	char path[INSTANCE_PATH_BYTES];

	for (int i = 0; i < 2; i++)
		if (part_path(path, dir, parts[i], "", err) != 0 ||
		    instance_make_dir(path, err) != 0)
			return -1;
	return 0;
}

/* How many files each user has in the queue.  Further users are counted
 * together. */
enum { USERS_MAX = 64 };

struct users {
	uid_t uid[USERS_MAX];
	int files[USERS_MAX + 1];
	int count;
};

static int *
files_of(struct users *users, uid_t uid)
{
	int i = 0;

	while (i < users->count && users->uid[i] != uid)
		i++;
	if (i == users->count && i < USERS_MAX)
		users->uid[users->count++] = uid;
	return &users->files[i];
}

/* Directories are nobody's events. */
static void
count_files(DIR *listing, struct users *users)
{
	const struct dirent *entry;
	struct stat st;

	while ((entry = readdir(listing)) != NULL)
		if (entry->d_type != DT_DIR &&
		    fstatat(dirfd(listing), entry->d_name, &st,
			AT_SYMLINK_NOFOLLOW) == 0 &&
		    !S_ISDIR(st.st_mode))
			++*files_of(users, st.st_uid);
}

/* The bounds of a user and of all.  0: there is room, 1: there is none. */
static int
check_files(const char *path, DIR *listing, struct err *err)
{
	struct users users = { .count = 0 };
	uid_t self = geteuid();
	struct stat st = { 0 };
	bool whole;
	int own, all = 0;

	count_files(listing, &users);
	own = *files_of(&users, self);
	whole =
	    self == 0 || (fstat(dirfd(listing), &st) == 0 && st.st_uid == self);
	for (int i = 0; i <= USERS_MAX; i++)
		all += i < users.count && users.uid[i] == self ? own
		       : users.files[i] < FALLBACK_QUEUE_SHARE_FILES
			   ? users.files[i]
			   : FALLBACK_QUEUE_SHARE_FILES;
	if (!whole && own >= FALLBACK_QUEUE_SHARE_FILES) {
		err_set(err,
		    "%s: %d files of user %ld wait there already, the maximum "
		    "of one user; start an agent, which reads them",
		    path, own, (long)self);
		return 1;
	}
	if (all < FALLBACK_QUEUE_FILES_MAX)
		return 0;
	err_set(err,
	    "%s: %d files wait there already, the maximum; start an agent, "
	    "which reads them",
	    path, all);
	return 1;
}

/* 0: yes, 1: no, -1: unknown. */
static int
has_room(const char *path, uint64_t free_bytes, struct err *err)
{
	DIR *listing = opendir(path);
	struct statvfs fs;
	int rc;

	if (listing == NULL || statvfs(path, &fs) != 0) {
		err_set(err, "%s: %s", path, strerror(errno));
		if (listing != NULL)
			closedir(listing);
		return -1;
	}
	rc = check_files(path, listing, err);
	closedir(listing);
	if (rc != 0)
		return rc;
	if ((uint64_t)fs.f_bavail * fs.f_frsize < free_bytes) {
		err_set(err,
		    "%s: the file system has %" PRIu64 " bytes free: it must "
		    "keep %" PRIu64 " (--free-bytes)",
		    path, (uint64_t)fs.f_bavail * fs.f_frsize, free_bytes);
		return 1;
	}
	return 0;
}

static int
write_file(
    const char *path, const char *temporary, struct text frame, struct err *err)
{
	/* The agent may be another user, in the group of the directory. */
	const struct whole_file file = {
		.path = path, .temporary = temporary, .for_group = true
	};
	int rc = whole_file_write(&file, frame.at, frame.bytes);
	int wrong = errno;

	if (rc == 0)
		return 0;
	err_set(err, "%s: %s", path, file_io_sentence(wrong));
	return rc == -1 && (file_io_is_full(wrong) || wrong == EIO) ? 1 : -1;
}

int
fallback_queue_leave(
    const char *dir, struct text frame, uint64_t free_bytes, struct err *err)
{
	char name[33], tmp[INSTANCE_PATH_BYTES], new[INSTANCE_PATH_BYTES];
	char parent[INSTANCE_PATH_BYTES];
	struct session_id id;
	int rc;

	/* Not the uuid: names can be read by all. */
	session_random(&id);
	session_text(name, &id);
	if (part_path(tmp, dir, "tmp", name, err) != 0 ||
	    part_path(new, dir, "new", name, err) != 0 ||
	    part_path(parent, dir, "new", ".", err) != 0 ||
	    make_parts(dir, err) != 0)
		return -1;
	rc = has_room(parent, free_bytes, err);
	if (rc != 0)
		return rc;
	return write_file(new, tmp, frame, err);
}
