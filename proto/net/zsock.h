/*
 * zsock - a ZeroMQ socket with every option set in one place.
 *
 * Two kinds: a listener (ROUTER, bound) and a line (DEALER, connected).  A
 * message is a value: routing frames, then exactly one frame; anything else
 * from a peer is dropped frame by frame and counted.  Nothing here blocks.  One
 * context per process, made by the first port; libzmq's random numbers are
 * seeded from getrandom before it (4.3.4 never does, and a peer could then
 * guess the ids of others and make the process abort).
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
	ZSOCK_CONNECTS_PER_SECOND = 100, /* unless somebody says otherwise */
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
	uint32_t queue_messages; /* high-water mark each way, per peer */
	/* The same for answers (out of a listener, into a line), which are
	 * small and come in bursts; 0: queue_messages. */
	uint32_t answer_messages;
	uint32_t frame_bytes_max;
	uint32_t connects_per_second; /* of a listener of TCP; 0: any number */
	bool insecure; /* TCP without keys, which is without encryption too */
	/* A listener's TCP endpoints speak CURVE with this secret key; there
	 * must be a gate, which lets peers in (proto/auth/auth.h). */
	const unsigned char *server_secret; /* ZSOCK_KEY_BYTES, or NULL */
	/* A line comes to a TCP listener with this; it must live as long. */
	const struct keyfile *key;
};

struct zsock_counters {
	uint64_t received, sent;
	uint64_t received_bytes, sent_bytes;
	uint64_t malformed;   /* wrong number of frames, route too long */
	uint64_t unreachable; /* the peer was gone */
	uint64_t full;        /* would have blocked */
	uint64_t unkeyed;     /* dropped: of no key, at a listener with keys */
	uint64_t handshakes_failed, accepts_failed;
	uint64_t connections_evicted;   /* beyond the share of descriptors */
	uint64_t connections_throttled; /* times that too many came, and none
					   could */
	uint64_t cut;                   /* held back more than a message has */
	uint64_t connections; /* made so far; a line: again and again */
	uint32_t peers;       /* connected now; a line: 0 or 1 */
};

/* The routing frames of a message: (length byte, bytes) one after another.
 * Answer a message by sending with its route. */
struct route {
	uint16_t bytes;
	unsigned char at[ZSOCK_ROUTE_BYTES_MAX];
};

/* Whom a message comes from: a peer that has shown a key (CURVE), or one of a
 * Unix socket, or of a listener with --insecure. */
struct zsock_peer {
	bool keyed;
	unsigned char key[ZSOCK_KEY_BYTES]; /* public; zero without one */
};

/* A message that was received.  The frame is a view into libzmq's memory,
 * valid until the next zsock_recv into the same message or message_clear. */
struct message {
	struct route route;
	struct zsock_peer peer; /* doors only */
	struct text frame;
	_Alignas(16) unsigned char handle[64];
	bool held;
};
void message_init(struct message *message);
void message_clear(struct message *message);

/* Returns a new port in `*port`. */
int zsock_open(
    struct zsock **zsock, const struct zsock_options *options, struct err *err);
void zsock_close(struct zsock **zsock);
/* As zsock_close, but what was sent may still leave, for at most so long; the
 * close of the last port waits for it. */
void zsock_finish(struct zsock **zsock, int64_t limit_ns);

/* "ipc:///path", "tcp://127.0.0.1:5570".  TCP needs a key or
 * options.insecure; ipc never has keys, whatever the port has.  An ipc listener
 * is mode 0660 and refuses to take over a path that another process listens on.
 * A listener may be bound to several endpoints; zsock_endpoint is the last. */
int zsock_bind(struct zsock *zsock, const char *endpoint, struct err *err);
int zsock_connect(struct zsock *zsock, const char *endpoint, struct err *err);
/* Drop the connection and make a new one, at once: to the same place, or to
 * another; after a handshake that failed with the next of the server's keys. */
int zsock_reconnect(struct zsock *zsock, struct err *err);
int zsock_move(struct zsock *zsock, const char *endpoint, struct err *err);
/* Is the key in options.key another one than the line came with?  Then
 * zsock_show_key connects anew with that. */
bool zsock_has_other_key(const struct zsock *zsock);
int zsock_show_key(struct zsock *zsock, struct err *err);
/* Bind all TCP endpoints of a listener anew, with another key.  Their peers
 * have to connect anew.  After -1 the listener is not fit for use. */
int zsock_rekey(
    struct zsock *zsock, const unsigned char *server_secret, struct err *err);

/* What became of a line's handshake.  libzmq gives up after some failures:
 * whoever wants to go on calls zsock_reconnect (at once for ZSOCK_TRY_NEXT,
 * after a while for the others). */
enum zsock_trouble {
	ZSOCK_FINE,      /* nothing known */
	ZSOCK_TRY_NEXT,  /* failed; the server has another key to try */
	ZSOCK_REFUSED,   /* the listener does not let this key in */
	ZSOCK_OTHER_KEY, /* none of the server's keys is the listener's, it
			    seems */
	ZSOCK_UNLIKE,    /* only one of the two ends has keys */
};
/* Other than ZSOCK_FINE and ZSOCK_TRY_NEXT: `err` says what, and what to do. */
enum zsock_trouble zsock_trouble(const struct zsock *zsock, struct err *err);

enum zsock_result { ZSOCK_DONE, ZSOCK_AGAIN, ZSOCK_GONE };

/* ZSOCK_DONE with a message, or ZSOCK_AGAIN: nothing is there. */
enum zsock_result zsock_recv(struct zsock *zsock, struct message *message);

/* Copies `frame`.  ZSOCK_AGAIN: the queue is full, nothing was sent.
 * ZSOCK_GONE: no such peer (doors only). */
enum zsock_result zsock_send(
    struct zsock *zsock, const struct route *route, struct text frame);

/* Pass a received message on without copying its frame; the message is then
 * empty.  When it was not sent it is as it was. */
enum zsock_result zsock_pass(struct zsock *zsock, struct message *message);

const struct zsock_counters *zsock_counters(const struct zsock *zsock);
const char *zsock_endpoint(
    const struct zsock *zsock); /* as bound or connected */

/* ---- for the loop ---- */

/* Readable (level-triggered) when the port may be ready or peers may have
 * come or gone; zsock_is_ready and zsock_watch make them silent again. */
int zsock_fd(const struct zsock *zsock);
int zsock_watch_fd(const struct zsock *zsock);

/* Is a message there, or can a line that answered ZSOCK_AGAIN take one again
 * (said once)? */
bool zsock_is_ready(struct zsock *zsock);

/* Take in what happened to connections; true when `peers` changed, or a line
 * is in trouble. */
bool zsock_watch(struct zsock *zsock);

/* Are there strangers (connections over TCP to a listener)?  Then zsock_guard
 * wants to be called every CONNECTION_LIMIT_LOOK_NS: it cuts those that send
 * without an end. */
bool zsock_has_strangers(const struct zsock *zsock);
void zsock_guard(struct zsock *zsock);

#endif
