/*
 * zsock - a ZeroMQ socket with every option set in one place.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/zsock_private.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <zmq.h>

#include "proto/keys/keyfile.h"
#include "proto/os/clock.h"

enum {
	GUARD_FRAME_BYTES = 4096, /* of routing frames and encryption */
	KEYLESS_FAILURES = 3,
};

/* Until libzmq has let go of an address. */
#define REBIND_NS     NS_PER_SECOND
#define REBIND_NAP_NS (NS_PER_SECOND / 1000)

int
port_open(
    struct port **port, const struct port_options *options, struct err *err)
{
	struct port *new = calloc(1, sizeof(*new));

	if (new == NULL)
		abort();
	new->options = *options;
	if (port_socket_open(&new->socket, options, err) != 0) {
		free(new);
		return -1;
	}
	*port = new;
	return 0;
}

void
port_close(struct port **port)
{
	struct port *old = *port;
	uint32_t i;

	if (old == NULL)
		return;
	port_socket_close(&old->socket);
	for (i = 0; i < old->doors; i++)
		endpoint_release(&old->door[i].claim);
	free(old);
	*port = NULL;
}

void
port_finish(struct port **port, int64_t limit_ns)
{
	if (*port != NULL)
		port_socket_linger(&(*port)->socket, (int)(limit_ns / 1000000));
	port_close(port);
}

/* ---- endpoints ---- */

static void
keep_endpoint(struct port *port)
{
	size_t bytes = sizeof(port->endpoint);

	if (zmq_getsockopt(port->socket.zmq, ZMQ_LAST_ENDPOINT, port->endpoint,
		&bytes) != 0)
		port->endpoint[0] = '\0';
}

static int
bind_tcp(struct port *port, struct err *err)
{
	char endpoint[PORT_ENDPOINT_BYTES_MAX];

	if (endpoint_bindable(endpoint, port->endpoint, err) != 0)
		return -1;
	if (port->options.server_secret == NULL && !port->options.insecure)
		return err_set(err,
		    "%s is open to others: it needs keys or --insecure",
		    endpoint);
	if (zmq_bind(port->socket.zmq, endpoint) != 0)
		return err_set(err, "%s: %s", endpoint, zmq_strerror(errno));
	return 0;
}

static int
bind_ipc(struct port *port, const char *path, struct err *err)
{
	struct endpoint_claim *claim = &port->door[port->doors].claim;
	mode_t mask;
	int rc;

	if (endpoint_claim(claim, path, err) != 0)
		return -1;
	mask = umask(0117);
	rc = zmq_bind(port->socket.zmq, port->endpoint);
	umask(mask);
	if (rc != 0) {
		err_set(err, "ipc://%s: %s", path, zmq_strerror(errno));
		endpoint_release(claim);
	}
	return rc;
}

int
port_bind(struct port *port, const char *endpoint, struct err *err)
{
	const char *path;
	int rc;

	assert(port->options.kind == PORT_DOOR);
	if (endpoint_check(endpoint, err) != 0)
		return -1;
	if (port->doors == PORT_BINDS_MAX)
		return err_set(
		    err, "more than %d endpoints to listen on", PORT_BINDS_MAX);
	if (port_socket_prepare(&port->socket, &port->options, endpoint, err) !=
	    0)
		return -1;
	snprintf(port->endpoint, sizeof(port->endpoint), "%s", endpoint);
	path = endpoint_path(endpoint);
	rc = path != NULL ? bind_ipc(port, path, err) : bind_tcp(port, err);
	if (rc != 0)
		return -1;
	keep_endpoint(port);
	memcpy(port->door[port->doors].endpoint, port->endpoint,
	    sizeof(port->endpoint));
	port->doors++;
	return 0;
}

int
port_connect(struct port *port, const char *endpoint, struct err *err)
{
	assert(port->options.kind == PORT_LINE);
	if (endpoint_check(endpoint, err) != 0)
		return -1;
	if (endpoint_path(endpoint) == NULL && port->options.key == NULL &&
	    !port->options.insecure)
		return err_set(err, "%s needs a key or --insecure", endpoint);
	if (port_socket_prepare(&port->socket, &port->options, endpoint, err) !=
	    0)
		return -1;
	snprintf(port->endpoint, sizeof(port->endpoint), "%s", endpoint);
	if (zmq_connect(port->socket.zmq, port->endpoint) != 0)
		return err_set(err, "%s: %s", endpoint, zmq_strerror(errno));
	return 0;
}

static uint32_t
servers_of(const struct port *port)
{
	return port->options.key == NULL ? 0 : port->options.key->servers;
}

int
port_move(struct port *port, const char *endpoint, struct err *err)
{
	struct port_socket *socket = &port->socket;

	assert(port->options.kind == PORT_LINE);
	if (endpoint_check(endpoint, err) != 0)
		return -1;
	if (zmq_disconnect(socket->zmq, port->endpoint) != 0 && errno != ENOENT)
		return err_set(
		    err, "%s: %s", port->endpoint, zmq_strerror(errno));
	port->counters.peers = 0;
	if (socket->trouble != PORT_FINE && servers_of(port) > 1)
		socket->server = (socket->server + 1) % servers_of(port);
	if (socket->server >= servers_of(port))
		socket->server = 0;  /* the file was read again */
	socket->trouble = PORT_FINE; /* of this attempt nothing is known */
	return port_connect(port, endpoint, err);
}

int
port_reconnect(struct port *port, struct err *err)
{
	char endpoint[PORT_ENDPOINT_BYTES_MAX];

	memcpy(endpoint, port->endpoint, sizeof(endpoint));
	return port_move(port, endpoint, err);
}

/* ---- keys ---- */

bool
port_has_other_key(const struct port *port)
{
	const struct keyfile *key = port->options.key;

	return key != NULL && endpoint_path(port->endpoint) == NULL &&
	       memcmp(key->public, port->socket.shown, PORT_KEY_BYTES) != 0;
}

int
port_show_key(struct port *port, struct err *err)
{
	port->socket.server = port->socket.failures = 0;
	port->socket.trouble = PORT_FINE;
	return port_reconnect(port, err);
}

static int
bind_again(struct port *port, const char *endpoint, struct err *err)
{
	int64_t until_ns = clock_monotonic_ns() + REBIND_NS;
	const struct timespec nap = { .tv_nsec = REBIND_NAP_NS };

	if (zmq_unbind(port->socket.zmq, endpoint) != 0 && errno != ENOENT)
		return err_set(err, "%s: %s", endpoint, zmq_strerror(errno));
	while (zmq_bind(port->socket.zmq, endpoint) != 0) {
		if (errno != EADDRINUSE || clock_monotonic_ns() > until_ns)
			return err_set(
			    err, "%s: %s", endpoint, zmq_strerror(errno));
		nanosleep(&nap, NULL);
	}
	return 0;
}

int
port_rekey(
    struct port *port, const unsigned char *server_secret, struct err *err)
{
	uint32_t i;

	assert(port->options.kind == PORT_DOOR);
	port->options.server_secret = server_secret;
	for (i = 0; i < port->doors; i++) {
		const char *endpoint = port->door[i].endpoint;

		if (endpoint_path(endpoint) != NULL)
			continue;
		if (port_socket_prepare(
			&port->socket, &port->options, endpoint, err) != 0 ||
		    bind_again(port, endpoint, err) != 0)
			return -1;
	}
	return 0;
}

enum port_trouble
port_trouble(const struct port *port, struct err *err)
{
	const struct port_socket *socket = &port->socket;
	const struct keyfile *key = port->options.key;

	if (endpoint_path(port->endpoint) != NULL)
		return PORT_FINE;
	switch (socket->trouble) {
	case PORT_REFUSED:
		err_set(err,
		    "%s refuses the key %s: it has to be allowed there "
		    "(poolscope keys allow), or another one be given here "
		    "(--key)",
		    port->endpoint, key == NULL ? "" : key->name);
		break;
	case PORT_UNLIKE:
		err_set(err,
		    key == NULL ? "%s is a door with keys: give one (--key), "
				  "not --insecure"
				: "%s is a door without keys: --insecure "
				  "would go there, unencrypted",
		    port->endpoint);
		break;
	case PORT_OTHER_KEY:
		/* Sooner, it may be somebody who is just being ended. */
		if (key == NULL && socket->failures < KEYLESS_FAILURES)
			return PORT_FINE;
		if (key == NULL) {
			err_set(err,
			    "%s hangs up in the handshake, as a door with keys "
			    "does: give one (--key), not --insecure",
			    port->endpoint);
			return PORT_UNLIKE;
		}
		if (socket->failures < key->servers)
			return PORT_TRY_NEXT;
		err_set(err,
		    "%s hangs up in the handshake: the key %s was made for "
		    "another server (its lines \"server:\")",
		    port->endpoint, key->name);
		break;
	default: break;
	}
	return socket->trouble;
}

const struct port_counters *
port_counters(const struct port *port)
{
	return &port->counters;
}

const char *
port_endpoint(const struct port *port)
{
	return port->endpoint;
}

/* ---- for the loop ---- */

int
port_fd(const struct port *port)
{
	return port->socket.fd;
}

int
port_watch_fd(const struct port *port)
{
	return port->socket.watch_fd;
}

bool
port_is_ready(struct port *port)
{
	int events = port_socket_events(&port->socket);

	if (port->socket.watch_left)
		return port_watch(port) || port->socket.watch_left ||
		       (events & ZMQ_POLLIN) != 0;
	if (port->blocked && (events & ZMQ_POLLOUT) != 0) {
		port->blocked = false;
		return true;
	}
	return (events & ZMQ_POLLIN) != 0;
}

bool
port_watch(struct port *port)
{
	bool changed = port_socket_watch(&port->socket, &port->counters);

	port->counters.turned_away = port->socket.guard.turned_away;
	port->counters.held_off = port->socket.turnstile.shuts;
	return changed;
}

bool
port_has_strangers(const struct port *port)
{
	return port->socket.guard.peers > 0 || port->socket.turnstile.shut;
}

void
port_guard(struct port *port)
{
	const struct port_options *options = &port->options;

	/* The events first: no descriptor is looked at that was closed. */
	port_watch(port);
	turnstile_look(&port->socket.turnstile, clock_monotonic_ns());
	/* A queue that is full, and what libzmq is reading. */
	guard_look(&port->socket.guard,
	    ((uint64_t)options->queue_messages + 3) *
		(options->frame_bytes_max + GUARD_FRAME_BYTES));
	port->counters.cut = port->socket.guard.cut;
}
