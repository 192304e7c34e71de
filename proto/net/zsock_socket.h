/*
 * zsock_socket - a libzmq socket with poolscope's profile; only zsock.c uses
 * it.
 *
 * Here are the context of the process and the monitor that says who is
 * connected; the socket's options are in zsock_profile.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_ZSOCK_SOCKET_H
#define PROTO_NET_ZSOCK_SOCKET_H

#include <stdbool.h>

#include "proto/base/err.h"
#include "proto/keys/keyfile.h"
#include "proto/net/accept_rate.h"
#include "proto/net/connection_limit.h"
#include "proto/net/zsock.h"

/* What libzmq says when it asks who comes in (RFC 27). */
#define PORT_DOMAIN_KEYS  "poolscope"
#define PORT_DOMAIN_LOCAL "local"

struct port_socket {
	void *zmq;   /* ROUTER or DEALER */
	void *watch; /* PAIR: the monitor's events */
	int fd, watch_fd;
	enum port_kind kind;
	struct guard guard; /* of a door */
	struct turnstile turnstile;
	bool watch_left; /* there may be more events */
	bool asks;       /* a door: who comes in is asked of the gate */
	/* Of a line with keys. */
	unsigned char shown[PORT_KEY_BYTES]; /* our public key */
	uint32_t server;   /* which of the server's keys is tried */
	uint32_t failures; /* of the handshake since it last succeeded */
	enum port_trouble trouble; /* of the last handshake */
};

/* The context of the process, for as long as it is held. */
void *port_context_hold(struct err *err);
void port_context_drop(void);

/* Make the socket with everything of the profile that does not depend on the
 * endpoint.  Makes the context when it is the first. */
int port_socket_open(struct port_socket *socket,
    const struct port_options *options, struct err *err);
/* Ends the context when it was the last. */
void port_socket_close(struct port_socket *socket);

/* How long what was sent may still leave after the close. */
void port_socket_linger(struct port_socket *socket, int limit_ms);

/* Set what depends on the endpoint, keys among it; before each bind and
 * connect. */
int port_socket_prepare(struct port_socket *socket,
    const struct port_options *options, const char *endpoint, struct err *err);

/* Can it send / receive now?  (ZMQ_POLLIN | ZMQ_POLLOUT) */
int port_socket_events(const struct port_socket *socket);

/* Take in the monitor's events; true when counters->peers changed, or a line's
 * handshake failed. */
bool port_socket_watch(
    struct port_socket *socket, struct port_counters *counters);

/* One frame; -1 with errno EAGAIN (no room) or EHOSTUNREACH (no such peer).
 * The first of several finds out whether there is room. */
enum port_socket_part { PORT_SOCKET_FIRST, PORT_SOCKET_MORE, PORT_SOCKET_LAST };
int port_socket_send(const struct port_socket *socket, const void *at,
    size_t bytes, enum port_socket_part part);

#endif
