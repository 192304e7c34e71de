/*
 * relay - passes messages up to the aggregator of their partition, and replies
 * back down.
 * SPDX-License-Identifier: MIT
 */
#include "broker/relay/relay.h"

#include <assert.h>

#include "broker/relay/relay_replies.h"
#include "proto/auth/forwarded_peer.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum {
	MESSAGES_AT_ONCE =
	    64, /* messages before the other direction gets its turn */
	RETRY_MIN_MS = 200,
	RETRY_MAX_MS = 1000,
	DRAIN_MESSAGES_MAX = 1024,
	ROUTE_NONE = -1,
};

#define DRAIN_NS (1 * NS_PER_SECOND)

/* ---- up ---- */

static void
nack(struct relay *relay, const struct wire_header *question,
    enum wire_reason reason)
{
	unsigned char frame[RELAY_REPLY_NACK_BYTES];
	struct route back = relay->message.route;
	uint32_t retry_ms = 0, random;
	struct text detail = { NULL, 0 };
	size_t bytes;

	if (reason == WIRE_NACK_BUSY) {
		hash_random_bytes(&random, sizeof(random));
		retry_ms =
		    RETRY_MIN_MS + random % (RETRY_MAX_MS - RETRY_MIN_MS + 1);
	}
	if (reason == WIRE_NACK_FORBIDDEN)
		detail = auth_why();
	bytes = relay_reply_nack(frame, question, reason, retry_ms, detail);
	forwarded_peer_take(&back);
	/* A peer that is gone or full loses its reply; the socket counts it. */
	zsock_send(relay->listener, &back,
	    (struct text){ (const char *)frame, (uint32_t)bytes });
}

/* Of a frame from either side. */
static void
warn_version(struct relay *relay, struct text frame, const char *who)
{
	unsigned version = wire_version(frame);

	if (version != WIRE_VERSION && log_is_due(&relay->version_ns))
		log_warn("%s speaks version %u of the wire protocol, this "
			 "program supports version %d: install the same "
			 "version on both; records wait at their senders",
		    who, version, WIRE_VERSION);
}

static void
refuse(struct relay *relay, const struct wire_header *header,
    enum wire_fault fault)
{
	struct wire_header question = { 0 };

	relay->counters.malformed[fault]++;
	relay->counters.refused++;
	warn_version(relay, relay->message.frame, "a sender");
	if (fault == WIRE_TYPE)
		question =
		    *header; /* otherwise the header was not read completely */
	nack(relay, &question,
	    fault == WIRE_TYPE || fault == WIRE_OTHER_VERSION
		? WIRE_NACK_UNSUPPORTED
		: WIRE_NACK_MALFORMED);
}

/* Never reply to a reply: two programs could go on forever. */
static bool
is_reply(enum wire_type type)
{
	return type == WIRE_WELCOME || type == WIRE_ACK || type == WIRE_NACK ||
	       type == WIRE_PAGE;
}

static void
send_status(struct relay *relay, const struct wire_header *question)
{
	unsigned char frame[RELAY_REPLY_STATUS_BYTES];
	size_t bytes = relay_reply_status(
	    frame, question, relay, !text_equal(auth_readable(), text_of("*")));

	relay->counters.statuses++;
	zsock_send(relay->listener, &relay->message.route,
	    (struct text){ (const char *)frame, (uint32_t)bytes });
}

/* Has the message come through more brokers than anybody has in a row?  Then
 * it goes round, and its sender gets an answer that there is no route. */
static bool
goes_round(struct relay *relay, const struct wire_header *header)
{
	struct zsock_peer peer;
	char partition[NAME_BYTES_MAX + 1];
	bool forwarded;

	if (forwarded_peer_get(&relay->message.route, &peer, &forwarded) <=
	    RELAY_BROKERS_MAX)
		return false;
	if (log_is_due(&relay->circle_ns))
		log_error("a message of partition '%s' has passed more than %d "
			  "brokers: brokers form a circle; no records of it "
			  "get through until --aggregator, --route or the "
			  "partition table of one of them leads to an "
			  "aggregator instead",
		    text_quote(partition, sizeof(partition), header->partition),
		    RELAY_BROKERS_MAX);
	relay->counters.owner++;
	nack(relay, header, WIRE_NACK_OWNER);
	return true;
}

/* Is the peer permitted to send this?  If not, it gets a nack; a bye gets no
 * reply. */
static bool
may_pass(struct relay *relay, const struct wire_header *header)
{
	enum auth_want want = AUTH_PUBLISH;

	if (header->type == WIRE_STATUS)
		want = AUTH_STATUS;
	else if (header->type == WIRE_SELECT || header->type == WIRE_STATS ||
		 header->type == WIRE_FOLLOW)
		want = AUTH_READ;
	if (auth_check(relay->auth, &relay->message, want, header->partition,
		header->node) == AUTH_OK)
		return true;
	if (header->type != WIRE_BYE)
		nack(relay, header, WIRE_NACK_FORBIDDEN);
	return false;
}

/* Add the peer's identity for the aggregator, unless a broker below has
 * already done so. */
static bool
forward_identity(struct relay *relay)
{
	struct zsock_message *message = &relay->message;
	struct zsock_peer peer;
	bool forwarded;

	if (forwarded_peer_get(&message->route, &peer, &forwarded) > 1 ||
	    forwarded)
		return true;
	if (forwarded_peer_add(&message->route, &message->peer))
		return true;
	relay->counters.unforwarded++;
	return false;
}

static void on_listener(void *arg, struct zsock *listener);

static void
pause_listener(struct relay *relay, int upstream)
{
	relay->waiting = upstream;
	loop_remove_zsock(relay->loop, relay->listener);
	loop_set_timer(relay->loop, &relay->full_timeout,
	    clock_monotonic_ns() + RELAY_FULL_NS_MAX, 0);
}

static void
resume_listener(struct relay *relay)
{
	struct err err;

	relay->waiting = ROUTE_NONE;
	loop_stop_timer(relay->loop, &relay->full_timeout);
	/* Re-adding cannot fail: it takes the slot that it has just freed. */
	if (loop_add_zsock(
		relay->loop, relay->listener, on_listener, relay, &err) != 0)
		assert(!"the loop has no slot for the listener");
}

/* Pass relay->message to an upstream; false when the upstream is full and
 * worth waiting for. */
static bool
pass_up(struct relay *relay, int number, const struct wire_header *header,
    bool may_wait)
{
	struct upstream *upstream = &relay->upstream[number];

	if (zsock_forward(upstream->zsock, &relay->message) == ZSOCK_DONE) {
		upstream->stuck = false;
		return true;
	}
	if (may_wait && !upstream->stuck &&
	    zsock_counters(upstream->zsock)->peers > 0)
		return false;
	upstream->stuck = true;
	relay->counters.busy++;
	nack(relay, header, WIRE_NACK_BUSY);
	return true;
}

static void
take(struct relay *relay, bool may_wait)
{
	struct wire_header header;
	enum wire_fault fault = wire_peek(relay->message.frame, &header);
	int upstream;

	if (is_reply(header.type)) {
		relay->counters.unsolicited++;
		return;
	}
	if (fault != WIRE_OK) {
		refuse(relay, &header, fault);
		return;
	}
	if (!may_pass(relay, &header) || goes_round(relay, &header))
		return;
	if (header.type == WIRE_STATUS) {
		send_status(relay, &header);
		return;
	}
	if (header.type == WIRE_BATCH &&
	    !rate_limit_take(
		relay->rate_limit, &relay->message, clock_monotonic_ns())) {
		relay->counters.rate_limited++;
		nack(relay, &header, WIRE_NACK_BUSY);
		return;
	}
	upstream = routes_find(relay->routes, header.partition);
	if (upstream == ROUTE_NONE) {
		relay->counters.owner++;
		nack(relay, &header, WIRE_NACK_OWNER);
	} else if (forward_identity(relay) &&
		   !pass_up(relay, upstream, &header, may_wait)) {
		pause_listener(relay, upstream);
	}
}

/* The upstream that the listener is paused for may have room again, or is
 * given up. */
static void
try_again(struct relay *relay, bool may_wait)
{
	struct wire_header header;

	/* The same header was decoded before. */
	wire_peek(relay->message.frame, &header);
	if (pass_up(relay, relay->waiting, &header, may_wait))
		resume_listener(relay);
}

static void
on_full_timeout(void *arg, struct loop_timer *timer)
{
	struct relay *relay = arg;

	(void)timer;
	try_again(relay, false);
	relay_drop_log_note(&relay->drop_log);
}

static void
note_peers(struct relay *relay)
{
	uint32_t peers = zsock_counters(relay->listener)->peers;

	if (peers <= relay->peers_max) {
		relay->warned = false;
	} else if (!relay->warned) {
		relay->warned = true;
		log_warn("%u peers are connected: their queues can exceed "
			 "--memory-max, which suffices for %u; increase it or "
			 "decrease --queue",
		    peers, relay->peers_max);
	}
}

static void
on_listener(void *arg, struct zsock *listener)
{
	struct relay *relay = arg;
	int i;

	note_peers(relay);
	for (i = 0; i < MESSAGES_AT_ONCE && relay->waiting < 0; i++) {
		if (zsock_recv(listener, &relay->message) != ZSOCK_DONE)
			break;
		take(relay, true);
	}
	relay_drop_log_note(&relay->drop_log);
}

/* ---- down ---- */

static void
note_reply(struct relay *relay, struct text frame)
{
	struct wire_header header;

	if (wire_peek(frame, &header) != WIRE_OK || header.type != WIRE_NACK)
		return;
	/* Of an agent's key or of our own, which may have been rotated. */
	if (header.reason == WIRE_NACK_FORBIDDEN &&
	    client_key_forbidden(&relay->key_ns))
		relay_renew_key(relay);
	if (header.reason != WIRE_NACK_OWNER)
		return;
	relay->counters.misrouted++;
	if (relay->on_misrouted != NULL)
		relay->on_misrouted(relay->arg);
}

static void
on_upstream(void *arg, struct zsock *zsock)
{
	struct relay *relay = arg;
	struct zsock_message reply;
	uint32_t number = 0;
	int i;

	while (relay->upstream[number].zsock != zsock)
		number++;
	upstream_check(&relay->upstream[number]);
	if (relay->waiting == (int)number)
		try_again(relay, true);
	zsock_message_init(&reply);
	/* A peer that is full or unreachable loses the reply and asks again. */
	for (i = 0; i < MESSAGES_AT_ONCE; i++) {
		if (zsock_recv(zsock, &reply) != ZSOCK_DONE)
			break;
		note_reply(relay, reply.frame);
		warn_version(relay, reply.frame, zsock_endpoint(zsock));
		forwarded_peer_take(&reply.route);
		zsock_forward(relay->listener, &reply);
	}
	zsock_message_clear(&reply);
	relay_drop_log_note(&relay->drop_log);
}

/* ---- start and stop ---- */

uint64_t
relay_peer_bytes(uint32_t queue_messages)
{
	return (UINT64_C(1) + RELAY_REPLIES) * queue_messages *
	       WIRE_FRAME_BYTES_MAX;
}

int
relay_add_upstream(struct relay *relay, struct zsock *zsock, struct err *err)
{
	return loop_add_zsock(relay->loop, zsock, on_upstream, relay, err);
}

void
relay_stop_waiting(struct relay *relay)
{
	if (relay->waiting >= 0)
		try_again(relay, false);
}

int
relay_start(struct relay *relay, struct loop *loop, const struct routes *routes,
    const struct relay_options *options, struct err *err)
{
	struct zsock_options how = { .kind = ZSOCK_LISTENER,
		.queue_messages = options->queue_messages,
		.reply_messages = RELAY_REPLIES * options->queue_messages,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX,
		.insecure = options->insecure,
		.for_group = true,
		.connects_per_second = options->connects_per_second,
		.server_secret = auth_secret(options->auth) };

	relay->loop = loop;
	relay->auth = options->auth;
	relay->insecure = options->insecure;
	relay->rate_limit = rate_limit_new(options->ingest_rate);
	relay->routes = routes;
	relay->on_misrouted = options->on_misrouted;
	relay->arg = options->arg;
	relay->started_ns = clock_wall_ns();
	relay->waiting = ROUTE_NONE;
	relay->full_timeout.on_timer = on_full_timeout;
	relay->full_timeout.arg = relay;
	relay_drop_log_init(&relay->drop_log, relay);
	zsock_message_init(&relay->message);
	if (zsock_open(&relay->listener, &how, err) != 0)
		return -1;
	if (loop_add_zsock(loop, relay->listener, on_listener, relay, err) != 0)
		return -1;
	relay->queue_messages = options->queue_messages;
	relay->key = options->key;
	relay_set_memory(relay, options->memory_bytes_max);
	for (; relay->upstreams < routes->targets; relay->upstreams++) {
		struct upstream *upstream = &relay->upstream[relay->upstreams];

		if (upstream_open(upstream, loop, relay->queue_messages,
			relay->key, routes->endpoint[relay->upstreams],
			err) != 0)
			return -1;
		if (relay_add_upstream(relay, upstream->zsock, err) != 0) {
			upstream_close(upstream, 0);
			return -1;
		}
	}
	return 0;
}

void
relay_renew_key(struct relay *relay)
{
	for (uint32_t i = 0; i < relay->upstreams; i++)
		upstream_renew_key(&relay->upstream[i]);
}

void
relay_stop(struct relay *relay)
{
	int i;

	relay_stop_waiting(relay);
	for (i = 0; i < DRAIN_MESSAGES_MAX; i++) {
		if (zsock_recv(relay->listener, &relay->message) != ZSOCK_DONE)
			break;
		take(relay, false);
	}
	loop_remove_zsock(relay->loop, relay->listener);
}

void
relay_clear(struct relay *relay)
{
	uint32_t i;

	zsock_message_clear(&relay->message);
	rate_limit_free(&relay->rate_limit);
	for (i = 0; i < relay->upstreams; i++) {
		upstream_close(&relay->upstream[i], DRAIN_NS);
	}
	zsock_finish(&relay->listener, DRAIN_NS);
}
