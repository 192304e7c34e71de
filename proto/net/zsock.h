/*
 * zsock - a ZeroMQ socket with every option set in one place.
 *
 * Two kinds: a listener (ROUTER, bound) and a connection (DEALER, connected).
 * A message is a value: routing frames, then exactly one frame; any other
 * shape is dropped frame by frame and counted.  Nothing here blocks.  One
 * context per process, made by the first socket; libzmq's random numbers are
 * seeded from getrandom before (4.3.4 never does, and a peer could then guess
 * the routing ids of others and make the process abort).
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_ZSOCK_H
#define PROTO_NET_ZSOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

enum {
	ZSOCK_ROUTE_BYTES_MAX = 256, /* all routing frames of a message */
	ZSOCK_ENDPOINT_BYTES_MAX = 256,
	ZSOCK_KEY_BYTES = 32,            /* curve25519, public or secret */
	ZSOCK_CONNECTS_PER_SECOND = 100, /* the default */
	ZSOCK_CONNECTS_MAX = 1000000,
};

struct keyfile;
struct zsock; /* opaque */

enum zsock_kind {
	ZSOCK_LISTENER, /* ROUTER: bind; messages carry the route of the peer */
	ZSOCK_LINE, /* DEALER: connect; messages carry the route behind us */
};

struct zsock_options {
	enum zsock_kind kind;
	uint32_t
	    queue_messages; /* high-water mark in each direction, per peer */
	/* The same for replies (out of a listener, into a connection), which
	 * are small and come in bursts; 0: queue_messages. */
	uint32_t answer_messages;
	uint32_t frame_bytes_max;
	uint32_t connects_per_second; /* connections a second to a TCP listener;
					 0: no limit */
	bool insecure;                /* TCP without keys and encryption */
	/* The TCP endpoints of a listener speak CURVE with this secret key;
	 * there must be an authenticator (proto/auth/auth.h). */
	const unsigned char *server_secret; /* ZSOCK_KEY_BYTES, or NULL */
	/* A connection to a TCP listener uses this key, which must live as
	 * long. */
	const struct keyfile *key;
};

struct zsock_counters {
	uint64_t received, sent;
	uint64_t received_bytes, sent_bytes;
	uint64_t malformed;   /* wrong number of frames, route too long */
	uint64_t unreachable; /* the peer was gone */
	uint64_t full;        /* would have blocked */
	uint64_t unkeyed; /* dropped: without a key, at a listener with keys */
	uint64_t handshakes_failed, accepts_failed;
	uint64_t
	    connections_evicted; /* evicted: share of descriptors used up */
	uint64_t connections_throttled; /* pauses of the listener: too many
					   connections a second */
	uint64_t connections_dropped;   /* dropped: more unfinished data than a
					   message has */
	uint64_t
	    connections; /* made so far; a connection counts each reconnect */
	uint32_t peers;  /* connected now; of a connection: 0 or 1 */
};

/* The routing frames of a message: (length byte, bytes) one after another.
 * Reply to a message by sending with its route. */
struct route {
	uint16_t bytes;
	unsigned char at[ZSOCK_ROUTE_BYTES_MAX];
};

/* The sender of a message: a peer that has proved a key (CURVE), or one of a
 * Unix socket, or of a listener with --insecure. */
struct zsock_peer {
	bool keyed;
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

/* Returns a new socket in `*zsock`. */
int zsock_open(
    struct zsock **zsock, const struct zsock_options *options, struct err *err);
void zsock_close(struct zsock **zsock);
/* As zsock_close, but sent messages get this long to leave; the close of the
 * last socket waits for it. */
void zsock_finish(struct zsock **zsock, int64_t limit_ns);

/* "ipc:///path", "tcp://127.0.0.1:5570".  TCP needs a key or options.insecure;
 * ipc never has keys.  An ipc listener is mode 0660 and refuses a path that
 * another process listens on.  A listener may be bound to several endpoints;
 * zsock_endpoint is the last. */
int zsock_bind(struct zsock *zsock, const char *endpoint, struct err *err);
int zsock_connect(struct zsock *zsock, const char *endpoint, struct err *err);
/* Drop the connection and make a new one at once, to the same endpoint or
 * another; after a failed handshake with the next of the server's keys. */
int zsock_reconnect(struct zsock *zsock, struct err *err);
int zsock_move(struct zsock *zsock, const char *endpoint, struct err *err);
/* Does options.key differ from the key of the connection?  Then zsock_show_key
 * connects again with it. */
bool zsock_has_other_key(const struct zsock *zsock);
int zsock_show_key(struct zsock *zsock, struct err *err);
/* Bind all TCP endpoints of a listener again, with another key.  Peers must
 * reconnect.  After -1 the listener is unusable. */
int zsock_rekey(
    struct zsock *zsock, const unsigned char *server_secret, struct err *err);

/* The result of a connection's handshake.  libzmq gives up after some
 * failures: to go on, call zsock_reconnect (at once for ZSOCK_TRY_NEXT, after
 * a while for the others). */
enum zsock_trouble {
	ZSOCK_FINE,      /* nothing is known */
	ZSOCK_TRY_NEXT,  /* failed; the server has another key to try */
	ZSOCK_REFUSED,   /* the listener refuses this key */
	ZSOCK_OTHER_KEY, /* apparently none of the server keys is the listener's
			  */
	ZSOCK_UNLIKE,    /* only one of the two ends uses keys */
};
/* Other than ZSOCK_FINE and ZSOCK_TRY_NEXT: `err` says what is wrong and what
 * to do. */
enum zsock_trouble zsock_trouble(const struct zsock *zsock, struct err *err);

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
enum zsock_result zsock_pass(
    struct zsock *zsock, struct zsock_message *message);

const struct zsock_counters *zsock_counters(const struct zsock *zsock);
const char *zsock_endpoint(
    const struct zsock *zsock); /* as bound or connected */

/* ---- for the loop ---- */

/* Readable (level-triggered) when the socket may be ready or peers may have
 * connected or disconnected; zsock_is_ready and zsock_watch clear it. */
int zsock_fd(const struct zsock *zsock);
int zsock_watch_fd(const struct zsock *zsock);

/* Is a message available, or can a connection that returned ZSOCK_AGAIN take
 * one again (reported once)? */
bool zsock_is_ready(struct zsock *zsock);

/* Process connection events; true when `peers` changed, or a handshake
 * failed. */
bool zsock_watch(struct zsock *zsock);

/* Are there unauthenticated TCP connections to a listener?  Then call
 * zsock_check_unproven every CONNECTION_LIMIT_LOOK_NS: it drops those that send
 * without end. */
bool zsock_has_unproven(const struct zsock *zsock);
void zsock_check_unproven(struct zsock *zsock);

#endif
