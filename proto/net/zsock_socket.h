/*
 * zsock_socket - a libzmq socket with poolscope's profile; only zsock.c uses
 * it.
 *
 * It holds the context of the process, the monitor that reports connections,
 * and sets the options: limits, signs of life, keys.
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

/* The domains in libzmq's authentication requests (RFC 27). */
#define ZSOCK_DOMAIN_KEYS  "poolscope"
#define ZSOCK_DOMAIN_LOCAL "local"

struct zsock_socket {
	void *zmq;   /* ROUTER or DEALER */
	void *watch; /* PAIR: the monitor's events */
	int fd, watch_fd;
	enum zsock_kind kind;
	struct connection_limit connection_limit; /* of a listener */
	struct accept_rate accept_rate;
	bool watch_left; /* the monitor may have more events */
	bool uses_zap;   /* a listener that has had keys */
	/* Of a connection with keys. */
	unsigned char public_key[ZSOCK_KEY_BYTES]; /* ours, in use */
	uint32_t server;   /* index of the server key in use */
	uint32_t failures; /* failed handshakes since the last success */
	enum zsock_trouble trouble; /* of the last handshake */
	/* Of a connection: has it ever reached anybody, has an attempt failed?
	 */
	bool reached, failed;
};

/* The context of the process: made for the first holder, ended after the
 * last. */
void *zsock_context_hold(struct err *err);
void zsock_context_drop(void);

/* Make the socket and set all options that do not depend on the endpoint. */
int zsock_socket_open(struct zsock_socket *socket,
    const struct zsock_options *options, struct err *err);
void zsock_socket_close(struct zsock_socket *socket);

/* How long sent messages may take to leave after the close. */
void zsock_socket_linger(struct zsock_socket *socket, int limit_ms);

/* Set the options that depend on the endpoint, including keys; before each
 * bind and connect. */
int zsock_socket_prepare(struct zsock_socket *socket,
    const struct zsock_options *options, const char *endpoint, struct err *err);

/* Can it send / receive now?  (ZMQ_POLLIN | ZMQ_POLLOUT) */
int zsock_socket_events(const struct zsock_socket *socket);

/* Process the monitor's events; true when counters->peers changed, or a
 * handshake or the first attempt to connect failed. */
bool zsock_socket_watch(
    struct zsock_socket *socket, struct zsock_counters *counters);

/* Send one frame; -1 with errno EAGAIN (no room) or EHOSTUNREACH (no such
 * peer).  Only the first frame of a message can find that there is no room. */
enum zsock_socket_part {
	ZSOCK_SOCKET_FIRST,
	ZSOCK_SOCKET_MORE,
	ZSOCK_SOCKET_LAST
};
int zsock_socket_send(const struct zsock_socket *socket, const void *at,
    size_t bytes, enum zsock_socket_part part);

#endif
