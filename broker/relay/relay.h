/*
 * relay - passes messages up to the aggregator of their partition, and replies
 * back down.
 *
 * The relay stores nothing: the return route travels with each message.  When
 * an aggregator's queue is full the relay answers nack "busy" and drops the
 * message; the sender still has it on disk.  When a connected aggregator is
 * only slow for a moment (it commits), the relay pauses the listener instead,
 * so that a burst does not cost every sender a retry.  An aggregator that
 * stays full for RELAY_FULL_NS_MAX is "stuck": the relay stops waiting for it
 * until it takes a message.
 * SPDX-License-Identifier: MIT
 */
#ifndef BROKER_RELAY_RELAY_H
#define BROKER_RELAY_RELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/relay/relay_drop_log.h"
#include "broker/relay/routes.h"
#include "broker/relay/upstream.h"
#include "proto/auth/auth.h"
#include "proto/auth/rate_limit.h"
#include "proto/net/loop/loop.h"
#include "proto/net/zsock.h"
#include "proto/wire/wire.h"

/* Replies queued for a peer per message queued from it: a sender with eight
 * batches in flight gets eight replies at once. */
enum {
	RELAY_REPLIES = 4,
	RELAY_BROKERS_MAX = 6, /* in a row: routes have 8 frames */
};

#define RELAY_FULL_NS_MAX (INT64_C(50) * 1000000)

/* Counters that the sockets do not keep. */
struct relay_counters {
	uint64_t busy;         /* nack busy */
	uint64_t rate_limited; /* nack busy: over the ingest rate of a key */
	uint64_t owner;        /* nack owner: no route for the partition */
	uint64_t refused;      /* nack malformed or unsupported */
	uint64_t unforwarded;  /* dropped: the route had no room for the peer's
				  identity */
	uint64_t unsolicited;  /* replies from the wrong direction: dropped */
	uint64_t statuses;     /* queries answered by the broker */
	uint64_t
	    misrouted; /* nack owner from an aggregator: routes are outdated */
	uint64_t invalid; /* malformed frames of closed upstreams */
	uint64_t malformed[WIRE_FAULTS];
};

struct relay {
	struct loop *loop;
	const struct routes *routes;
	uint64_t table_version; /* version of the partition table; 0: none */
	/* Called on nack "owner" from an aggregator; may be NULL. */
	void (*on_misrouted)(void *arg);
	void *arg;
	struct text node; /* our node name in status replies */
	int64_t started_ns;
	int64_t key_ns; /* the key is not read again before */
	struct zsock *listener;
	struct auth *auth; /* NULL: no keys */
	struct rate_limit *rate_limit;
	bool insecure;                                /* TCP without keys */
	struct upstream upstream[ROUTES_TARGETS_MAX]; /* one per target */
	uint32_t queue_messages;             /* queue limit of one upstream */
	const struct client_key_values *key; /* of the upstreams */
	uint32_t upstreams;
	uint32_t peers_max; /* warn above this many peers */
	bool warned;
	int64_t version_ns; /* of the warning of another version */
	int64_t circle_ns;  /* of the warning of brokers in a circle */
	int waiting; /* the listener is paused for this upstream; -1: not paused
		      */
	struct zsock_message message;
	struct loop_timer full_timeout;
	struct relay_counters counters;
	struct relay_drop_log drop_log;
};

struct relay_options {
	uint32_t queue_messages;
	uint64_t memory_bytes_max;
	bool insecure;
	void (*on_misrouted)(void *arg);
	void *arg;
	struct auth *auth;            /* NULL: no listener needs keys */
	uint32_t connects_per_second; /* proto/net/zsock.h */
	uint64_t ingest_rate; /* bytes/s per key; proto/auth/rate_limit.h */
	const struct client_key_values *key; /* of the upstreams; outlives
					      * the relay */
};

/* Upper bound of the memory that the queues of one peer take. */
uint64_t relay_peer_bytes(uint32_t queue_messages);

/* Opens the listener (relay->listener, not bound yet) and an upstream for
 * every target of `routes`, which must outlive the relay.  After -1 as well,
 * relay_clear closes what is open. */
int relay_start(struct relay *relay, struct loop *loop,
    const struct routes *routes, const struct relay_options *options,
    struct err *err);

/* Use other routes, which must outlive the relay or the next change. Upstreams
 * to targets that stay are kept; messages lost with a removed upstream are
 * sent again by their senders.  -1: nothing was changed. */
int relay_change(
    struct relay *relay, const struct routes *routes, struct err *err);

/* Warn when the queues of all peers could exceed this many bytes. */
void relay_set_memory(struct relay *relay, uint64_t bytes_max);

/* The listener's key has changed: bind its TCP endpoints again. */
int relay_rekey(struct relay *relay, struct err *err);
/* The client key was read again (client_key_renew): reconnect the upstreams
 * that use another one. */
void relay_renew_key(struct relay *relay);

/* Stop accepting; pass on the messages that have already arrived. */
void relay_stop(struct relay *relay);

/* Close everything.  Messages already passed on get at most one second to
 * leave. */
void relay_clear(struct relay *relay);

#endif
