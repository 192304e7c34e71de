/*
 * sandbox - restricts a process to the files and system calls that it needs.
 *
 * After reading its options and before reading a byte of input, the process
 * declares the files that it needs for the rest of its life.  From then on it
 * can open no others (Landlock), execute only the programs that it has
 * declared, and make no system calls that it does not need (seccomp).  This
 * holds for root, too.  If the kernel lacks support, one log line says so and
 * the process runs without.
 *
 * Libraries, /etc, /proc, the instance and the configuration (which may be
 * read again) stay readable.  The files of other processes under /proc are
 * not.
 *
 * Call it before any thread starts.  A path that is NULL or empty declares
 * nothing.
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
	char failed[PATH_MAX]; /* path of the first failure; "": none */
	int why;               /* errno */
};

void sandbox_begin(struct sandbox *sandbox);

/* A file or folder to read.  If it does not exist yet, the nearest existing
 * parent folder is opened instead. */
void sandbox_read(struct sandbox *sandbox, const char *path);
/* A file to read that may be replaced, or is a symbolic link: allows its folder
 * and that of its target. */
void sandbox_read_folder_of(struct sandbox *sandbox, const char *path);
/* A program to execute. */
void sandbox_execute(struct sandbox *sandbox, const char *path);
/* An existing file to read and write: devices. */
void sandbox_update(struct sandbox *sandbox, const char *path);
/* A folder that belongs to the process completely. */
void sandbox_write(struct sandbox *sandbox, const char *path);
/* The folder of a file that is created: a socket, its lock, an output. */
void sandbox_write_parent(struct sandbox *sandbox, const char *path);

/* For the value of an option, or for NAME in the instance if the option is
 * NULL: a folder of the process, created if needed; a file to read that may be
 * replaced; a socket, whose folder in the instance is created. */
void sandbox_write_or(
    struct sandbox *sandbox, const char *option, const char *name);
void sandbox_read_or(
    struct sandbox *sandbox, const char *option, const char *name);
void sandbox_socket_or(
    struct sandbox *sandbox, const char *option, const char *name);
/* The endpoints that are Unix sockets; without any, NAME in the instance. */
void sandbox_listeners(struct sandbox *sandbox,
    const struct opt_list *endpoints, const char *name);

/* The process may open ZeroMQ sockets: load the library while that is possible.
 * If it fails, the code that opens a socket reports it. */
void sandbox_sockets(void);

/* Enforce the sandbox, or discard it.  A `service` logs what the kernel
 * lacks. */
void sandbox_close(struct sandbox *sandbox, bool service);
void sandbox_drop(struct sandbox *sandbox);

#endif
