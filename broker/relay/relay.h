/*
 * relay - passes messages up to the aggregator that keeps their partition,
 * and answers down again.
 *
 * It holds nothing: the way back travels with each message.  What an
 * aggregator has no room for is answered with nack "busy" and forgotten; the
 * sender has it on its disk.  An aggregator that is connected and merely slow
 * for a moment (it is committing) is waited for with the listener shut, so that
 * a burst does not cost everybody a retry; one that stays full for
 * RELAY_PATIENCE_NS is "stuck" and gets no patience until it takes something.
 * SPDX-License-Identifier: MIT
 */
#ifndef BROKER_RELAY_RELAY_H
#define BROKER_RELAY_RELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/relay/drop_log.h"
#include "broker/relay/routes.h"
#include "broker/relay/upstream.h"
#include "proto/auth/auth.h"
#include "proto/auth/rate_limit.h"
#include "proto/net/loop.h"
#include "proto/net/zsock.h"
#include "proto/wire/wire.h"

/* Answers queued for a peer, for each message queued from it: a sender with
 * eight batches under way gets eight answers at once. */
enum { RELAY_ANSWERS = 4 };

#define RELAY_PATIENCE_NS (INT64_C(50) * 1000000)

/* What the ports do not count themselves. */
struct relay_counters {
	uint64_t busy;        /* nack busy */
	uint64_t limited;     /* ... for too many bytes of a key */
	uint64_t owner;       /* nack owner: no route for the partition */
	uint64_t refused;     /* nack malformed or unsupported */
	uint64_t unforwarded; /* no room in the route for whom we
				 forward_identity for */
	uint64_t unsolicited; /* answers that came the wrong way: dropped */
	uint64_t statuses;    /* questions answered here */
	uint64_t strange;     /* answers "owner": our routes are wrong or old */
	uint64_t invalid;     /* of lines that are closed */
	uint64_t malformed[WIRE_FAULTS];
};

struct relay {
	struct loop *loop;
	const struct routes *routes;
	uint64_t table_version;   /* of the partition table; 0: none */
	void (*on_strange)(void); /* an aggregator said "owner"; may be NULL */
	struct text node;         /* ours, in answers to status */
	int64_t started_ns;
	struct zsock *listener;
	struct auth *auth; /* NULL: nobody has a key */
	struct rate_limit *rate_limit;
	bool insecure;                            /* TCP without keys */
	struct upstream line[ROUTES_TARGETS_MAX]; /* one a target */
	uint32_t queue_messages;                  /* of a line */
	const struct client_key_values *key;      /* ... */
	uint32_t lines;
	uint32_t peers_max; /* more are worth a warning */
	bool warned;
	int waiting; /* the listener is shut for this line, else -1 */
	struct message message;
	struct loop_timer patience;
	struct relay_counters counters;
	struct drop_log drop_log;
};

struct relay_options {
	uint32_t queue_messages;
	uint64_t memory_bytes_max;
	bool insecure;
	void (*on_strange)(void);
	struct auth *auth;            /* NULL: no listener needs keys */
	uint32_t connects_per_second; /* proto/net/zsock.h */
	uint64_t key_bytes;           /* a second; proto/auth/rate_limit.h */
	const struct client_key_values *key; /* of lines up; outlives it */
};

/* Most memory that one peer's queues can take. */
uint64_t relay_peer_bytes(uint32_t queue_messages);

/* Opens the listener (not yet bound anywhere: relay->listener) and a line to
 * every target of `routes`, which must outlive the relay. */
int relay_start(struct relay *relay, struct loop *loop,
    const struct routes *routes, const struct relay_options *options,
    struct err *err);

/* Go by other routes, which must outlive the relay, or the next change.  Lines
 * to targets that are in both stay; what a line that goes still owes is asked
 * for again.  -1: everything is as before. */
int relay_change(
    struct relay *relay, const struct routes *routes, struct err *err);

/* More peers than so many bytes are enough for are worth a warning. */
void relay_set_memory(struct relay *relay, uint64_t bytes_max);

/* For relay_change: a line's place in the loop, and an end to waiting for
 * one. */
int relay_attend_line(
    struct relay *relay, struct zsock *zsock, struct err *err);
void relay_wait_no_more(struct relay *relay);
/* The listener's key is another one: bind its TCP endpoints anew. */
int relay_rekey(struct relay *relay, struct err *err);
/* The key with which lines go up was read again (client_key_renew). */
void relay_show_key(struct relay *relay);

/* Stop taking; pass on what is here already. */
void relay_stop(struct relay *relay);

/* Close everything.  What was passed on before may still leave, for at most
 * one second. */
void relay_clear(struct relay *relay);

#endif
