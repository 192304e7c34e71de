/*
 * lockdown - what a process gives up for itself, before it meets the world.
 *
 * None of it can be taken back; children inherit it.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_LOCKDOWN_H
#define PROTO_LOCKDOWN_H

/* No core file, no /proc/PID/mem and no debugger of the same user: what is in
 * memory stays there. */
void lockdown_memory(void);

/*
 * Files that may be used from here on (Landlock), and no others.  Begun, filled
 * and put in force by one thread, between fork and exec, too: nothing here
 * allocates.  `fd` is -1 where the kernel has no Landlock; then all of it does
 * nothing and succeeds, because it is the second line of defence.
 */
struct lockdown {
	int fd;
	unsigned long long handled;
};

enum lockdown_use {
	LOCKDOWN_READ,    /* files and folders beneath */
	LOCKDOWN_EXECUTE, /* read, and execute */
	LOCKDOWN_WRITE,   /* read, make, write and remove */
};

/* 0, or -1 with errno. */
int lockdown_begin(struct lockdown *lockdown);
/* A path that is not there is no error. */
int lockdown_allow(
    const struct lockdown *lockdown, const char *path, enum lockdown_use use);
/* Closes `lockdown`, in any case. */
int lockdown_enforce(struct lockdown *lockdown);

#endif
