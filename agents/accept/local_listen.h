/*
 * local_listen - binds the Unix socket of the local listener.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_LOCAL_LISTEN_H
#define AGENTS_ACCEPT_LOCAL_LISTEN_H

#include "proto/base/err.h"
#include "proto/os/lockfile.h"

/* A listening SOCK_SEQPACKET at `path` (proto/os/owner/socket_file.h),
 * protected by PATH.lock, in a directory that only this user can write: an
 * existing socket at `path` is a leftover and is removed.  -1 when another
 * process has the lock; after any failure nothing is open. */
int local_listen(
    int *fd, struct lockfile *lockfile, const char *path, struct err *err);
/* The same again, while the lock is held. */
int local_listen_bind(int *fd, const char *path, struct err *err);

#endif
