/*
 * zsock - a ZeroMQ socket with every option set in one place.
 *
 * Two kinds: a listener (ROUTER, bound) and a connection (DEALER, connected).
 * A message is routing frames followed by exactly one frame of content; any
 * other shape is dropped frame by frame and counted.  Nothing here blocks.
 *
 * The first socket makes the one context of the process, and seeds libzmq's
 * random numbers from getrandom: 4.3.4 itself never does, and a peer could then
 * guess the routing ids of others and make the process abort.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_ZSOCK_H
#define PROTO_NET_ZSOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/net/endpoint.h"
#include "proto/net/route.h"

enum {
	ZSOCK_KEY_BYTES = 32,            /* curve25519, public or secret */
	ZSOCK_CONNECTS_PER_SECOND = 100, /* default of connects_per_second */
	ZSOCK_CONNECTS_MAX = 1000000,
};

struct keyfile;
struct zsock; /* opaque */

enum zsock_kind {
	ZSOCK_LISTENER, /* ROUTER, bound; messages carry the route of the peer
			 */
	/* DEALER, connected; messages carry the routes of those whom this
	 * process forwards for. */
	ZSOCK_CONNECTION,
};

struct zsock_options {
	enum zsock_kind kind;
	/* High-water mark in each direction, for each peer. */
	uint32_t queue_messages;
	/* That of replies (sent by a listener, received by a connection), which
	 * are small and come in bursts; 0: queue_messages. */
	uint32_t reply_messages;
	uint32_t frame_bytes_max;
	/* Limit of new connections to a TCP listener; 0: none. */
	uint32_t connects_per_second;
	bool insecure; /* TCP without keys and encryption */
	/* The group of the process may use the Unix sockets of a listener
	 * (proto/os/owner/socket_file.h). */
	bool for_group;
	/* TCP endpoints of a listener use CURVE with this secret key of
	 * ZSOCK_KEY_BYTES, which must outlive the socket; it requires an
	 * authenticator (proto/auth/auth.h).  NULL: no keys. */
	const unsigned char *server_secret;
	/* A connection to a TCP listener uses this key, which must outlive the
	 * socket. */
	const struct keyfile *key;
};

struct zsock_counters {
	uint64_t received, sent;
	uint64_t received_bytes, sent_bytes;
	/* Received and dropped: wrong number of frames, or route too long;
	 * without a key, at a listener with keys. */
	uint64_t malformed, unkeyed;
	/* Not sent: the peer was gone; the queue was full. */
	uint64_t unreachable, full;
	uint64_t handshakes_failed, accepts_failed;
	uint64_t connections_evicted;   /* the listener had too many */
	uint64_t connections_throttled; /* pauses, after too many a second */
	uint64_t connections_dropped;   /* sent more than a message may have */
	uint64_t connections;           /* made so far, reconnects included */
	uint32_t peers; /* connected now; of a connection: 0 or 1 */
};

/* The sender of a message: keyed when it has proved a key (CURVE), not keyed on
 * a Unix socket and at a listener with --insecure.  Of a Unix socket the kernel
 * reports the user that connected. */
struct zsock_peer {
	bool keyed;
	bool has_uid;
	uint32_t uid;
	unsigned char key[ZSOCK_KEY_BYTES]; /* public; zero without a key */
};

/* A received message.  The frame is a view into libzmq's memory, valid until
 * the next zsock_recv into the same message or zsock_message_clear. */
struct zsock_message {
	struct route route;
	struct zsock_peer peer; /* listeners only */
	struct text frame;
	_Alignas(16) unsigned char handle[64];
	bool held;
};
void zsock_message_init(struct zsock_message *message);
void zsock_message_clear(struct zsock_message *message);
/* Has the connection ended that a message came by?  What waited in queues is
 * still received. */
bool zsock_sender_is_gone(struct zsock_message *message);

/* Returns a new socket in `*zsock`. */
int zsock_open(
    struct zsock **zsock, const struct zsock_options *options, struct err *err);
void zsock_close(struct zsock **zsock);
/* As zsock_close, but messages in the queue may still be sent for `limit_ns`;
 * the close of the process's last socket waits for that. */
void zsock_finish(struct zsock **zsock, int64_t limit_ns);

/* An endpoint is "ipc:///path" or "tcp://127.0.0.1:5570".  TCP needs a key or
 * options.insecure; ipc never has keys.  The directory of an ipc endpoint must
 * be one that only its owner can write, who is this user for a listener.
 * Binding fails when another process listens on the path.  A listener may be
 * bound to several endpoints. */
int zsock_bind(struct zsock *zsock, const char *endpoint, struct err *err);
int zsock_connect(struct zsock *zsock, const char *endpoint, struct err *err);
/* Drop the connection and make a new one at once, to the same endpoint or to
 * another.  After a failed handshake it tries the next server key of
 * options.key. */
int zsock_reconnect(struct zsock *zsock, struct err *err);
int zsock_reconnect_to(
    struct zsock *zsock, const char *endpoint, struct err *err);
/* Has *options.key changed since the connection was made?  Then zsock_use_key
 * connects again with the new key. */
bool zsock_key_has_changed(const struct zsock *zsock);
int zsock_use_key(struct zsock *zsock, struct err *err);
/* Bind all TCP endpoints of a listener again, with another key.  Peers must
 * reconnect.  After -1 the listener is unusable. */
int zsock_rekey(
    struct zsock *zsock, const unsigned char *server_secret, struct err *err);

/* Why the handshakes of a connection fail.  libzmq gives up after some of them:
 * call zsock_reconnect, at once after ZSOCK_TRY_NEXT, after a while otherwise.
 * proto/auth/refusal.h explains them to the user. */
enum zsock_trouble {
	ZSOCK_FINE,               /* no failure is known */
	ZSOCK_TRY_NEXT,           /* the key file has another server key */
	ZSOCK_REFUSED,            /* the listener refuses our key */
	ZSOCK_WRONG_SERVER,       /* the listener has none of our server keys */
	ZSOCK_MECHANISM_MISMATCH, /* only one of the two ends uses keys */
	/* The connection has no key, and the listener closes it: as far as we
	 * can know, because it requires one. */
	ZSOCK_CLOSED_WITHOUT_KEY,
};
enum zsock_trouble zsock_trouble(const struct zsock *zsock);
/* Has a connection never reached anybody, because nobody listens at its
 * endpoint?  Then `err` says so, without the endpoint.  Whoever may start soon
 * waits nevertheless. */
bool zsock_is_absent(const struct zsock *zsock, struct err *err);
/* options.key of a connection, or NULL. */
const struct keyfile *zsock_key(const struct zsock *zsock);

enum zsock_result { ZSOCK_DONE, ZSOCK_AGAIN, ZSOCK_GONE };

/* ZSOCK_DONE with a message, or ZSOCK_AGAIN without. */
enum zsock_result zsock_recv(
    struct zsock *zsock, struct zsock_message *message);

/* Copies `frame`.  ZSOCK_AGAIN: the queue is full, nothing was sent.
 * ZSOCK_GONE: no such peer (listeners only). */
enum zsock_result zsock_send(
    struct zsock *zsock, const struct route *route, struct text frame);

/* Forward a received message without copying its frame; the message is then
 * empty.  If it was not sent it is unchanged. */
enum zsock_result zsock_forward(
    struct zsock *zsock, struct zsock_message *message);

const struct zsock_counters *zsock_counters(const struct zsock *zsock);
/* The last one bound (with the actual port), or the connected one. */
const char *zsock_endpoint(const struct zsock *zsock);

/* ---- for the loop ---- */

/* Readable (level-triggered) when the socket may be ready or peers may have
 * connected or disconnected; zsock_is_ready and zsock_watch clear it. */
int zsock_fd(const struct zsock *zsock);
int zsock_watch_fd(const struct zsock *zsock);

/* Is a message available, or can a connection that returned ZSOCK_AGAIN send
 * again (true once)? */
bool zsock_is_ready(struct zsock *zsock);

/* Process the monitor's events; true when a peer connected or disconnected, or
 * a handshake of a connection failed, or its first attempt to connect. */
bool zsock_watch(struct zsock *zsock);

/* Has a listener TCP connections, or does it pause?  Then call
 * zsock_check_connections every CONNECTION_LIMIT_CHECK_NS: it drops connections
 * that send without completing a message, and ends the pause. */
bool zsock_needs_checks(const struct zsock *zsock);
void zsock_check_connections(struct zsock *zsock);

#endif
