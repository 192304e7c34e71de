/*
 * proc_files - the files of /proc, kept open and read again and again.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_PROC_PROC_FILES_H
#define AGENTS_PROC_PROC_FILES_H

#include "proto/base/text.h"

enum host_file {
	HOST_STAT,
	HOST_MEMINFO,
	HOST_LOADAVG,
	HOST_DISKSTATS,
	HOST_NETWORK,
	HOST_MOUNTS,
	HOST_VMSTAT,
	HOST_SCHEDSTAT,
	HOST_PRESSURE_CPU,
	HOST_PRESSURE_MEMORY,
	HOST_PRESSURE_IO,
	HOST_BOOT,
	HOST_FILES
};

struct host_files {
	int fd[HOST_FILES]; /* -1: not there */
	char *buffer;
	uint32_t room;
};

/* `proc` is where it is mounted: "/proc". */
void host_files_open(struct host_files *files, const char *proc);
void host_files_close(struct host_files *files);

/* The whole file as it is now; a view, valid until the next call.  Empty when
 * it is not there. */
struct text host_files_read(struct host_files *files, enum host_file which);

#endif
