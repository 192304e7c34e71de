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
#include "proto/os/confine.h"

struct sandbox {
	struct confine confine;
	bool executes;
	char failed[PATH_MAX]; /* of the first; "": none */
	int why;               /* errno */
};

void sandbox_begin(struct sandbox *sandbox);

/* A file or a folder to read; one that is not there yet is read where it will
 * be: in the nearest folder that is there. */
void sandbox_read(struct sandbox *sandbox, const char *path);
/* A file to read that may be replaced by another, or a link to elsewhere. */
void sandbox_read_beside(struct sandbox *sandbox, const char *path);
/* A program, which then may be executed. */
void sandbox_execute(struct sandbox *sandbox, const char *path);
/* What is there, to read and write: devices. */
void sandbox_update(struct sandbox *sandbox, const char *path);
/* A folder in which all is the process's own. */
void sandbox_write(struct sandbox *sandbox, const char *path);
/* The folder of a file that is made: a socket, its lock, an output. */
void sandbox_write_beside(struct sandbox *sandbox, const char *path);

/* The same of what `option` says, or NAME of the instance: a folder that is
 * the process's own, made if it is not there; a file to read; a socket, whose
 * folder is made. */
void sandbox_write_or(
    struct sandbox *sandbox, const char *option, const char *name);
void sandbox_read_or(
    struct sandbox *sandbox, const char *option, const char *name);
void sandbox_socket_or(
    struct sandbox *sandbox, const char *option, const char *name);
/* Those of the endpoints that are sockets; without any, NAME of the instance.
 */
void sandbox_doors(struct sandbox *sandbox, const struct opt_list *endpoints,
    const char *name);

/* It may want sockets of ZeroMQ, whose library is loaded before it is closed.
 * What is wrong with that says whoever opens one. */
void sandbox_sockets(void);

/* Put it in force, or forget it.  A `service` logs what the kernel lacks. */
void sandbox_close(struct sandbox *sandbox, bool service);
void sandbox_drop(struct sandbox *sandbox);

#endif
