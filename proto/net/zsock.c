/*
 * zsock - a ZeroMQ socket with every option set in one place.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/zsock.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/base/memory.h"
#include "proto/keys/keyfile.h"
#include "proto/keys/z85.h"
#include "proto/net/endpoint.h"
#include "proto/net/libzmq.h"
#include "proto/net/zsock_socket.h"
#include "proto/os/clock.h"
#include "proto/os/owner/socket_file.h"
#include "proto/os/owner/trusted_dir.h"

enum { ZSOCK_BINDS_MAX = 8 };

struct zsock {
	struct zsock_socket socket;
	struct zsock_options options;
	struct zsock_counters counters;
	bool blocked; /* a connection returned ZSOCK_AGAIN */
	char endpoint[ENDPOINT_BYTES_MAX];
	uint32_t bound;
	struct {
		struct endpoint_claim claim;       /* of a Unix socket */
		char endpoint[ENDPOINT_BYTES_MAX]; /* as bound */
	} listener[ZSOCK_BINDS_MAX];
};

enum {
	/* Allowance for routing frames and encryption. */
	GUARD_FRAME_BYTES = 4096,
	/* After fewer, the peer may just be shutting down. */
	KEYLESS_FAILURES = 3,
};

/* For libzmq to release an address, which it does in its own thread. */
#define REBIND_NS     NS_PER_SECOND
#define REBIND_NAP_NS (NS_PER_SECOND / 1000)

int
zsock_open(
    struct zsock **zsock, const struct zsock_options *options, struct err *err)
{
	struct zsock *new = memory_zero(1, sizeof(*new));

	new->options = *options;
	if (zsock_socket_open(&new->socket, options, err) != 0) {
		free(new);
		return -1;
	}
	*zsock = new;
	return 0;
}

void
zsock_close(struct zsock **zsock)
{
	struct zsock *old = *zsock;
	uint32_t i;

	if (old == NULL)
		return;
	zsock_socket_close(&old->socket);
	for (i = 0; i < old->bound; i++)
		endpoint_release(&old->listener[i].claim);
	free(old);
	*zsock = NULL;
}

void
zsock_finish(struct zsock **zsock, int64_t limit_ns)
{
	if (*zsock != NULL)
		zsock_socket_linger(
		    &(*zsock)->socket, (int)(limit_ns / 1000000));
	zsock_close(zsock);
}

/* ---- endpoints ---- */

static void
keep_endpoint(struct zsock *zsock)
{
	size_t bytes = sizeof(zsock->endpoint);

	if (libzmq.getsockopt(zsock->socket.zmq, ZMQ_LAST_ENDPOINT,
		zsock->endpoint, &bytes) != 0)
		zsock->endpoint[0] = '\0';
}

static int
bind_tcp(struct zsock *zsock, struct err *err)
{
	char endpoint[ENDPOINT_BYTES_MAX];

	if (endpoint_bindable(endpoint, zsock->endpoint, err) != 0)
		return -1;
	if (zsock->options.server_secret == NULL && !zsock->options.insecure)
		return err_set(err,
		    "%s is reachable from other hosts: it needs keys or "
		    "--insecure",
		    endpoint);
	if (libzmq.bind(zsock->socket.zmq, endpoint) != 0)
		return err_set(err, "%s: %s", endpoint, libzmq.strerror(errno));
	return 0;
}

static int
bind_ipc(struct zsock *zsock, const char *path, struct err *err)
{
	struct endpoint_claim *claim = &zsock->listener[zsock->bound].claim;
	bool for_group = zsock->options.for_group;
	mode_t mask;
	int rc, why;

	if (endpoint_claim(claim, path, err) != 0)
		return -1;
	mask = socket_file_begin(for_group);
	rc = libzmq.bind(zsock->socket.zmq, zsock->endpoint);
	why = errno;
	if (socket_file_end(mask, for_group, path, err) == 0 && rc == 0) {
		endpoint_bound(claim);
		return 0;
	}
	if (rc != 0)
		err_set(err, "ipc://%s: %s", path, libzmq.strerror(why));
	endpoint_release(claim);
	return -1;
}

int
zsock_bind(struct zsock *zsock, const char *endpoint, struct err *err)
{
	const char *path;
	int rc;

	assert(zsock->options.kind == ZSOCK_LISTENER);
	if (endpoint_check(endpoint, err) != 0)
		return -1;
	if (zsock->bound == ZSOCK_BINDS_MAX)
		return err_set(err, "more than %d endpoints to listen on",
		    ZSOCK_BINDS_MAX);
	if (zsock_socket_prepare(
		&zsock->socket, &zsock->options, endpoint, err) != 0)
		return -1;
	snprintf(zsock->endpoint, sizeof(zsock->endpoint), "%s", endpoint);
	path = endpoint_path(endpoint);
	rc = path != NULL ? bind_ipc(zsock, path, err) : bind_tcp(zsock, err);
	if (rc != 0)
		return -1;
	keep_endpoint(zsock);
	memcpy(zsock->listener[zsock->bound].endpoint, zsock->endpoint,
	    sizeof(zsock->endpoint));
	zsock->bound++;
	return 0;
}

int
zsock_connect(struct zsock *zsock, const char *endpoint, struct err *err)
{
	const char *path = endpoint_path(endpoint);

	assert(zsock->options.kind == ZSOCK_CONNECTION);
	if (endpoint_check(endpoint, err) != 0)
		return -1;
	if (path == NULL && zsock->options.key == NULL &&
	    !zsock->options.insecure)
		return err_set(err, "%s needs a key or --insecure", endpoint);
	if (path != NULL && trusted_dir_socket(path, err) != 0)
		return -1;
	if (zsock_socket_prepare(
		&zsock->socket, &zsock->options, endpoint, err) != 0)
		return -1;
	snprintf(zsock->endpoint, sizeof(zsock->endpoint), "%s", endpoint);
	if (libzmq.connect(zsock->socket.zmq, zsock->endpoint) != 0)
		return err_set(err, "%s: %s", endpoint, libzmq.strerror(errno));
	return 0;
}

static uint32_t
servers_of(const struct zsock *zsock)
{
	return zsock->options.key == NULL ? 0 : zsock->options.key->servers;
}

int
zsock_reconnect_to(struct zsock *zsock, const char *endpoint, struct err *err)
{
	struct zsock_socket *socket = &zsock->socket;

	assert(zsock->options.kind == ZSOCK_CONNECTION);
	if (endpoint_check(endpoint, err) != 0)
		return -1;
	if (libzmq.disconnect(socket->zmq, zsock->endpoint) != 0 &&
	    errno != ENOENT)
		return err_set(
		    err, "%s: %s", zsock->endpoint, libzmq.strerror(errno));
	zsock->counters.peers = 0;
	if (socket->trouble != ZSOCK_FINE && servers_of(zsock) > 1)
		socket->server = (socket->server + 1) % servers_of(zsock);
	if (socket->server >= servers_of(zsock))
		socket->server = 0;   /* the key file was read again */
	socket->trouble = ZSOCK_FINE; /* until this attempt fails */
	return zsock_connect(zsock, endpoint, err);
}

int
zsock_reconnect(struct zsock *zsock, struct err *err)
{
	char endpoint[ENDPOINT_BYTES_MAX];

	memcpy(endpoint, zsock->endpoint, sizeof(endpoint));
	return zsock_reconnect_to(zsock, endpoint, err);
}

/* ---- keys ---- */

bool
zsock_key_has_changed(const struct zsock *zsock)
{
	const struct keyfile *key = zsock->options.key;

	return key != NULL && endpoint_path(zsock->endpoint) == NULL &&
	       memcmp(key->public, zsock->socket.public_key, ZSOCK_KEY_BYTES) !=
		   0;
}

int
zsock_use_key(struct zsock *zsock, struct err *err)
{
	zsock->socket.server = zsock->socket.failures = 0;
	zsock->socket.trouble = ZSOCK_FINE;
	return zsock_reconnect(zsock, err);
}

static int
bind_again(struct zsock *zsock, const char *endpoint, struct err *err)
{
	int64_t until_ns = clock_monotonic_ns() + REBIND_NS;
	const struct timespec nap = { .tv_nsec = REBIND_NAP_NS };

	if (libzmq.unbind(zsock->socket.zmq, endpoint) != 0 && errno != ENOENT)
		return err_set(err, "%s: %s", endpoint, libzmq.strerror(errno));
	while (libzmq.bind(zsock->socket.zmq, endpoint) != 0) {
		if (errno != EADDRINUSE || clock_monotonic_ns() > until_ns)
			return err_set(
			    err, "%s: %s", endpoint, libzmq.strerror(errno));
		nanosleep(&nap, NULL);
	}
	return 0;
}

int
zsock_rekey(
    struct zsock *zsock, const unsigned char *server_secret, struct err *err)
{
	uint32_t i;

	assert(zsock->options.kind == ZSOCK_LISTENER);
	zsock->options.server_secret = server_secret;
	for (i = 0; i < zsock->bound; i++) {
		const char *endpoint = zsock->listener[i].endpoint;

		if (endpoint_path(endpoint) != NULL)
			continue;
		if (zsock_socket_prepare(
			&zsock->socket, &zsock->options, endpoint, err) != 0 ||
		    bind_again(zsock, endpoint, err) != 0)
			return -1;
	}
	return 0;
}

bool
zsock_is_absent(const struct zsock *zsock, struct err *err)
{
	const char *path = endpoint_path(zsock->endpoint);

	if (zsock->socket.reached || !zsock->socket.failed)
		return false;
	if (path != NULL)
		return endpoint_is_deserted(path, err);
	err_set(err,
	    "cannot be reached: nobody listens there, or the address is wrong");
	return true;
}

enum zsock_trouble
zsock_trouble(const struct zsock *zsock)
{
	const struct zsock_socket *socket = &zsock->socket;

	if (endpoint_path(zsock->endpoint) != NULL)
		return ZSOCK_FINE;
	if (socket->trouble != ZSOCK_WRONG_SERVER)
		return socket->trouble;
	if (zsock->options.key == NULL)
		return socket->failures < KEYLESS_FAILURES
			   ? ZSOCK_FINE
			   : ZSOCK_CLOSED_WITHOUT_KEY;
	return socket->failures < zsock->options.key->servers
		   ? ZSOCK_TRY_NEXT
		   : ZSOCK_WRONG_SERVER;
}

const struct keyfile *
zsock_key(const struct zsock *zsock)
{
	return zsock->options.key;
}

const struct zsock_counters *
zsock_counters(const struct zsock *zsock)
{
	return &zsock->counters;
}

const char *
zsock_endpoint(const struct zsock *zsock)
{
	return zsock->endpoint;
}

/* ---- for the loop ---- */

int
zsock_fd(const struct zsock *zsock)
{
	return zsock->socket.fd;
}

int
zsock_watch_fd(const struct zsock *zsock)
{
	return zsock->socket.watch_fd;
}

bool
zsock_is_ready(struct zsock *zsock)
{
	int events = zsock_socket_events(&zsock->socket);

	if (zsock->socket.watch_left)
		return zsock_watch(zsock) || zsock->socket.watch_left ||
		       (events & ZMQ_POLLIN) != 0;
	if (zsock->blocked && (events & ZMQ_POLLOUT) != 0) {
		zsock->blocked = false;
		return true;
	}
	return (events & ZMQ_POLLIN) != 0;
}

bool
zsock_watch(struct zsock *zsock)
{
	bool changed = zsock_socket_watch(&zsock->socket, &zsock->counters);

	zsock->counters.connections_evicted =
	    zsock->socket.connection_limit.evicted;
	zsock->counters.connections_throttled =
	    zsock->socket.accept_rate.pauses;
	return changed;
}

bool
zsock_needs_checks(const struct zsock *zsock)
{
	return zsock->socket.connection_limit.peers > 0 ||
	       zsock->socket.accept_rate.paused;
}

void
zsock_check_connections(struct zsock *zsock)
{
	const struct zsock_options *options = &zsock->options;

	/* Events first, so that no closed descriptor is checked. */
	zsock_watch(zsock);
	accept_rate_check(&zsock->socket.accept_rate, clock_monotonic_ns());
	/* A full queue, and the message that libzmq is reading. */
	connection_limit_check(&zsock->socket.connection_limit,
	    ((uint64_t)options->queue_messages + 3) *
		(options->frame_bytes_max + GUARD_FRAME_BYTES));
	zsock->counters.connections_dropped =
	    zsock->socket.connection_limit.dropped;
}

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
