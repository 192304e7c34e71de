/*
 * socket_file - who may use the Unix sockets that this process listens on.
 *
 * The file of a socket has mode 0600: this user and root.  --socket-group of a
 * daemon (proto/service/service.h) names a group that may use them too: then it
 * has mode 0660.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_OWNER_SOCKET_FILE_H
#define PROTO_OS_OWNER_SOCKET_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "proto/base/err.h"

/* Name the group, or its number.  Call it once, before threads and the
 * sandbox. */
int socket_file_set_group(const char *group, struct err *err);

/* Around bind: nobody connects before the mode is right.  `for_group`: members
 * of the group may use this socket, if there is a group. */
mode_t socket_file_begin(bool for_group);
/* The mask is as before.  -1: the file cannot be given to the group. */
int socket_file_end(
    mode_t mask, bool for_group, const char *path, struct err *err);

#endif
