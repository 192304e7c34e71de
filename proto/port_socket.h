/*
 * port_socket - a libzmq socket with poolscope's profile; only port.c uses it.
 *
 * Here are the context of the process, every socket option, and the monitor
 * that says who is connected.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_PORT_SOCKET_H
#define PROTO_PORT_SOCKET_H

#include <stdbool.h>

#include "proto/err.h"
#include "proto/guard.h"
#include "proto/port.h"

struct port_socket {
	void *zmq;   /* ROUTER or DEALER */
	void *watch; /* PAIR: the monitor's events */
	int fd, watch_fd;
	enum port_kind kind;
	struct guard guard; /* of a door */
	bool watch_left;    /* there may be more events */
};

/* Make the socket with everything of the profile that does not depend on the
 * endpoint.  Makes the context when it is the first. */
int port_socket_open(struct port_socket *socket,
    const struct port_options *options, struct err *err);
/* Ends the context when it was the last. */
void port_socket_close(struct port_socket *socket);

/* How long what was sent may still leave after the close. */
void port_socket_linger(struct port_socket *socket, int limit_ms);

/* Set what depends on the endpoint; before each bind and connect. */
int port_socket_prepare(
    struct port_socket *socket, const char *endpoint, struct err *err);

/* Can it send / receive now?  (ZMQ_POLLIN | ZMQ_POLLOUT) */
int port_socket_events(const struct port_socket *socket);

/* Take in the monitor's events, not without end; true when counters->peers
 * changed. */
bool port_socket_watch(
    struct port_socket *socket, struct port_counters *counters);

/* One frame; -1 with errno EAGAIN (no room) or EHOSTUNREACH (no such peer).
 * The first of several finds out whether there is room. */
enum port_socket_part { PORT_SOCKET_FIRST, PORT_SOCKET_MORE, PORT_SOCKET_LAST };
int port_socket_send(const struct port_socket *socket, const void *at,
    size_t bytes, enum port_socket_part part);

#endif
