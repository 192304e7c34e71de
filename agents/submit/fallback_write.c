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

/* 0: yes, 1: no, -1: unknown. */
static int
has_room(const char *path, uint64_t free_bytes, struct err *err)
{
	DIR *listing = opendir(path);
	struct statvfs fs;
	int files = -2; /* "." and ".." */

	if (listing == NULL || statvfs(path, &fs) != 0) {
		err_set(err, "%s: %s", path, strerror(errno));
		if (listing != NULL)
			closedir(listing);
		return -1;
	}
	while (readdir(listing) != NULL)
		files++;
	closedir(listing);
	if (files >= FALLBACK_QUEUE_FILES_MAX) {
		err_set(err,
		    "%s: %d files wait there already, the maximum; start an "
		    "agent, which reads them",
		    path, files);
		return 1;
	}
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
fallback_queue_leave(const char *dir, const unsigned char uuid[RECORD_ID_BYTES],
    struct text frame, uint64_t free_bytes, struct err *err)
{
	char name[33], tmp[INSTANCE_PATH_BYTES], new[INSTANCE_PATH_BYTES];
	char parent[INSTANCE_PATH_BYTES];
	struct session_id id;
	int rc;

	memcpy(id.bytes, uuid, sizeof(id.bytes));
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
