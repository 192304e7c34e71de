/*
 * lockdown - what a process gives up for itself, before it meets the world.
 *
 * None of it can be taken back; children inherit it.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_LOCKDOWN_H
#define PROTO_OS_LOCKDOWN_H

#include <stdbool.h>

/* No core file, no /proc/PID/mem and no debugger of the same user: what is in
 * memory stays there. */
void lockdown_memory(void);

/*
 * Files that may be used from here on (Landlock), and no others.  Begun, filled
 * and put in force by one thread, between fork and exec, too: nothing here
 * allocates.  `fd` is -1 where the kernel has no Landlock; then all of it does
 * nothing and succeeds, because it is the second line of defence.  It holds
 * for the calling thread and those that it makes from then on.
 */
struct lockdown {
	int fd;
	int abi; /* what the kernel knows of it */
	unsigned long long handled;
};

enum lockdown_kind {
	LOCKDOWN_ALONE,   /* no network either, nor sockets without a path */
	LOCKDOWN_SERVICE, /* files, and signals to others */
};

enum lockdown_use {
	LOCKDOWN_READ,    /* files and folders beneath */
	LOCKDOWN_EXECUTE, /* read, and execute */
	LOCKDOWN_UPDATE,  /* read, and write what is there: devices, too */
	LOCKDOWN_WRITE,   /* read, make, write, move and remove */
};

/* 0, or -1 with errno. */
int lockdown_begin(struct lockdown *lockdown, enum lockdown_kind kind);
/* A path that is not there is no error. */
int lockdown_allow(
    const struct lockdown *lockdown, const char *path, enum lockdown_use use);
/* Libraries, those of $LD_LIBRARY_PATH too, and what libc needs: to read. */
int lockdown_allow_system(const struct lockdown *lockdown);
/* Closes `lockdown`, in any case. */
int lockdown_enforce(struct lockdown *lockdown);

/* System calls that no program of ours makes fail with EPERM from here on, for
 * this thread and those that it makes (seccomp): memory of other processes,
 * links and devices, mounts, name spaces, modules and keys of the kernel,
 * clocks; and, unless `may_execute`, to become another program or user.  -1
 * with errno: ENOSYS where it cannot be. */
int lockdown_calls(bool may_execute);

#endif
