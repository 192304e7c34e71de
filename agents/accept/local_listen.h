/*
 * local_listen - binds a Unix socket that programs of this host submit to.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_LOCAL_LISTEN_H
#define AGENTS_ACCEPT_LOCAL_LISTEN_H

#include "proto/base/err.h"
#include "proto/os/lockfile.h"

/* A socket of this type at `path`; a SOCK_SEQPACKET listens
 * (proto/os/owner/socket_file.h), protected by PATH.lock, in a directory that
 * only this user can write: an existing socket at `path` is a leftover and is
 * removed.  -1 when another process has the lock; after any failure nothing is
 * open. */
int local_listen(int *fd, struct lockfile *lockfile, const char *path, int type,
    struct err *err);
/* The same again, while the lock is held. */
int local_listen_bind(int *fd, const char *path, int type, struct err *err);

#endif
