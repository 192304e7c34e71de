/*
 * zsock_flow - sends and receives messages, and identifies their senders.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "proto/keys/z85.h"
#include "proto/net/libzmq.h"
#include "proto/net/route.h"
#include "proto/net/zsock_private.h"

enum {
	ROUTE_FRAMES_MAX = 8,
	MALFORMED_AT_ONCE = 64, /* then other sockets get their turn */
};

_Static_assert(
    sizeof(zmq_msg_t) == sizeof(((struct zsock_message *)NULL)->handle),
    "struct zsock_message has no room for a zmq_msg_t");

static zmq_msg_t *
handle_of(struct zsock_message *message)
{
	return (zmq_msg_t *)(void *)message->handle;
}

void
zsock_message_init(struct zsock_message *message)
{
	message->route.bytes = 0;
	message->frame = (struct text){ NULL, 0 };
	message->held = false;
}

void
zsock_message_clear(struct zsock_message *message)
{
	if (message->held)
		libzmq.msg_close(handle_of(message));
	zsock_message_init(message);
}

bool
zsock_sender_is_gone(struct zsock_message *message)
{
	struct pollfd connection = { .events = POLLRDHUP };

	assert(message->held);
	connection.fd = libzmq.msg_get(handle_of(message), ZMQ_SRCFD);
	return connection.fd >= 0 && poll(&connection, 1, 0) == 1;
}

/* ---- receiving ---- */

enum taken { TAKEN, TAKEN_NOTHING, TAKEN_MALFORMED, TAKEN_UNKEYED };

/* The sender of a frame, as libzmq and the authenticator report it.  The
 * address is checked first: the authenticator sets no User-Id for a Unix
 * socket, so there the peer could claim one.  False: the sender is not
 * allowed. */
static bool
find_peer(const struct zsock *zsock, zmq_msg_t *frame, struct zsock_peer *peer)
{
	static const char unix_peer[] = "localhost:"; /* uid:gid:pid */
	const char *address = libzmq.msg_gets(frame, "Peer-Address"), *key;
	char *end;

	*peer = (struct zsock_peer){ .keyed = false };
	/* What a peer itself says under this name counts only where libzmq has
	 * no address: of a connection that was gone when it was accepted, to
	 * which nothing can be written, so that its handshake never ends. */
	if (address != NULL &&
	    strncmp(address, unix_peer, sizeof(unix_peer) - 1) == 0) {
		address += sizeof(unix_peer) - 1;
		peer->uid = (uint32_t)strtoul(address, &end, 10);
		peer->has_uid = end != address && *end == ':';
		return true;
	}
	if (zsock->options.server_secret == NULL)
		return true;
	if (address == NULL)
		return false;
	key = libzmq.msg_gets(frame, "User-Id");
	peer->keyed = key != NULL && z85_decode(peer->key, text_of(key));
	return peer->keyed;
}

/* Receive one message frame by frame: of a malformed one never more than one
 * frame is in memory. */
static enum taken
take_message(struct zsock *zsock, struct zsock_message *message)
{
	zmq_msg_t *frame = handle_of(message);
	bool fits = true;
	uint32_t frames = 0;
	int rc;

	message->route.bytes = 0;
	for (;;) {
		libzmq.msg_init(frame);
		do
			rc = libzmq.msg_recv(
			    frame, zsock->socket.zmq, ZMQ_DONTWAIT);
		while (rc < 0 && errno == EINTR);
		if (rc < 0) {
			assert(errno == EAGAIN);
			libzmq.msg_close(frame);
			return frames == 0 ? TAKEN_NOTHING : TAKEN_MALFORMED;
		}
		if (!libzmq.msg_more(frame))
			break;
		fits = fits && frames < ROUTE_FRAMES_MAX &&
		       route_add(&message->route, libzmq.msg_data(frame),
			   libzmq.msg_size(frame));
		frames++;
		libzmq.msg_close(frame);
	}
	if (zsock->socket.connection_limit.peers > 0)
		connection_limit_delivered(&zsock->socket.connection_limit,
		    libzmq.msg_get(frame, ZMQ_SRCFD));
	if (fits && find_peer(zsock, frame, &message->peer))
		return TAKEN;
	libzmq.msg_close(frame);
	return fits ? TAKEN_UNKEYED : TAKEN_MALFORMED;
}

enum zsock_result
zsock_recv(struct zsock *zsock, struct zsock_message *message)
{
	enum taken taken;
	int i;

	zsock_message_clear(message);
	for (i = 0; i < MALFORMED_AT_ONCE; i++) {
		taken = take_message(zsock, message);
		if (taken == TAKEN_NOTHING)
			break;
		zsock->counters.received++;
		if (taken == TAKEN_MALFORMED) {
			zsock->counters.malformed++;
			continue;
		}
		if (taken == TAKEN_UNKEYED) {
			zsock->counters.unkeyed++;
			continue;
		}
		message->held = true;
		message->frame.at = libzmq.msg_data(handle_of(message));
		message->frame.bytes =
		    (uint32_t)libzmq.msg_size(handle_of(message));
		zsock->counters.received_bytes += message->frame.bytes;
		return ZSOCK_DONE;
	}
	message->route.bytes = 0;
	return ZSOCK_AGAIN;
}

/* ---- sending ---- */

static enum zsock_result
not_sent(struct zsock *zsock, int error)
{
	if (error == EHOSTUNREACH) {
		zsock->counters.unreachable++;
		return ZSOCK_GONE;
	}
	assert(error == EAGAIN);
	zsock->counters.full++;
	zsock->blocked = zsock->options.kind == ZSOCK_CONNECTION;
	return ZSOCK_AGAIN;
}

/* Send the routing frames.  The first one shows whether the peer exists and has
 * room.  The others must follow: they are accepted, or lost silently with the
 * connection. */
static enum zsock_result
send_route(struct zsock *zsock, const struct route *route)
{
	uint32_t offset = 0;
	bool first = true;
	struct text frame;
	int error;

	if (zsock->options.kind == ZSOCK_LISTENER && route->bytes == 0)
		return not_sent(zsock, EHOSTUNREACH);
	while (route_next(route, &offset, &frame)) {
		int rc =
		    zsock_socket_send(&zsock->socket, frame.at, frame.bytes,
			first ? ZSOCK_SOCKET_FIRST : ZSOCK_SOCKET_MORE);

		if (rc < 0) {
			error = errno;
			/* The connection went down between two frames.  libzmq
			 * drops the rest of the message; complete it. */
			if (!first)
				zsock_socket_send(
				    &zsock->socket, "", 0, ZSOCK_SOCKET_LAST);
			return not_sent(zsock, error);
		}
		first = false;
	}
	return ZSOCK_DONE;
}

static enum zsock_result
sent(struct zsock *zsock, uint32_t bytes)
{
	zsock->counters.sent++;
	zsock->counters.sent_bytes += bytes;
	return ZSOCK_DONE;
}

enum zsock_result
zsock_send(struct zsock *zsock, const struct route *route, struct text frame)
{
	enum zsock_result rc = send_route(zsock, route);

	if (rc != ZSOCK_DONE)
		return rc;
	if (zsock_socket_send(
		&zsock->socket, frame.at, frame.bytes, ZSOCK_SOCKET_LAST) < 0)
		return not_sent(zsock, errno);
	return sent(zsock, frame.bytes);
}

enum zsock_result
zsock_forward(struct zsock *zsock, struct zsock_message *message)
{
	enum zsock_result result;
	int rc;

	assert(message->held);
	result = send_route(zsock, &message->route);
	if (result != ZSOCK_DONE)
		return result;
	do
		rc = libzmq.msg_send(
		    handle_of(message), zsock->socket.zmq, ZMQ_DONTWAIT);
	while (rc < 0 && errno == EINTR);
	if (rc < 0)
		return not_sent(zsock, errno);
	sent(zsock, message->frame.bytes);
	zsock_message_clear(message);
	return ZSOCK_DONE;
}
