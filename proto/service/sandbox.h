/*
 * sandbox - a process keeps itself from all but what it needs.
 *
 * Once options are read and before a byte of others is taken it says which
 * files it will need for as long as it lives; all others are closed to it
 * (Landlock), so are system calls that it never makes (seccomp), and no program
 * can be executed that it has not named.  Root's processes, too.  What a kernel
 * does not know it does not do, which is said once and is no failure.
 *
 * Always open to read are libraries, /etc, /proc, the instance and the
 * configuration, which may be read again.  What /proc shows of the files of
 * other processes is not.
 *
 * Before any thread is made.  A path that is NULL or empty says nothing.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_SERVICE_SANDBOX_H
#define PROTO_SERVICE_SANDBOX_H

#include <limits.h>
#include <stdbool.h>

#include "proto/config/opt.h"
#include "proto/os/lockdown.h"

struct fence {
	struct lockdown lockdown;
	bool executes;
	char failed[PATH_MAX]; /* of the first; "": none */
	int why;               /* errno */
};

void fence_begin(struct fence *fence);

/* A file or a folder to read; one that is not there yet is read where it will
 * be: in the nearest folder that is there. */
void fence_read(struct fence *fence, const char *path);
/* A file to read that may be replaced by another, or a link to elsewhere. */
void fence_read_beside(struct fence *fence, const char *path);
/* A program, which then may be executed. */
void fence_execute(struct fence *fence, const char *path);
/* What is there, to read and write: devices. */
void fence_update(struct fence *fence, const char *path);
/* A folder in which all is the process's own. */
void fence_write(struct fence *fence, const char *path);
/* The folder of a file that is made: a socket, its lock, an output. */
void fence_write_beside(struct fence *fence, const char *path);

/* The same of what `option` says, or NAME of the instance: a folder that is
 * the process's own, made if it is not there; a file to read; a socket, whose
 * folder is made. */
void fence_write_or(struct fence *fence, const char *option, const char *name);
void fence_read_or(struct fence *fence, const char *option, const char *name);
void fence_socket_or(struct fence *fence, const char *option, const char *name);
/* Those of the endpoints that are sockets; without any, NAME of the instance.
 */
void fence_doors(
    struct fence *fence, const struct opt_list *endpoints, const char *name);

/* Put it in force, or forget it.  A `service` logs what the kernel lacks. */
void fence_close(struct fence *fence, bool service);
void fence_drop(struct fence *fence);

#endif
