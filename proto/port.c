/*
 * port - a ZeroMQ socket with every option set in one place.
 * SPDX-License-Identifier: MIT
 */
#include "proto/port.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <zmq.h>

#include "proto/endpoint.h"
#include "proto/port_socket.h"
#include "proto/route.h"

enum {
	ROUTE_FRAMES_MAX = 8,
	MALFORMED_AT_ONCE = 64, /* then others have their turn */
	BINDS_MAX = 8,
	GUARD_FRAME_BYTES = 4096, /* of routing frames and encryption */
};

struct port {
	struct port_socket socket;
	struct port_options options;
	struct port_counters counters;
	bool blocked; /* a line answered PORT_AGAIN */
	char endpoint[PORT_ENDPOINT_BYTES_MAX];
	uint32_t doors;
	struct endpoint_claim door[BINDS_MAX]; /* of Unix sockets */
};

_Static_assert(sizeof(zmq_msg_t) == sizeof(((struct message *)NULL)->handle),
    "struct message has no room for a zmq_msg_t");

static zmq_msg_t *
handle_of(struct message *message)
{
	return (zmq_msg_t *)(void *)message->handle;
}

void
message_init(struct message *message)
{
	message->route.bytes = 0;
	message->frame = (struct text){ NULL, 0 };
	message->held = false;
}

void
message_clear(struct message *message)
{
	if (message->held)
		zmq_msg_close(handle_of(message));
	message_init(message);
}

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
		endpoint_release(&old->door[i]);
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
	if (!port->options.insecure && !endpoint_is_loopback(endpoint))
		return err_set(err,
		    "%s is open to the network: it needs keys or --insecure",
		    endpoint);
	if (zmq_bind(port->socket.zmq, endpoint) != 0)
		return err_set(err, "%s: %s", endpoint, zmq_strerror(errno));
	return 0;
}

static int
bind_ipc(struct port *port, const char *path, struct err *err)
{
	struct endpoint_claim *claim = &port->door[port->doors];
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
	if (port->doors == BINDS_MAX)
		return err_set(
		    err, "more than %d endpoints to listen on", BINDS_MAX);
	if (port_socket_prepare(&port->socket, endpoint, err) != 0)
		return -1;
	snprintf(port->endpoint, sizeof(port->endpoint), "%s", endpoint);
	path = endpoint_path(endpoint);
	rc = path != NULL ? bind_ipc(port, path, err) : bind_tcp(port, err);
	if (rc != 0)
		return -1;
	port->doors++;
	keep_endpoint(port);
	return 0;
}

int
port_connect(struct port *port, const char *endpoint, struct err *err)
{
	assert(port->options.kind == PORT_LINE);
	if (endpoint_check(endpoint, err) != 0 ||
	    port_socket_prepare(&port->socket, endpoint, err) != 0)
		return -1;
	snprintf(port->endpoint, sizeof(port->endpoint), "%s", endpoint);
	if (zmq_connect(port->socket.zmq, port->endpoint) != 0)
		return err_set(err, "%s: %s", endpoint, zmq_strerror(errno));
	return 0;
}

int
port_move(struct port *port, const char *endpoint, struct err *err)
{
	assert(port->options.kind == PORT_LINE);
	if (endpoint_check(endpoint, err) != 0 ||
	    port_socket_prepare(&port->socket, endpoint, err) != 0)
		return -1;
	if (zmq_disconnect(port->socket.zmq, port->endpoint) != 0 &&
	    errno != ENOENT)
		return err_set(
		    err, "%s: %s", port->endpoint, zmq_strerror(errno));
	port->counters.peers = 0;
	snprintf(port->endpoint, sizeof(port->endpoint), "%s", endpoint);
	if (zmq_connect(port->socket.zmq, port->endpoint) != 0)
		return err_set(
		    err, "%s: %s", port->endpoint, zmq_strerror(errno));
	return 0;
}

int
port_reconnect(struct port *port, struct err *err)
{
	char endpoint[PORT_ENDPOINT_BYTES_MAX];

	memcpy(endpoint, port->endpoint, sizeof(endpoint));
	return port_move(port, endpoint, err);
}

/* ---- receiving ---- */

enum taken { TAKEN, TAKEN_NOTHING, TAKEN_MALFORMED };

/* Take one message frame by frame: never more than one frame of a malformed
 * one is held. */
static enum taken
take_message(struct port *port, struct message *message)
{
	zmq_msg_t *frame = handle_of(message);
	bool fits = true;
	uint32_t frames = 0;
	int rc;

	message->route.bytes = 0;
	for (;;) {
		zmq_msg_init(frame);
		do
			rc =
			    zmq_msg_recv(frame, port->socket.zmq, ZMQ_DONTWAIT);
		while (rc < 0 && errno == EINTR);
		if (rc < 0) {
			assert(errno == EAGAIN);
			zmq_msg_close(frame);
			return frames == 0 ? TAKEN_NOTHING : TAKEN_MALFORMED;
		}
		if (!zmq_msg_more(frame))
			break;
		fits = fits && frames < ROUTE_FRAMES_MAX &&
		       route_add(&message->route, zmq_msg_data(frame),
			   zmq_msg_size(frame));
		frames++;
		zmq_msg_close(frame);
	}
	if (port->socket.guard.peers > 0)
		guard_delivered(
		    &port->socket.guard, zmq_msg_get(frame, ZMQ_SRCFD));
	if (fits)
		return TAKEN;
	zmq_msg_close(frame);
	return TAKEN_MALFORMED;
}

enum port_result
port_recv(struct port *port, struct message *message)
{
	enum taken taken;
	int i;

	message_clear(message);
	for (i = 0; i < MALFORMED_AT_ONCE; i++) {
		taken = take_message(port, message);
		if (taken == TAKEN_NOTHING)
			break;
		port->counters.received++;
		if (taken == TAKEN_MALFORMED) {
			port->counters.malformed++;
			continue;
		}
		message->held = true;
		message->frame.at = zmq_msg_data(handle_of(message));
		message->frame.bytes =
		    (uint32_t)zmq_msg_size(handle_of(message));
		port->counters.received_bytes += message->frame.bytes;
		return PORT_DONE;
	}
	message->route.bytes = 0;
	return PORT_AGAIN;
}

/* ---- sending ---- */

static enum port_result
not_sent(struct port *port, int error)
{
	if (error == EHOSTUNREACH) {
		port->counters.unreachable++;
		return PORT_GONE;
	}
	assert(error == EAGAIN);
	port->counters.full++;
	port->blocked = port->options.kind == PORT_LINE;
	return PORT_AGAIN;
}

/* The routing frames.  A door finds out with the first whether there is such
 * a peer and room for it; what follows is then taken or silently lost with
 * the connection, but must follow. */
static enum port_result
send_route(struct port *port, const struct route *route)
{
	uint32_t offset = 0;
	bool first = true;
	struct text frame;
	int error;

	if (port->options.kind == PORT_DOOR && route->bytes == 0)
		return not_sent(port, EHOSTUNREACH);
	while (route_next(route, &offset, &frame)) {
		int rc = port_socket_send(&port->socket, frame.at, frame.bytes,
		    first ? PORT_SOCKET_FIRST : PORT_SOCKET_MORE);

		if (rc < 0) {
			error = errno;
			/* A line that went down between two frames takes the
			 * rest of the message and drops it: end it. */
			if (!first)
				port_socket_send(
				    &port->socket, "", 0, PORT_SOCKET_LAST);
			return not_sent(port, error);
		}
		first = false;
	}
	return PORT_DONE;
}

static enum port_result
sent(struct port *port, uint32_t bytes)
{
	port->counters.sent++;
	port->counters.sent_bytes += bytes;
	return PORT_DONE;
}

enum port_result
port_send(struct port *port, const struct route *route, struct text frame)
{
	enum port_result rc = send_route(port, route);

	if (rc != PORT_DONE)
		return rc;
	if (port_socket_send(
		&port->socket, frame.at, frame.bytes, PORT_SOCKET_LAST) < 0)
		return not_sent(port, errno);
	return sent(port, frame.bytes);
}

enum port_result
port_pass(struct port *port, struct message *message)
{
	enum port_result result;
	int rc;

	assert(message->held);
	result = send_route(port, &message->route);
	if (result != PORT_DONE)
		return result;
	do
		rc = zmq_msg_send(
		    handle_of(message), port->socket.zmq, ZMQ_DONTWAIT);
	while (rc < 0 && errno == EINTR);
	if (rc < 0)
		return not_sent(port, errno);
	sent(port, message->frame.bytes);
	message_clear(message);
	return PORT_DONE;
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
	return changed;
}

bool
port_has_strangers(const struct port *port)
{
	return port->socket.guard.peers > 0;
}

void
port_guard(struct port *port)
{
	const struct port_options *options = &port->options;

	/* The events first: no descriptor is looked at that was closed. */
	port_watch(port);
	/* A queue that is full, and what libzmq is reading. */
	guard_look(&port->socket.guard,
	    ((uint64_t)options->queue_messages + 3) *
		(options->frame_bytes_max + GUARD_FRAME_BYTES));
	port->counters.cut = port->socket.guard.cut;
}
