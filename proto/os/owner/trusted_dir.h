/*
 * trusted_dir - directories in which nobody but their owner (and root) can put
 * files.
 *
 * Whoever can write in a directory can take the place of a socket, a lock or a
 * store in it while its program is down.  SECURITY.md, "Directories", says who
 * may do what; programs check it before they use one.  Every error has the
 * remedy.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_OWNER_TRUSTED_DIR_H
#define PROTO_OS_OWNER_TRUSTED_DIR_H

#include <sys/types.h>

#include "proto/base/err.h"

/* Before files are made in it: does `dir` belong to this user, and can nobody
 * else write it? */
int trusted_dir_own(const char *dir, struct err *err);
/* The same of the directory of a file. */
int trusted_dir_own_parent(const char *file, struct err *err);

/* Before connecting to a Unix socket: can nobody but the owner of its directory
 * listen there?  0 also where nobody can listen yet. */
int trusted_dir_socket(const char *socket, struct err *err);
/* After connecting, if the kernel says who listens: is `fd`'s peer root, this
 * user or the owner of the directory? */
int trusted_dir_peer(const char *socket, int fd, struct err *err);

#endif
