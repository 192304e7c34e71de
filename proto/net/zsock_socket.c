/*
 * zsock_socket - a libzmq socket with poolscope's profile.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/zsock_socket.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/net/libzmq.h"
#include "proto/net/zsock_profile.h"

enum {
	EVENTS_AT_ONCE = 4096, /* accept may fail faster than we read */
	WATCHED = ZMQ_EVENT_LISTENING | ZMQ_EVENT_CLOSED | ZMQ_EVENT_ACCEPTED |
		  ZMQ_EVENT_ACCEPT_FAILED | ZMQ_EVENT_DISCONNECTED |
		  ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_CONNECTED |
		  ZMQ_EVENT_CONNECT_RETRIED |
		  ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
		  ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
		  ZMQ_EVENT_HANDSHAKE_FAILED_AUTH,
};

/* The monitor's PAIR has no high-water mark: libzmq's I/O thread would block
 * on a full one.  The loop drains it. */
static int
open_watch(struct zsock_socket *socket, void *context, uint64_t number,
    struct err *err)
{
	char endpoint[64];

	snprintf(endpoint, sizeof(endpoint), "inproc://watch-%llu",
	    (unsigned long long)number);
	socket->watch = libzmq.socket(context, ZMQ_PAIR);
	if (socket->watch == NULL)
		return err_set(err, "libzmq: %s", libzmq.strerror(errno));
	if (zsock_profile_set(socket->watch, ZMQ_LINGER, 0, err) != 0 ||
	    zsock_profile_set(socket->watch, ZMQ_RCVHWM, 0, err) != 0)
		return -1;
	if (libzmq.socket_monitor(socket->zmq, endpoint, WATCHED) != 0 ||
	    libzmq.connect(socket->watch, endpoint) != 0)
		return err_set(
		    err, "libzmq: monitor: %s", libzmq.strerror(errno));
	return 0;
}

static int
get_fd(void *zmq)
{
	int fd = -1;
	size_t bytes = sizeof(fd);
	int rc = libzmq.getsockopt(zmq, ZMQ_FD, &fd, &bytes);

	assert(rc == 0 && fd >= 0);
	(void)rc;
	return fd;
}

/* An event is two frames: { u16 event, u32 value }, endpoint.  For socket
 * events the value is the descriptor. */
static bool
next_event(void *watch, unsigned int *event, uint32_t *value)
{
	unsigned char head[6];
	char endpoint[ZSOCK_ENDPOINT_BYTES_MAX];
	uint16_t number;
	int n;

	do
		n = libzmq.recv(watch, head, sizeof(head), ZMQ_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n != (int)sizeof(head))
		return false;
	memcpy(&number, head, sizeof(number));
	*event = number;
	memcpy(value, head + sizeof(number), sizeof(*value));
	while (
	    libzmq.recv(watch, endpoint, sizeof(endpoint), ZMQ_DONTWAIT) < 0 &&
	    errno == EINTR)
		;
	return true;
}

/* Close the socket and its monitor, but not the context. */
static void
close_both(struct zsock_socket *socket)
{
	if (socket->zmq != NULL)
		libzmq.socket_monitor(socket->zmq, NULL, 0);
	if (socket->watch != NULL)
		libzmq.close(socket->watch);
	if (socket->zmq != NULL)
		libzmq.close(socket->zmq);
	socket->zmq = socket->watch = NULL;
}

static int
open_both(struct zsock_socket *socket, void *context,
    const struct zsock_options *options, uint64_t number, struct err *err)
{
	int type = options->kind == ZSOCK_LISTENER ? ZMQ_ROUTER : ZMQ_DEALER;
	unsigned int nothing;
	uint32_t no_value;

	socket->zmq = libzmq.socket(context, type);
	if (socket->zmq == NULL)
		return err_set(err, "libzmq: %s", libzmq.strerror(errno));
	if (zsock_profile_begin(socket->zmq, options, err) != 0 ||
	    open_watch(socket, context, number, err) != 0)
		return -1;
	connection_limit_init(&socket->connection_limit, 0);
	accept_rate_init(&socket->accept_rate, options->connects_per_second);
	socket->fd = get_fd(socket->zmq);
	socket->watch_fd = get_fd(socket->watch);
	/* The descriptor signals only events after a check that found none;
	 * this is the first check. */
	(void)next_event(socket->watch, &nothing, &no_value);
	return 0;
}

static _Atomic uint64_t watches; /* names for their endpoints */

int
zsock_socket_open(struct zsock_socket *socket,
    const struct zsock_options *options, struct err *err)
{
	sigset_t all, before;
	void *zmq;
	int rc = -1;

	*socket = (struct zsock_socket){ .kind = options->kind };
	/* The first socket starts libzmq's threads, which must not get
	 * signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	zmq = zsock_context_hold(err);
	if (zmq != NULL) {
		rc = open_both(socket, zmq, options, watches++, err);
		if (rc != 0)
			zsock_socket_close(socket);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

void
zsock_socket_close(struct zsock_socket *socket)
{
	close_both(socket);
	zsock_context_drop();
	connection_limit_clear(&socket->connection_limit);
}

void
zsock_socket_linger(struct zsock_socket *socket, int limit_ms)
{
	libzmq.setsockopt(socket->zmq, ZMQ_LINGER, &limit_ms, sizeof(limit_ms));
}

int
zsock_socket_prepare(struct zsock_socket *socket,
    const struct zsock_options *options, const char *endpoint, struct err *err)
{
	bool ipc = strncmp(endpoint, "ipc:", 4) == 0;
	int rc;

	if (socket->kind == ZSOCK_LISTENER)
		rc = zsock_profile_listener_keys(socket->zmq,
		    ipc ? NULL : options->server_secret, &socket->uses_zap,
		    err);
	else
		rc = zsock_profile_connection_keys(socket->zmq,
		    ipc ? NULL : options->key, socket->server, err);
	if (socket->kind == ZSOCK_CONNECTION && !ipc && options->key != NULL)
		memcpy(
		    socket->public_key, options->key->public, ZSOCK_KEY_BYTES);
	return rc == 0 ? zsock_profile_endpoint(socket->zmq, endpoint, err)
		       : -1;
}

int
zsock_socket_events(const struct zsock_socket *socket)
{
	int events = 0;
	size_t bytes = sizeof(events);
	int rc;

	do
		rc =
		    libzmq.getsockopt(socket->zmq, ZMQ_EVENTS, &events, &bytes);
	while (rc != 0 && errno == EINTR);
	assert(rc == 0);
	return events;
}

/* A listener that does not know the client's server key just closes the
 * connection. */
static void
note_failure(struct zsock_socket *socket, unsigned int event, uint32_t value)
{
	socket->failures++;
	if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
		socket->trouble = ZSOCK_REFUSED;
	else if (event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL &&
		 value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH)
		socket->trouble = ZSOCK_MECHANISM_MISMATCH;
	else
		socket->trouble = ZSOCK_WRONG_SERVER;
}

static void
note(struct zsock_socket *socket, struct zsock_counters *counters,
    unsigned int event, uint32_t value)
{
	switch (event) {
	case ZMQ_EVENT_LISTENING:
		accept_rate_add(&socket->accept_rate, (int)value);
		break;
	case ZMQ_EVENT_CLOSED:
		accept_rate_remove(&socket->accept_rate, (int)value);
		break;
	case ZMQ_EVENT_CONNECTED: socket->reached = true; break;
	case ZMQ_EVENT_CONNECT_RETRIED: socket->failed = true; break;
	case ZMQ_EVENT_ACCEPTED:
		accept_rate_count(
		    &socket->accept_rate, (int)value, clock_monotonic_ns());
		connection_limit_accepted(
		    &socket->connection_limit, (int)value);
		counters->peers++;
		counters->connections++;
		break;
	case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
		socket->failures = 0;
		socket->trouble = ZSOCK_FINE;
		if (socket->kind == ZSOCK_CONNECTION) {
			counters->peers = 1;
			counters->connections++;
		}
		break;
	case ZMQ_EVENT_DISCONNECTED:
		connection_limit_closed(&socket->connection_limit, (int)value);
		if (counters->peers > 0)
			counters->peers--;
		break;
	case ZMQ_EVENT_ACCEPT_FAILED: counters->accepts_failed++; break;
	default:
		counters->handshakes_failed++;
		note_failure(socket, event, value);
		break;
	}
}

bool
zsock_socket_watch(struct zsock_socket *socket, struct zsock_counters *counters)
{
	uint64_t connections = counters->connections;
	uint64_t failed = counters->handshakes_failed;
	uint32_t peers = counters->peers, value;
	bool had_failed = socket->failed;
	unsigned int event;
	int i;

	for (i = 0;
	     i < EVENTS_AT_ONCE && next_event(socket->watch, &event, &value);
	     i++)
		if ((event & (unsigned int)WATCHED) != 0)
			note(socket, counters, event, value);
	socket->watch_left = i == EVENTS_AT_ONCE;
	if (socket->kind == ZSOCK_CONNECTION &&
	    (failed != counters->handshakes_failed ||
		had_failed != socket->failed))
		return true;
	return peers != counters->peers || connections != counters->connections;
}

static int
send_frame(
    const struct zsock_socket *socket, const void *at, size_t bytes, int flags)
{
	int rc;

	do
		rc = libzmq.send(socket->zmq, at, bytes, flags | ZMQ_DONTWAIT);
	while (rc < 0 && errno == EINTR);
	return rc;
}

int
zsock_socket_send(const struct zsock_socket *socket, const void *at,
    size_t bytes, enum zsock_socket_part part)
{
	int flags = part == ZSOCK_SOCKET_LAST ? 0 : ZMQ_SNDMORE;
	int rc = send_frame(socket, at, bytes, flags);

	/* libzmq notices freed room only when it checks, and postpones that
	 * while it is busy.  A later frame must not be retried: it would begin
	 * a message. */
	if (rc < 0 && errno == EAGAIN && part == ZSOCK_SOCKET_FIRST) {
		(void)zsock_socket_events(socket);
		rc = send_frame(socket, at, bytes, flags);
	}
	return rc;
}
