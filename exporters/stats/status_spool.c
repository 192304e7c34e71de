/*
 * status_spool - what the files of an agent's spool say to whoever may read
 * them.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stats/status_spool.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "proto/os/clock.h"

static int64_t
written_ns(const struct stat *file)
{
	return file->st_mtim.tv_sec * (int64_t)NS_PER_SECOND +
	       file->st_mtim.tv_nsec;
}

static bool
is_segment(const char *name)
{
	const char *end = strrchr(name, '.');

	return end != NULL && strcmp(end, ".seg") == 0;
}

bool
status_spool_read(struct status_spool *spool, const char *path)
{
	DIR *dir = opendir(path);
	int64_t newest_ns = 0, acked_ns = 0;
	const struct dirent *entry;
	struct stat file;

	*spool = (struct status_spool){ 0 };
	if (dir == NULL)
		return false;
	/* A segment that the agent deletes meanwhile does not count. */
	while ((entry = readdir(dir)) != NULL) {
		if (fstatat(dirfd(dir), entry->d_name, &file,
			AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(file.st_mode))
			continue;
		if (strcmp(entry->d_name, "ACKED") == 0) {
			acked_ns = written_ns(&file);
		} else if (is_segment(entry->d_name)) {
			spool->bytes += file.st_size;
			if (newest_ns < written_ns(&file))
				newest_ns = written_ns(&file);
		}
	}
	closedir(dir);
	if (acked_ns != 0 && newest_ns > acked_ns)
		spool->unacked_ns = newest_ns - acked_ns;
	return true;
}
