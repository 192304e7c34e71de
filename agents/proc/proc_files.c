/*
 * proc_files - the files of /proc, kept open and read again and again.
 * SPDX-License-Identifier: MIT
 */
#include "agents/proc/proc_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/os/log.h"

enum { ROOM_MIN = 16 << 10, ROOM_MAX = 4 << 20 };

void
proc_files_open(struct proc_files *files, const char *proc)
{
	static const char *const paths[PROC_FILES] = {
		[PROC_STAT] = "stat",
		[PROC_MEMINFO] = "meminfo",
		[PROC_LOADAVG] = "loadavg",
		[PROC_DISKSTATS] = "diskstats",
		[PROC_NETWORK] = "net/dev",
		[PROC_MOUNTS] = "self/mountinfo",
		[PROC_OWN_MOUNTS] = "/proc/self/mountinfo",
		[PROC_VMSTAT] = "vmstat",
		[PROC_SCHEDSTAT] = "schedstat",
		[PROC_PRESSURE_CPU] = "pressure/cpu",
		[PROC_PRESSURE_MEMORY] = "pressure/memory",
		[PROC_PRESSURE_IO] = "pressure/io",
		[PROC_BOOT] = "sys/kernel/random/boot_id",
	};

	char path[PATH_MAX];
	struct stat net;

	/* There "net" and "self" are links to what the reader has. */
	snprintf(path, sizeof(path), "%s/net", proc);
	files->is_foreign = strcmp(proc, "/proc") != 0 &&
			    lstat(path, &net) == 0 && S_ISLNK(net.st_mode);
	for (int i = 0; i < PROC_FILES; i++) {
		const char *file = paths[i];

		if (files->is_foreign && i == PROC_NETWORK)
			file = "1/net/dev";
		if (files->is_foreign && i == PROC_MOUNTS)
			file = "1/mountinfo";
		snprintf(path, sizeof(path), "%s%s%s", *file == '/' ? "" : proc,
		    *file == '/' ? "" : "/", file);
		files->fd[i] = open(path, O_RDONLY | O_CLOEXEC);
		if (files->fd[i] < 0)
			log_info(
			    "no samples from %s: %s", path, strerror(errno));
	}
	files->room = ROOM_MIN;
	files->buffer = memory_alloc(files->room);
}

void
proc_files_close(struct proc_files *files)
{
	for (int i = 0; i < PROC_FILES; i++)
		if (files->fd[i] >= 0)
			close(files->fd[i]);
	free(files->buffer);
	files->buffer = NULL;
}

static void
grow(struct proc_files *files)
{
	files->room *= 2;
	files->buffer = memory_resize(files->buffer, files->room);
}

struct text
proc_files_read(struct proc_files *files, enum proc_file which)
{
	uint32_t used = 0;

	while (files->fd[which] >= 0) {
		ssize_t n;

		if (used == files->room && files->room < ROOM_MAX)
			grow(files);
		n = pread(files->fd[which], files->buffer + used,
		    files->room - used, used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		used += (uint32_t)n;
	}
	return (struct text){ files->buffer, used };
}
