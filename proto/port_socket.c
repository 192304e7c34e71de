/*
 * port_socket - a libzmq socket with poolscope's profile.
 * SPDX-License-Identifier: MIT
 */
#include "proto/port_socket.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <zmq.h>

#include "proto/hash.h"

enum {
	FILES_MAX = 65536, /* every connection is a file descriptor */
	BACKLOG = 1024,
	HANDSHAKE_MS = 3000,
	HEARTBEAT_MS = 2000,
	HEARTBEAT_TIMEOUT_MS = 6000,
	CONNECT_TIMEOUT_MS = 5000,
	RECONNECT_MS = 200,
	RECONNECT_MAX_MS = 30000,
	RECONNECT_IPC_MAX_MS = 2000,
	EVENTS_AT_ONCE = 4096, /* accept may fail faster than we read */
	WATCHED = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_ACCEPT_FAILED |
		  ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED |
		  ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
		  ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
		  ZMQ_EVENT_HANDSHAKE_FAILED_AUTH,
};

/* Two contexts at a time can crash 4.3.4 (fixed in 4.3.5), so there is one,
 * whichever thread opens a port first. */
static struct {
	pthread_mutex_t lock;
	void *zmq;
	uint32_t users;
	uint64_t watches; /* names for the monitors' endpoints */
} context = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
	    limit.rlim_cur >= FILES_MAX)
		return;
	limit.rlim_cur =
	    limit.rlim_max < FILES_MAX ? limit.rlim_max : (rlim_t)FILES_MAX;
	/* A refusal leaves the limit as it was, which is legal. */
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static void *
context_new(struct err *err)
{
	unsigned int seed;
	void *zmq;

	raise_file_limit();
	/* libzmq takes routing ids and reconnect jitter from rand(). */
	random_bytes(&seed, sizeof(seed));
	srand(seed);
	zmq = zmq_ctx_new();
	if (zmq == NULL) {
		err_set(err, "libzmq: %s", zmq_strerror(errno));
		return NULL;
	}
	zmq_ctx_set(zmq, ZMQ_BLOCKY, 0);
	return zmq;
}

static void
context_drop(void)
{
	assert(context.users > 0);
	if (--context.users > 0)
		return;
	while (zmq_ctx_term(context.zmq) != 0 && errno == EINTR)
		;
	context.zmq = NULL;
}

static int
set(void *zmq, int option, int value, struct err *err)
{
	if (zmq_setsockopt(zmq, option, &value, sizeof(value)) != 0)
		return err_set(err, "libzmq option %d = %d: %s", option, value,
		    zmq_strerror(errno));
	return 0;
}

static int
set_profile(void *zmq, const struct port_options *options, struct err *err)
{
	int64_t frame_bytes_max = options->frame_bytes_max;
	int queue = (int)options->queue_messages;
	int answers =
	    options->answer_messages ? (int)options->answer_messages : queue;
	bool door = options->kind == PORT_DOOR;

	/* Durability is the spool's: what is queued here may always go. */
	if (set(zmq, ZMQ_LINGER, 0, err) != 0 ||
	    set(zmq, ZMQ_SNDHWM, door ? answers : queue, err) != 0 ||
	    set(zmq, ZMQ_RCVHWM, door ? queue : answers, err) != 0 ||
	    set(zmq, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS, err) != 0 ||
	    set(zmq, ZMQ_CONNECT_TIMEOUT, CONNECT_TIMEOUT_MS, err) != 0 ||
	    set(zmq, ZMQ_RECONNECT_IVL, RECONNECT_MS, err) != 0 ||
	    set(zmq, ZMQ_BACKLOG, BACKLOG, err) != 0)
		return -1;
	if (zmq_setsockopt(zmq, ZMQ_MAXMSGSIZE, &frame_bytes_max,
		sizeof(frame_bytes_max)) != 0)
		return err_set(
		    err, "libzmq: frame limit: %s", zmq_strerror(errno));
	if (door)
		/* A peer that is gone or full is an error, not a loss in
		 * silence; a second peer cannot take over a first one's id. */
		return set(zmq, ZMQ_ROUTER_MANDATORY, 1, err) != 0 ||
			       set(zmq, ZMQ_ROUTER_HANDOVER, 0, err) != 0
			   ? -1
			   : 0;
	/* Queue nothing for a peer that is not connected. */
	return set(zmq, ZMQ_IMMEDIATE, 1, err);
}

/* The monitor's PAIR has no high-water mark: libzmq's I/O thread would block
 * on a full one.  The loop empties it as it fills. */
static int
open_watch(struct port_socket *socket, uint64_t number, struct err *err)
{
	char endpoint[64];

	snprintf(endpoint, sizeof(endpoint), "inproc://watch-%llu",
	    (unsigned long long)number);
	socket->watch = zmq_socket(context.zmq, ZMQ_PAIR);
	if (socket->watch == NULL)
		return err_set(err, "libzmq: %s", zmq_strerror(errno));
	if (set(socket->watch, ZMQ_LINGER, 0, err) != 0 ||
	    set(socket->watch, ZMQ_RCVHWM, 0, err) != 0)
		return -1;
	if (zmq_socket_monitor(socket->zmq, endpoint, WATCHED) != 0 ||
	    zmq_connect(socket->watch, endpoint) != 0)
		return err_set(err, "libzmq: monitor: %s", zmq_strerror(errno));
	return 0;
}

static int
get_fd(void *zmq)
{
	int fd = -1;
	size_t bytes = sizeof(fd);
	int rc = zmq_getsockopt(zmq, ZMQ_FD, &fd, &bytes);

	assert(rc == 0 && fd >= 0);
	(void)rc;
	return fd;
}

/* One event is two frames: { u16 event, u32 value }, endpoint.  Of sockets the
 * value is the descriptor. */
static bool
next_event(void *watch, unsigned int *event, int *fd)
{
	unsigned char head[6];
	char endpoint[PORT_ENDPOINT_BYTES_MAX];
	uint16_t number;
	uint32_t value;
	int n;

	do
		n = zmq_recv(watch, head, sizeof(head), ZMQ_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n != (int)sizeof(head))
		return false;
	memcpy(&number, head, sizeof(number));
	memcpy(&value, head + 2, sizeof(value));
	*event = number;
	*fd = (int)value;
	while (zmq_recv(watch, endpoint, sizeof(endpoint), ZMQ_DONTWAIT) < 0 &&
	       errno == EINTR)
		;
	return true;
}

/* What may be open of the socket, but not the context. */
static void
close_both(struct port_socket *socket)
{
	if (socket->zmq != NULL)
		zmq_socket_monitor(socket->zmq, NULL, 0);
	if (socket->watch != NULL)
		zmq_close(socket->watch);
	if (socket->zmq != NULL)
		zmq_close(socket->zmq);
	socket->zmq = socket->watch = NULL;
}

static int
open_both(struct port_socket *socket, const struct port_options *options,
    uint64_t number, struct err *err)
{
	int type = options->kind == PORT_DOOR ? ZMQ_ROUTER : ZMQ_DEALER;
	unsigned int nothing;
	int none;

	socket->zmq = zmq_socket(context.zmq, type);
	if (socket->zmq == NULL)
		return err_set(err, "libzmq: %s", zmq_strerror(errno));
	if (set_profile(socket->zmq, options, err) != 0 ||
	    open_watch(socket, number, err) != 0)
		return -1;
	guard_init(&socket->guard, 0);
	socket->fd = get_fd(socket->zmq);
	socket->watch_fd = get_fd(socket->watch);
	/* The descriptor speaks only of what comes after a look that found
	 * nothing; this is the first. */
	(void)next_event(socket->watch, &nothing, &none);
	return 0;
}

int
port_socket_open(struct port_socket *socket, const struct port_options *options,
    struct err *err)
{
	sigset_t all, before;
	int rc = -1;

	*socket = (struct port_socket){ .kind = options->kind };
	/* The first socket starts libzmq's threads; signals are not theirs. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pthread_mutex_lock(&context.lock);
	if (context.zmq != NULL || (context.zmq = context_new(err)) != NULL) {
		context.users++;
		rc = open_both(socket, options, context.watches++, err);
		if (rc != 0) {
			close_both(socket);
			context_drop();
		}
	}
	pthread_mutex_unlock(&context.lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

void
port_socket_close(struct port_socket *socket)
{
	pthread_mutex_lock(&context.lock);
	close_both(socket);
	context_drop();
	pthread_mutex_unlock(&context.lock);
	guard_clear(&socket->guard);
}

void
port_socket_linger(struct port_socket *socket, int limit_ms)
{
	zmq_setsockopt(socket->zmq, ZMQ_LINGER, &limit_ms, sizeof(limit_ms));
}

int
port_socket_prepare(
    struct port_socket *socket, const char *endpoint, struct err *err)
{
	bool ipc = strncmp(endpoint, "ipc:", 4) == 0;
	void *zmq = socket->zmq;

	/* The kernel tells at once when the other end of a Unix socket is
	 * gone, so heartbeats there would only keep the machine awake. */
	if (set(zmq, ZMQ_HEARTBEAT_IVL, ipc ? 0 : HEARTBEAT_MS, err) != 0 ||
	    set(zmq, ZMQ_HEARTBEAT_TIMEOUT, HEARTBEAT_TIMEOUT_MS, err) != 0 ||
	    set(zmq, ZMQ_HEARTBEAT_TTL, HEARTBEAT_TIMEOUT_MS, err) != 0)
		return -1;
	if (set(zmq, ZMQ_RECONNECT_IVL_MAX,
		ipc ? RECONNECT_IPC_MAX_MS : RECONNECT_MAX_MS, err) != 0)
		return -1;
	/* Only where an address asks for it: with this on, a host name is
	 * looked up as IPv6 alone. */
	return set(zmq, ZMQ_IPV6, strchr(endpoint, '[') != NULL, err);
}

int
port_socket_events(const struct port_socket *socket)
{
	int events = 0;
	size_t bytes = sizeof(events);
	int rc;

	do
		rc = zmq_getsockopt(socket->zmq, ZMQ_EVENTS, &events, &bytes);
	while (rc != 0 && errno == EINTR);
	assert(rc == 0);
	return events;
}

static void
note(struct port_socket *socket, struct port_counters *counters,
    unsigned int event, int fd)
{
	switch (event) {
	case ZMQ_EVENT_ACCEPTED:
		guard_accepted(&socket->guard, fd);
		counters->peers++;
		counters->connections++;
		break;
	case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
		if (socket->kind == PORT_LINE) {
			counters->peers = 1;
			counters->connections++;
		}
		break;
	case ZMQ_EVENT_DISCONNECTED:
		guard_gone(&socket->guard, fd);
		if (counters->peers > 0)
			counters->peers--;
		break;
	case ZMQ_EVENT_ACCEPT_FAILED: counters->accepts_failed++; break;
	default: counters->handshakes_failed++; break;
	}
}

bool
port_socket_watch(struct port_socket *socket, struct port_counters *counters)
{
	uint64_t connections = counters->connections;
	uint32_t peers = counters->peers;
	unsigned int event;
	int fd, i;

	for (i = 0;
	     i < EVENTS_AT_ONCE && next_event(socket->watch, &event, &fd); i++)
		if ((event & (unsigned int)WATCHED) != 0)
			note(socket, counters, event, fd);
	socket->watch_left = i == EVENTS_AT_ONCE;
	return peers != counters->peers || connections != counters->connections;
}

static int
send_frame(
    const struct port_socket *socket, const void *at, size_t bytes, int flags)
{
	int rc;

	do
		rc = zmq_send(socket->zmq, at, bytes, flags | ZMQ_DONTWAIT);
	while (rc < 0 && errno == EINTR);
	return rc;
}

int
port_socket_send(const struct port_socket *socket, const void *at, size_t bytes,
    enum port_socket_part part)
{
	int flags = part == PORT_SOCKET_LAST ? 0 : ZMQ_SNDMORE;
	int rc = send_frame(socket, at, bytes, flags);

	/* libzmq hears of room that was made only when it looks, and puts that
	 * off while there is work.  A later frame must not be tried again: it
	 * would begin a message. */
	if (rc < 0 && errno == EAGAIN && part == PORT_SOCKET_FIRST) {
		(void)port_socket_events(socket);
		rc = send_frame(socket, at, bytes, flags);
	}
	return rc;
}
