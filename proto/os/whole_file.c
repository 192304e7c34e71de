/*
 * whole_file - write small files completely or not at all.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "proto/os/file_io.h"

/* Closes `fd`.  0, or -1 and errno. */
static int
fill(int fd, const struct whole_file *file, const void *at, uint32_t bytes)
{
	int wrong = 0;

	if ((file->for_group && fchmod(fd, 0640) != 0) ||
	    (file->owner != NULL &&
		fchown(fd, file->owner->st_uid, file->owner->st_gid) != 0) ||
	    file_io_write_all(fd, at, bytes, 0) != 0 || fsync(fd) != 0)
		wrong = errno;
	if (close(fd) != 0 && wrong == 0)
		wrong = errno;
	errno = wrong;
	return wrong == 0 ? 0 : -1;
}

static int
give_name(const struct whole_file *file, const char *temporary)
{
	if (!file->is_new)
		return rename(temporary, file->path);
	if (link(temporary, file->path) != 0)
		return -1;
	unlink(temporary);
	return 0;
}

int
whole_file_write(const struct whole_file *file, const void *at, uint32_t bytes)
{
	const char *temporary = file->temporary;
	mode_t mode = file->mode != 0 ? file->mode : 0600;
	int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
	char default_name[PATH_MAX];
	int fd, wrong;

	if (temporary == NULL) {
		if (snprintf(default_name, sizeof(default_name), "%s.new",
			file->path) >= (int)sizeof(default_name)) {
			errno = ENAMETOOLONG;
			return -1;
		}
		temporary = default_name;
		flags |= O_TRUNC;
	} else {
		flags |= O_EXCL;
	}
	fd = open(temporary, flags, mode);
	if (fd < 0)
		return -1;
	if (fill(fd, file, at, bytes) != 0 || give_name(file, temporary) != 0) {
		wrong = errno;
		unlink(temporary);
		errno = wrong;
		return -1;
	}
	return file_io_sync_parent(file->path) == 0 ? 0 : WHOLE_FILE_UNSYNCED;
}
