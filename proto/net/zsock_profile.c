/*
 * zsock_profile - the options that poolscope sets on libzmq sockets.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/zsock_profile.h"

#include <errno.h>
#include <string.h>

#include "proto/net/libzmq.h"

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

int
zsock_profile_set(void *zmq, int option, int value, struct err *err)
{
	if (libzmq.setsockopt(zmq, option, &value, sizeof(value)) != 0)
		return err_set(err, "libzmq option %d = %d: %s", option, value,
		    libzmq.strerror(errno));
	return 0;
}

int
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

/* Only peers that the authenticator admits may connect to a listener with keys:
 * without an answer from it nobody may.  libzmq enforces that since 4.3.3, by a
 * draft option, so an older one that refuses the option is no error.  A domain
 * cannot be removed again: a Unix socket bound later gets one of its own. */
int
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

int
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

int
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
