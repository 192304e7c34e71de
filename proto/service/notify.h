/*
 * notify - tells the supervisor how the service is: datagrams of "NAME=value"
 * lines to the socket that $NOTIFY_SOCKET names, as in sd_notify(3).
 *
 * Started by hand there is no such socket, and nothing is reported.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_SERVICE_NOTIFY_H
#define PROTO_SERVICE_NOTIFY_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "proto/base/err.h"

struct notify {
	int fd; /* -1: nobody to tell */
	struct sockaddr_un to;
	socklen_t to_bytes;
	int64_t watchdog_ns; /* to be reported so often at least; 0: never */
};

/* Take NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID off the environment: they
 * are not for the programs that this one starts.  -1 when one of them is
 * nothing that a supervisor would say; then `notify` tells nobody. */
int notify_open(struct notify *notify, struct err *err);
void notify_close(struct notify *notify);

/* Tell `lines`, "READY=1\nSTATUS=words".  Waits a second at most for a
 * supervisor that does not read; what it does not take is lost. */
void notify_tell(const struct notify *notify, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
