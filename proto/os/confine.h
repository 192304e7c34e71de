/*
 * confine - what a process gives up for itself, before it meets the world.
 *
 * None of it can be taken back; children inherit it.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_CONFINE_H
#define PROTO_OS_CONFINE_H

#include <stdbool.h>

/* No core file, no /proc/PID/mem and no debugger of the same user: what is in
 * memory stays there. */
void confine_memory(void);

/*
 * Files that may be used from here on (Landlock), and no others.  Begun, filled
 * and put in force by one thread, between fork and exec, too: nothing here
 * allocates.  `fd` is -1 where the kernel has no Landlock; then all of it does
 * nothing and succeeds, because it is the second line of defence.  It holds
 * for the calling thread and those that it makes from then on.
 */
struct confine {
	int fd;
	int abi; /* what the kernel knows of it */
	unsigned long long handled;
};

enum confine_kind {
	CONFINE_ALONE,   /* no network either, nor sockets without a path */
	CONFINE_SERVICE, /* files, and signals to others */
};

enum confine_use {
	CONFINE_READ,    /* files and folders beneath */
	CONFINE_EXECUTE, /* read, and execute */
	CONFINE_UPDATE,  /* read, and write what is there: devices, too */
	CONFINE_WRITE,   /* read, make, write, move and remove */
};

/* 0, or -1 with errno. */
int confine_begin(struct confine *confine, enum confine_kind kind);
/* A path that is not there is no error. */
int confine_allow(
    const struct confine *confine, const char *path, enum confine_use use);
/* Libraries, those of $LD_LIBRARY_PATH too, and what libc needs: to read. */
int confine_allow_system(const struct confine *confine);
/* Closes `confine`, in any case. */
int confine_enforce(struct confine *confine);

/* System calls that no program of ours makes fail with EPERM from here on, for
 * this thread and those that it makes (seccomp): memory of other processes,
 * links and devices, mounts, name spaces, modules and keys of the kernel,
 * clocks; and, unless `may_execute`, to become another program or user.  -1
 * with errno: ENOSYS where it cannot be. */
int confine_calls(bool may_execute);

#endif
