/*
 * confine - gives up rights of the process: files and system calls.
 *
 * None of it can be undone; children inherit it.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_CONFINE_H
#define PROTO_OS_CONFINE_H

#include <stdbool.h>

/* No core file, no /proc/PID/mem, and no debugger of the same user. */
void confine_memory(void);

/*
 * A list of the files that may be used from confine_enforce on, and no others
 * (Landlock).  It restricts the calling thread and the threads that it starts
 * later.  One thread makes all the calls; it may do so between fork and exec,
 * because they do not allocate.  Where the kernel has no Landlock, `fd` is -1
 * and every function succeeds without effect: this is the second line of
 * defence.
 */
struct confine {
	int fd;
	int abi; /* ABI version of the kernel */
	unsigned long long handled;
};

/* What is restricted apart from files. */
enum confine_kind {
	CONFINE_ALONE,   /* TCP, abstract sockets, signals to other processes */
	CONFINE_SERVICE, /* signals to other processes */
};

enum confine_use {
	CONFINE_READ,    /* files, and folders with their content */
	CONFINE_EXECUTE, /* read and execute */
	CONFINE_UPDATE,  /* read and write existing files, including devices */
	CONFINE_WRITE,   /* read, create, write, move and remove */
};

/* 0, or -1 with errno. */
int confine_begin(struct confine *confine, enum confine_kind kind);
/* A path that does not exist is no error. */
int confine_allow(
    const struct confine *confine, const char *path, enum confine_use use);
/* Allow reading of libraries, including those of $LD_LIBRARY_PATH, and of the
 * files that libc needs. */
int confine_allow_system(const struct confine *confine);
/* Closes `confine` in any case. */
int confine_enforce(struct confine *confine);

/* From here on, system calls that no program of ours makes fail with EPERM for
 * this thread and the threads that it starts (seccomp): memory of other
 * processes, links and devices, mounts, name spaces, kernel modules and keys,
 * clocks; and, unless `may_execute`, executing another program or changing the
 * user.  -1 with errno: ENOSYS where the kernel has no seccomp. */
int confine_calls(bool may_execute);

#endif
