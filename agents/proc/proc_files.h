/*
 * proc_files - the files of /proc, kept open and read again and again.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_PROC_PROC_FILES_H
#define AGENTS_PROC_PROC_FILES_H

#include "proto/base/text.h"

enum proc_file {
	PROC_STAT,
	PROC_MEMINFO,
	PROC_LOADAVG,
	PROC_DISKSTATS,
	PROC_NETWORK,
	PROC_MOUNTS,
	PROC_OWN_MOUNTS, /* of this process, whatever the mount point */
	PROC_VMSTAT,
	PROC_SCHEDSTAT,
	PROC_PRESSURE_CPU,
	PROC_PRESSURE_MEMORY,
	PROC_PRESSURE_IO,
	PROC_BOOT,
	PROC_FILES
};

struct proc_files {
	int fd[PROC_FILES]; /* -1: does not exist */
	/* Another mount of /proc: of the host, seen from a container.  The
	 * network and the mounts are those of its process 1; what this process
	 * sees at its own paths is not the host's. */
	bool is_foreign;
	char *buffer;
	uint32_t room;
};

/* `proc` is the mount point, "/proc", or a folder of recorded files. */
void proc_files_open(struct proc_files *files, const char *proc);
void proc_files_close(struct proc_files *files);

/* The current content of the file; a view, valid until the next call.  Empty
 * if the file does not exist. */
struct text proc_files_read(struct proc_files *files, enum proc_file which);

#endif
