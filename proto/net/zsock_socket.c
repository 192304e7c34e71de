/*
 * zsock_socket - a libzmq socket with poolscope's profile.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/zsock_socket.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "proto/base/err.h"
#include "proto/hash/hash.h"
#include "proto/keys/keyfile.h"
#include "proto/net/libzmq.h"
#include "proto/net/zsock.h"

enum {
	FILES_MAX = 65536, /* every connection uses a file descriptor */
	/* libzmq aborts without one: five for its threads, three for a socket,
	 * and those for a listener, authentication and the loop. */
	FILES_FREE = 20,
	FILES_ADVISED = 64,
};

/* Two contexts at a time can crash libzmq 4.3.4 (fixed in 4.3.5), so all
 * threads share one. */
static struct {
	pthread_mutex_t lock;
	void *zmq;
	uint32_t users;
} process = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
	    limit.rlim_cur >= FILES_MAX)
		return;
	limit.rlim_cur =
	    limit.rlim_max < FILES_MAX ? limit.rlim_max : (rlim_t)FILES_MAX;
	/* If it is refused, the process works with the old limit. */
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* Of this process as of now. */
static int
check_files(struct err *err)
{
	int file[FILES_FREE], opened = 0;
	struct rlimit limit = { 0 };

	while (opened < FILES_FREE &&
	       (file[opened] = eventfd(0, EFD_CLOEXEC)) >= 0)
		opened++;
	for (int i = 0; i < opened; i++)
		close(file[i]);
	if (opened == FILES_FREE)
		return 0;
	getrlimit(RLIMIT_NOFILE, &limit);
	return err_set(err,
	    "sockets need %d more files, and this process, which may open "
	    "%llu, can open %d: allow it %d or more (ulimit -n)",
	    FILES_FREE, (unsigned long long)limit.rlim_cur, opened,
	    FILES_ADVISED);
}

static void *
context_new(struct err *err)
{
	unsigned int seed;
	void *zmq;

	if (libzmq_load(err) != 0)
		return NULL;
	/* libzmq takes routing ids and reconnect jitter from rand(). */
	hash_random_bytes(&seed, sizeof(seed));
	srand(seed);
	zmq = libzmq.ctx_new();
	if (zmq == NULL) {
		err_set(err, "libzmq: %s", libzmq.strerror(errno));
		return NULL;
	}
	libzmq.ctx_set(zmq, ZMQ_BLOCKY, 0);
	return zmq;
}

static void
context_drop(void)
{
	assert(process.users > 0);
	if (--process.users > 0)
		return;
	while (libzmq.ctx_term(process.zmq) != 0 && errno == EINTR)
		;
	process.zmq = NULL;
}

static bool
hold(struct err *err)
{
	if (process.zmq == NULL)
		raise_file_limit();
	if (check_files(err) != 0)
		return false;
	if (process.zmq == NULL && (process.zmq = context_new(err)) == NULL)
		return false;
	process.users++;
	return true;
}

void *
zsock_context_hold(struct err *err)
{
	void *zmq;

	pthread_mutex_lock(&process.lock);
	zmq = hold(err) ? process.zmq : NULL;
	pthread_mutex_unlock(&process.lock);
	return zmq;
}

void
zsock_context_drop(void)
{
	pthread_mutex_lock(&process.lock);
	context_drop();
	pthread_mutex_unlock(&process.lock);
}

enum {
	BACKLOG = 1024,
	HANDSHAKE_MS = 3000,
	/* A peer that is gone is noticed in 6 s: by probes when the connection
	 * is idle, by missing acknowledgements when it is not. */
	PROBE_SECONDS = 2,
	PROBES = 2,
	UNACKNOWLEDGED_MS = 6000,
	CONNECT_TIMEOUT_MS = 5000,
	RECONNECT_MS = 200,
	RECONNECT_MAX_MS = 30000,
	RECONNECT_IPC_MAX_MS = 2000,
	/* A draft option: not in the header, but implemented. */
	ZAP_ENFORCE_DOMAIN = 93,
};

static int
zsock_profile_set(void *zmq, int option, int value, struct err *err)
{
	if (libzmq.setsockopt(zmq, option, &value, sizeof(value)) != 0)
		return err_set(err, "libzmq option %d = %d: %s", option, value,
		    libzmq.strerror(errno));
	return 0;
}

/* Options that do not depend on the endpoint; set once. */
static int
zsock_profile_begin(
    void *zmq, const struct zsock_options *options, struct err *err)
{
	int64_t frame_bytes_max = options->frame_bytes_max;
	int queue = (int)options->queue_messages;
	int answers =
	    options->reply_messages ? (int)options->reply_messages : queue;
	bool listener = options->kind == ZSOCK_LISTENER;

	/* The spool provides durability: queued messages may be dropped. */
	if (zsock_profile_set(zmq, ZMQ_LINGER, 0, err) != 0 ||
	    zsock_profile_set(
		zmq, ZMQ_SNDHWM, listener ? answers : queue, err) != 0 ||
	    zsock_profile_set(
		zmq, ZMQ_RCVHWM, listener ? queue : answers, err) != 0 ||
	    zsock_profile_set(zmq, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS, err) != 0 ||
	    zsock_profile_set(
		zmq, ZMQ_CONNECT_TIMEOUT, CONNECT_TIMEOUT_MS, err) != 0 ||
	    zsock_profile_set(zmq, ZMQ_RECONNECT_IVL, RECONNECT_MS, err) != 0 ||
	    zsock_profile_set(zmq, ZMQ_BACKLOG, BACKLOG, err) != 0)
		return -1;
	if (libzmq.setsockopt(zmq, ZMQ_MAXMSGSIZE, &frame_bytes_max,
		sizeof(frame_bytes_max)) != 0)
		return err_set(
		    err, "libzmq: frame limit: %s", libzmq.strerror(errno));
	if (listener)
		/* Sending to a peer that is gone or full fails instead of
		 * losing the message silently, and no peer can take over the
		 * routing id of another. */
		return zsock_profile_set(zmq, ZMQ_ROUTER_MANDATORY, 1, err) !=
				   0 ||
			       zsock_profile_set(
				   zmq, ZMQ_ROUTER_HANDOVER, 0, err) != 0
			   ? -1
			   : 0;
	/* Queue nothing for a peer that is not connected. */
	return zsock_profile_set(zmq, ZMQ_IMMEDIATE, 1, err);
}

static int
set_bytes(void *zmq, int option, const void *at, size_t bytes, struct err *err)
{
	if (libzmq.setsockopt(zmq, option, at, bytes) != 0)
		return err_set(err, "libzmq option %d: %s", option,
		    libzmq.strerror(errno));
	return 0;
}

static int
set_domain(void *zmq, const char *domain, struct err *err)
{
	return set_bytes(zmq, ZMQ_ZAP_DOMAIN, domain, strlen(domain), err);
}

/* The keys, or none (NULL), are set before each bind and connect.  `*uses_zap`,
 * initially false: the listener has had keys, now or earlier.
 *
 * Only peers that the authenticator admits may connect to a listener with keys:
 * without an answer from it nobody may.  libzmq enforces that since 4.3.3, by a
 * draft option, so an older one that refuses the option is no error.  A domain
 * cannot be removed again: a Unix socket bound later gets one of its own. */
static int
zsock_profile_listener_keys(
    void *zmq, const unsigned char *secret, bool *uses_zap, struct err *err)
{
	int yes = 1;

	if (secret == NULL && !*uses_zap)
		return 0;
	if (secret == NULL)
		return zsock_profile_set(zmq, ZMQ_CURVE_SERVER, 0, err) != 0
			   ? -1
			   : set_domain(zmq, ZSOCK_DOMAIN_LOCAL, err);
	*uses_zap = true;
	(void)libzmq.setsockopt(zmq, ZAP_ENFORCE_DOMAIN, &yes, sizeof(yes));
	if (zsock_profile_set(zmq, ZMQ_CURVE_SERVER, 1, err) != 0 ||
	    set_bytes(zmq, ZMQ_CURVE_SECRETKEY, secret, ZSOCK_KEY_BYTES, err) !=
		0)
		return -1;
	return set_domain(zmq, ZSOCK_DOMAIN_KEYS, err);
}

static int
zsock_profile_connection_keys(
    void *zmq, const struct keyfile *key, uint32_t server, struct err *err)
{
	if (key == NULL) /* also after an endpoint that had keys */
		return zsock_profile_set(zmq, ZMQ_CURVE_SERVER, 0, err);
	if (set_bytes(zmq, ZMQ_CURVE_PUBLICKEY, key->public, ZSOCK_KEY_BYTES,
		err) != 0 ||
	    set_bytes(zmq, ZMQ_CURVE_SECRETKEY, key->secret, ZSOCK_KEY_BYTES,
		err) != 0)
		return -1;
	return set_bytes(zmq, ZMQ_CURVE_SERVERKEY, key->server[server],
	    ZSOCK_KEY_BYTES, err);
}

static int
zsock_profile_endpoint(void *zmq, const char *endpoint, struct err *err)
{
	bool ipc = strncmp(endpoint, "ipc:", 4) == 0;

	/* The kernel looks for peers that are gone, not libzmq: its heartbeats
	 * abort the process when they meet a connection that failed while its
	 * input was stopped, because the queue was full (4.3.4 and 4.3.5). */
	if (zsock_profile_set(zmq, ZMQ_TCP_KEEPALIVE, 1, err) != 0 ||
	    zsock_profile_set(
		zmq, ZMQ_TCP_KEEPALIVE_IDLE, PROBE_SECONDS, err) != 0 ||
	    zsock_profile_set(
		zmq, ZMQ_TCP_KEEPALIVE_INTVL, PROBE_SECONDS, err) != 0 ||
	    zsock_profile_set(zmq, ZMQ_TCP_KEEPALIVE_CNT, PROBES, err) != 0 ||
	    zsock_profile_set(zmq, ZMQ_TCP_MAXRT, UNACKNOWLEDGED_MS, err) != 0)
		return -1;
	if (zsock_profile_set(zmq, ZMQ_RECONNECT_IVL_MAX,
		ipc ? RECONNECT_IPC_MAX_MS : RECONNECT_MAX_MS, err) != 0)
		return -1;
	/* Only for addresses that need it: with this option a host name is
	 * looked up as IPv6 only. */
	return zsock_profile_set(
	    zmq, ZMQ_IPV6, strchr(endpoint, '[') != NULL, err);
}

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
	char endpoint[ENDPOINT_BYTES_MAX];
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
