/*
 * notify - reports the state of the service to the supervisor: datagrams of
 * "NAME=value" lines to the socket that $NOTIFY_SOCKET names, as in
 * sd_notify(3).
 *
 * A service started by hand has no such socket and reports nothing.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_SERVICE_NOTIFY_H
#define PROTO_SERVICE_NOTIFY_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "proto/base/err.h"

struct notify {
	int fd; /* -1: no supervisor */
	struct sockaddr_un to;
	socklen_t to_bytes;
	/* Longest interval between reports; 0: no watchdog. */
	int64_t watchdog_ns;
};

/* Read NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and remove them from the
 * environment, because child processes must not see them.  -1 when a value is
 * invalid; `notify` then reports to nobody. */
int notify_open(struct notify *notify, struct err *err);
void notify_close(struct notify *notify);

/* Send `lines`, such as "READY=1\nSTATUS=words".  Waits at most a second for a
 * supervisor that does not read; after that the report is lost. */
void notify_send(const struct notify *notify, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
