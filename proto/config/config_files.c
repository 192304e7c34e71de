/*
 * config_files - finds and reads the configuration files of this host.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/config_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "proto/base/memory.h"

#define HOST_DIR  "/var/lib/poolscope"
#define HOST_FILE "/etc/poolscope/poolscope.conf"
#define NAME      "poolscope.conf"

int
config_default(char to[static DEFAULT_DIR_BYTES], const char *dir)
{
	char place[DEFAULT_DIR_BYTES];
	struct err err;

	if (default_dir(place, dir, &err) != 0 ||
	    strlen(place) + sizeof("/" NAME) > DEFAULT_DIR_BYTES)
		return -1;
	if (strcmp(place, HOST_DIR) == 0)
		strcpy(to, HOST_FILE);
	else
		snprintf(to, DEFAULT_DIR_BYTES, "%.*s/" NAME,
		    (int)(DEFAULT_DIR_BYTES - sizeof("/" NAME)), place);
	return 0;
}

/* A user who can write root's configuration is root. */
static int
check_writers(int fd, const char *path, struct stat *st, struct err *err)
{
	if (fstat(fd, st) != 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	if (geteuid() != 0)
		return 0;
	if (st->st_uid != 0)
		return err_set(err,
		    "%s: belongs to user %u; root reads only files of root",
		    path, (unsigned)st->st_uid);
	if ((st->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return err_set(err,
		    "%s: other users can write it (mode %03o): run chmod go-w",
		    path, (unsigned)(st->st_mode & 0777));
	return 0;
}

/* 1: a regular file; 0: /dev/null, an empty one; -1: neither. */
static int
check_file(int fd, const char *path, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) &&
	    st.st_rdev == makedev(1, 3))
		return 0;
	if (check_writers(fd, path, &st, err) != 0)
		return -1;
	if (!S_ISREG(st.st_mode))
		return err_set(err, "%s: is not a regular file", path);
	return 1;
}

static int
read_text(int fd, const char *path, char *text, size_t room, size_t *bytes,
    struct err *err)
{
	ssize_t n;

	*bytes = 0;
	while ((n = read(fd, text + *bytes, room + 1 - *bytes)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, "%s: cannot be read: %s", path,
			    strerror(errno));
		*bytes += (size_t)n;
		if (*bytes > room)
			return err_set(err,
			    "%s: the configuration is longer than %d KiB", path,
			    CONFIG_BYTES_MAX >> 10);
	}
	if (memchr(text, '\0', *bytes) != NULL)
		return err_set(err, "%s: contains a NUL byte", path);
	text[*bytes] = '\0';
	return 0;
}

static int
add_open(struct config_files *files, int fd, const char *path, struct err *err)
{
	size_t room = CONFIG_BYTES_MAX - files->bytes, bytes = 0;
	struct config_file *file;
	int is_file = check_file(fd, path, err);

	if (is_file < 0)
		return -1;
	if (files->count == CONFIG_FILES_MAX)
		return err_set(err, "%s: there are more than %d files", path,
		    CONFIG_FILES_MAX);
	file = &files->at[files->count++];
	file->path = memory_string(path);
	file->text = memory_zero(1, room + 2);
	if (is_file && read_text(fd, path, file->text, room, &bytes, err) != 0)
		return -1;
	files->bytes += bytes;
	file->text = memory_resize(file->text, bytes + 1);
	return 0;
}

/* The instance is another user's: nothing else in it can be used either. */
static int
refuse_instance(const char *path, struct err *err)
{
	char dir[2 * DEFAULT_DIR_BYTES];
	struct stat st;
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (slash != NULL && slash != dir)
		*slash = '\0';
	if (stat(dir, &st) != 0 || access(dir, X_OK) == 0)
		return err_set(
		    err, "%s: cannot be read: %s", path, strerror(EACCES));
	return err_set(err,
	    "%s: belongs to user %u, who has not shared it (poolscope up "
	    "--share GROUP); choose another instance with --dir",
	    dir, (unsigned)st.st_uid);
}

static int
add(struct config_files *files, const char *path, bool must, struct err *err)
{
	/* Do not wait for a writer if it is a pipe. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int rc;

	if (fd < 0 && !must && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0 && errno == EACCES && !must)
		return refuse_instance(path, err);
	if (fd < 0)
		return err_set(
		    err, "%s: cannot be read: %s", path, strerror(errno));
	rc = add_open(files, fd, path, err);
	close(fd);
	return rc;
}

static int
is_wanted(const struct dirent *entry)
{
	size_t bytes = strlen(entry->d_name);

	return entry->d_name[0] != '.' && bytes > 5 &&
	       strcmp(entry->d_name + bytes - 5, ".conf") == 0;
}

static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Read the files of the directory `dir`. */
static int
add_directory(struct config_files *files, const char *dir, struct err *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), count = -1;
	char path[2 * DEFAULT_DIR_BYTES];
	struct dirent **names = NULL;
	struct stat st;
	int rc = -1;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0)
		return err_set(
		    err, "%s: cannot be read: %s", dir, strerror(errno));
	if (check_writers(fd, dir, &st, err) == 0) {
		count = scandirat(fd, ".", &names, is_wanted, by_name);
		rc = count < 0 ? err_set(err, "%s: cannot be read: %s", dir,
				     strerror(errno))
			       : 0;
	}
	close(fd);
	for (int i = 0; i < count; i++) {
		if (rc == 0 && snprintf(path, sizeof(path), "%s/%s", dir,
				   names[i]->d_name) >= (int)sizeof(path))
			rc = err_set(err, "%s: a file name is too long", dir);
		if (rc == 0)
			rc = add(files, path, true, err);
		free(names[i]);
	}
	free(names);
	return rc;
}

int
config_files_read(
    struct config_files *files, const char *path, bool must, struct err *err)
{
	const char *slash = strrchr(path, '/');
	char directory[DEFAULT_DIR_BYTES];

	*files = (struct config_files){ .count = 0 };
	if (add(files, path, must, err) != 0)
		return -1;
	if (snprintf(directory, sizeof(directory), "%.*sconf.d",
		slash ? (int)(slash + 1 - path) : 0,
		path) >= (int)sizeof(directory))
		return err_set(err, "%s: the name is too long", path);
	return add_directory(files, directory, err);
}

void
config_files_clear(struct config_files *files)
{
	for (uint32_t i = 0; i < files->count; i++) {
		free(files->at[i].path);
		free(files->at[i].text);
	}
	files->count = 0;
}
