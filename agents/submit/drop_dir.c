/*
 * drop_dir - the directory where events wait for an agent: the agent's side.
 * SPDX-License-Identifier: MIT
 */
#include "agents/submit/drop_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/config/instance.h"
#include "proto/os/log.h"
#include "proto/wire/wire.h"

struct drop_dir {
	int new_fd, bad_fd; /* directories */
	int inotify;        /* -1: none */
	uid_t owner;        /* of the file that was read last */
	char frame[WIRE_PUT_BYTES_MAX];
};

static int
open_dir(int *fd, const char *dir, const char *part, struct err *err)
{
	char path[INSTANCE_PATH_BYTES];

	if (snprintf(path, sizeof(path), "%s/%s", dir, part) >=
	    (int)sizeof(path))
		return err_set(err, "%s: name too long", dir);
	if (instance_make_dir(path, err) != 0)
		return -1;
	*fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	/* What cannot be removed after it was taken must not be taken. */
	if (faccessat(*fd, ".", W_OK | X_OK, AT_EACCESS) != 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	return 0;
}

static void
watch(struct drop_dir *drop_dir, const char *dir)
{
	char path[INSTANCE_PATH_BYTES];

	snprintf(path, sizeof(path), "%s/new", dir);
	drop_dir->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	/* What is made there, and not moved there, is bad, and takes room. */
	if (drop_dir->inotify >= 0 && inotify_add_watch(drop_dir->inotify, path,
					  IN_MOVED_TO | IN_CLOSE_WRITE) >= 0)
		return;
	log_warn("no notices from %s: %s; looking every few seconds", path,
	    strerror(errno));
	if (drop_dir->inotify >= 0)
		close(drop_dir->inotify);
	drop_dir->inotify = -1;
}

/* A second descriptor: closedir closes the one it reads. */
static DIR *
open_listing(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = copy >= 0 ? fdopendir(copy) : NULL;

	if (listing == NULL && copy >= 0)
		close(copy);
	return listing;
}

static bool
is_uuid_name(const char *name)
{
	return strlen(name) == DROP_DIR_NAME_BYTES - 1 &&
	       strspn(name, "0123456789abcdef") == DROP_DIR_NAME_BYTES - 1;
}

/* What was being written when its writer died. */
static void
sweep_tmp(int tmp_fd)
{
	DIR *listing = open_listing(tmp_fd);
	const struct dirent *entry;
	struct stat st;

	while (listing != NULL && (entry = readdir(listing)) != NULL)
		if (is_uuid_name(entry->d_name) &&
		    fstatat(tmp_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ==
			0 &&
		    S_ISREG(st.st_mode) && time(NULL) - st.st_mtime > 3600)
			unlinkat(tmp_fd, entry->d_name, 0);
	if (listing != NULL)
		closedir(listing);
}

int
drop_dir_open(struct drop_dir **made, const char *dir, struct err *err)
{
	struct drop_dir *drop_dir = memory_zero(1, sizeof(*drop_dir));
	int tmp_fd = -1;

	drop_dir->new_fd = drop_dir->bad_fd = drop_dir->inotify = -1;
	if (open_dir(&tmp_fd, dir, "tmp", err) != 0 ||
	    open_dir(&drop_dir->new_fd, dir, "new", err) != 0 ||
	    open_dir(&drop_dir->bad_fd, dir, "bad", err) != 0) {
		if (tmp_fd >= 0)
			close(tmp_fd);
		drop_dir_close(&drop_dir);
		return -1;
	}
	sweep_tmp(tmp_fd);
	close(tmp_fd);
	watch(drop_dir, dir);
	*made = drop_dir;
	return 0;
}

void
drop_dir_close(struct drop_dir **gone)
{
	struct drop_dir *drop_dir = *gone;

	*gone = NULL;
	if (drop_dir == NULL)
		return;
	if (drop_dir->new_fd >= 0)
		close(drop_dir->new_fd);
	if (drop_dir->bad_fd >= 0)
		close(drop_dir->bad_fd);
	if (drop_dir->inotify >= 0)
		close(drop_dir->inotify);
	free(drop_dir);
}

int
drop_dir_fd(const struct drop_dir *drop_dir)
{
	return drop_dir->inotify;
}

void
drop_dir_drain(struct drop_dir *drop_dir)
{
	_Alignas(struct inotify_event) char notices[4096];

	/* What they say does not matter: the directory itself is read. */
	while (drop_dir->inotify >= 0 &&
	       read(drop_dir->inotify, notices, sizeof(notices)) > 0)
		;
}

/* Why a file is not even read, or NULL. */
static const char *
fault_of(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "is not a file";
	if (st->st_nlink != 1)
		return "has more than one name";
	if (st->st_size > WIRE_PUT_BYTES_MAX)
		return "is longer than 64 KiB";
	return NULL;
}

/* Read one file.  1: there it is, 0: not now, or set aside. */
static int
read_file(struct drop_dir *drop_dir, const char *name, struct text *frame)
{
	int fd = openat(drop_dir->new_fd, name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const char *why = NULL;
	struct stat st = { 0 };
	ssize_t n = 0;

	if (fd < 0) {
		if (errno == ELOOP || errno == ENXIO)
			drop_dir_refuse(drop_dir, name, "is not a file");
		else if (errno != ENOENT)
			log_warn("drop/new/%s: %s", name, strerror(errno));
		return 0;
	}
	if (fstat(fd, &st) != 0)
		why = "cannot be looked at";
	else
		why = fault_of(&st);
	drop_dir->owner = st.st_uid;
	if (why == NULL)
		n = pread(fd, drop_dir->frame, sizeof(drop_dir->frame), 0);
	close(fd);
	if (why != NULL)
		drop_dir_refuse(drop_dir, name, why);
	else if (n < 0)
		log_warn("drop/new/%s: %s", name, strerror(errno));
	if (why != NULL || n < 0)
		return 0;
	*frame = (struct text){ drop_dir->frame, (uint32_t)n };
	return 1;
}

int
drop_dir_scan(struct drop_dir *drop_dir, int files_max,
    bool (*take)(void *arg, const char *name, struct text frame), void *arg,
    struct err *err)
{
	DIR *listing = open_listing(drop_dir->new_fd);
	const struct dirent *entry;
	int taken = 0;

	if (listing == NULL)
		return err_set(err, "drop/new: %s", strerror(errno));
	while (taken < files_max && (entry = readdir(listing)) != NULL) {
		struct text frame;

		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		if (!is_uuid_name(entry->d_name)) {
			drop_dir_refuse(
			    drop_dir, entry->d_name, "has a strange name");
			continue;
		}
		if (!read_file(drop_dir, entry->d_name, &frame))
			continue;
		taken++;
		if (!take(arg, entry->d_name, frame))
			drop_dir_refuse(
			    drop_dir, entry->d_name, "is not a put frame");
	}
	closedir(listing);
	return taken;
}

uid_t
drop_dir_owner(const struct drop_dir *drop_dir)
{
	return drop_dir->owner;
}

int
drop_dir_remove(struct drop_dir *drop_dir, const char *name, struct err *err)
{
	if (unlinkat(drop_dir->new_fd, name, 0) != 0 && errno != ENOENT)
		return err_set(err, "drop/new/%s: %s", name, strerror(errno));
	return 0;
}

int
drop_dir_sync(struct drop_dir *drop_dir, struct err *err)
{
	if (fsync(drop_dir->new_fd) != 0)
		return err_set(err, "drop/new: %s", strerror(errno));
	return 0;
}

/* Is there room in bad/ for one more?  The oldest makes it. */
static void
make_room(struct drop_dir *drop_dir)
{
	DIR *listing = open_listing(drop_dir->bad_fd);
	const struct dirent *entry;
	struct stat st, oldest = { 0 };
	char name[NAME_MAX + 1] = "";
	int files = 0;

	while (listing != NULL && (entry = readdir(listing)) != NULL) {
		if (entry->d_name[0] == '.' ||
		    fstatat(drop_dir->bad_fd, entry->d_name, &st,
			AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		files++;
		if (*name == '\0' || st.st_mtime < oldest.st_mtime) {
			oldest = st;
			strcpy(name, entry->d_name);
		}
	}
	if (listing != NULL)
		closedir(listing);
	if (files >= DROP_DIR_BAD_MAX)
		unlinkat(drop_dir->bad_fd, name,
		    S_ISDIR(oldest.st_mode) ? AT_REMOVEDIR : 0);
}

void
drop_dir_refuse(struct drop_dir *drop_dir, const char *name, const char *why)
{
	char shown[128];

	text_quote(shown, sizeof(shown), text_of(name));
	make_room(drop_dir);
	if (renameat(drop_dir->new_fd, name, drop_dir->bad_fd, name) == 0)
		log_warn("drop/new/%s %s: moved to drop/bad", shown, why);
	else
		log_warn("drop/new/%s %s, and cannot be moved: %s", shown, why,
		    strerror(errno));
}
