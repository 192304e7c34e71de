/*
 * relay - passes messages up to the aggregator of their partition, and replies
 * back down.
 * SPDX-License-Identifier: MIT
 */
#include "broker/relay/relay.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "proto/auth/forwarded_peer.h"
#include "proto/base/version.h"
#include "proto/counter/counter.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/wire/wire.h"

/* ---- the frames that the broker writes itself ---- */

enum {
	RELAY_REPLY_NACK_BYTES = WIRE_FIXED_BYTES + WIRE_HEADER_BYTES_MAX,
	RELAY_REPLY_STATUS_BYTES = 32 << 10,
};

/* Write a nack.  It repeats the fields by which the sender knows its message.
 * `retry_ms` is for WIRE_NACK_BUSY.  Returns the length of the frame. */
static size_t
relay_reply_nack(unsigned char to[static RELAY_REPLY_NACK_BYTES],
    const struct wire_header *question, enum wire_reason reason,
    uint32_t retry_ms, struct text detail)
{
	struct wire_header header = { .type = WIRE_NACK,
		.detail = detail,
		.partition = question->partition,
		.node = question->node,
		.session = question->session,
		.seq = question->seq,
		.sent_ns = question->sent_ns,
		.reason = reason,
		.retry_ms = retry_ms };
	size_t bytes = wire_frame(
	    to, RELAY_REPLY_NACK_BYTES, &header, (struct text){ NULL, 0 });

	assert(bytes > 0);
	return bytes;
}

/* ---- status ---- */

static void
put_named(struct wire_writer *w, const char *name, uint64_t number)
{
	struct value value = { .type = VALUE_INT, .is.i = (int64_t)number };

	wire_put_attribute(w, text_of(name), &value);
}

static void
put_number(struct wire_writer *w, enum counter_number counter, uint64_t number)
{
	put_named(w, counters[counter].name, number);
}

static void
put_text(struct wire_writer *w, enum counter_number counter, const char *text)
{
	wire_put_text_attribute(
	    w, text_of(counters[counter].name), text_of(text));
}

static uint32_t
put_socket(struct wire_writer *w, const struct zsock *zsock)
{
	const struct zsock_counters *c = zsock_counters(zsock);
	const struct {
		enum counter_number counter;
		uint64_t number;
	} rows[] = {
		{ COUNTER_SOCKET_received_messages, c->received },
		{ COUNTER_SOCKET_received_bytes, c->received_bytes },
		{ COUNTER_SOCKET_sent_messages, c->sent },
		{ COUNTER_SOCKET_sent_bytes, c->sent_bytes },
		{ COUNTER_SOCKET_malformed_frames, c->malformed },
		{ COUNTER_SOCKET_unreachable, c->unreachable },
		{ COUNTER_SOCKET_full, c->full },
		{ COUNTER_SOCKET_unkeyed, c->unkeyed },
		{ COUNTER_SOCKET_connections, c->connections },
		{ COUNTER_SOCKET_handshakes_failed, c->handshakes_failed },
		{ COUNTER_SOCKET_accepts_failed, c->accepts_failed },
		{ COUNTER_SOCKET_connections_evicted, c->connections_evicted },
		{ COUNTER_SOCKET_connections_throttled,
		    c->connections_throttled },
		{ COUNTER_SOCKET_connections_dropped, c->connections_dropped },
		{ COUNTER_SOCKET_peers, c->peers },
	};
	const uint32_t count = sizeof(rows) / sizeof(*rows);
	uint32_t i;

	for (i = 0; i < count; i++)
		put_number(w, rows[i].counter, rows[i].number);
	return count;
}

static uint32_t
put_auth(struct wire_writer *w, const struct relay *relay)
{
	struct auth_counters auth;
	char name[64];
	uint32_t i;

	auth_counters(relay->auth, &auth);
	put_number(w, COUNTER_BROKER_insecure, relay->insecure);
	put_number(w, COUNTER_BROKER_keys, auth.keys);
	put_number(
	    w, COUNTER_BROKER_handshakes_refused, auth.handshakes_refused);
	put_number(w, COUNTER_BROKER_forbidden, auth_forbidden(&auth));
	for (i = AUTH_OK + 1; i < AUTH_VERDICTS; i++) {
		snprintf(name, sizeof(name), "forbidden_%s",
		    auth_verdict_name((enum auth_verdict)i));
		put_named(w, name, auth.forbidden[i]);
	}
	return 4 + AUTH_VERDICTS - 1;
}

static uint32_t
put_relay(struct wire_writer *w, const struct relay *relay)
{
	const struct relay_counters *c = &relay->counters;
	char name[64];
	uint32_t i, count = 11;

	put_text(w, COUNTER_BROKER_version, VERSION);
	put_number(w, COUNTER_BROKER_started_ns, (uint64_t)relay->started_ns);
	put_number(w, COUNTER_BROKER_busy, c->busy);
	put_number(w, COUNTER_BROKER_rate_limited, c->rate_limited);
	put_number(w, COUNTER_BROKER_owner, c->owner);
	put_number(w, COUNTER_BROKER_refused, c->refused);
	put_number(w, COUNTER_BROKER_unsolicited, c->unsolicited);
	put_number(w, COUNTER_BROKER_owner_elsewhere, c->misrouted);
	put_number(w, COUNTER_BROKER_table_version, relay->table_version);
	put_number(w, COUNTER_BROKER_unforwarded, c->unforwarded);
	put_number(w, COUNTER_BROKER_statuses, c->statuses);
	for (i = WIRE_OK + 1; i < WIRE_FAULTS; i++) {
		snprintf(name, sizeof(name), "malformed_%s",
		    wire_fault_name((enum wire_fault)i));
		put_named(w, name, c->malformed[i]);
		count++;
	}
	return count;
}

static uint32_t
put_upstream(struct wire_writer *w, const struct relay *relay, uint32_t number)
{
	const struct upstream *upstream = &relay->upstream[number];

	put_text(w, COUNTER_UPSTREAM_endpoint, relay->routes->endpoint[number]);
	put_number(w, COUNTER_UPSTREAM_stuck, upstream->stuck);
	return 2;
}

static void
put_entity(struct wire_writer *w, const struct relay *relay, const char *id,
    uint32_t attributes, struct text pairs)
{
	struct record record = { .kind = RECORD_ENTITY,
		.node = relay->node,
		.receive_ns = clock_wall_ns(),
		.source = text_of("status"),
		.name = text_of(id),
		.attributes = attributes,
		.pairs = pairs };

	wire_put_context_full(w, &record);
	wire_put_record(w, &record);
}

static struct text
written(const struct wire_writer *w)
{
	assert(!w->full);
	return (struct text){ (const char *)w->at, (uint32_t)w->bytes };
}

/* Write a page of entities of kind "status": "broker", and "broker:ENDPOINT"
 * for every aggregator.  `limited`: for a reader of some partitions; what all
 * of them add to is left out. */
static size_t
relay_reply_status(unsigned char to[static RELAY_REPLY_STATUS_BYTES],
    const struct wire_header *question, const struct relay *relay, bool limited)
{
	unsigned char
	    body_room[RELAY_REPLY_STATUS_BYTES - RELAY_REPLY_NACK_BYTES];
	unsigned char pairs_room[2048];
	char id[sizeof("broker:") + ENDPOINT_BYTES_MAX];
	struct wire_writer body, pairs;
	struct wire_header header = { .type = WIRE_PAGE,
		.flags = WIRE_FLAG_LAST,
		.partition = question->partition,
		.node = relay->node,
		.session = question->session,
		.seq = question->seq,
		.sent_ns = question->sent_ns };
	uint32_t i, count;

	wire_writer_init(&body, body_room, sizeof(body_room));
	wire_put_page_cursor(&body, (struct text){ NULL, 0 });
	wire_writer_init(&pairs, pairs_room, sizeof(pairs_room));
	if (limited) {
		put_number(&pairs, COUNTER_BROKER_limited, 1);
		count = 1;
	} else {
		count = put_relay(&pairs, relay);
		count += put_auth(&pairs, relay);
		count += put_socket(&pairs, relay->listener);
	}
	put_entity(&body, relay, "broker", count, written(&pairs));
	for (i = 0; !limited && i < relay->upstreams; i++) {
		wire_writer_init(&pairs, pairs_room, sizeof(pairs_room));
		count = put_upstream(&pairs, relay, i);
		count += put_socket(&pairs, relay->upstream[i].zsock);
		/* An entity id is a name: at most 255 bytes. */
		snprintf(id, sizeof(id), "broker:%.240s",
		    relay->routes->endpoint[i]);
		put_entity(&body, relay, id, count, written(&pairs));
	}
	header.records = body.records;
	return wire_frame(
	    to, RELAY_REPLY_STATUS_BYTES, &header, written(&body));
}

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

/* Is the peer permitted to send this?  If not, it gets a nack. */
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

static int
add_upstream(struct relay *relay, struct zsock *zsock, struct err *err)
{
	return loop_add_zsock(relay->loop, zsock, on_upstream, relay, err);
}

static void
stop_waiting(struct relay *relay)
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
		if (add_upstream(relay, upstream->zsock, err) != 0) {
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

	stop_waiting(relay);
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

/* ---- changes while it runs ---- */

/* The present upstream to that endpoint, or NULL. */
static const struct upstream *
find_upstream(const struct relay *relay, const char *endpoint)
{
	for (uint32_t i = 0; i < relay->upstreams; i++)
		if (strcmp(relay->routes->endpoint[i], endpoint) == 0)
			return &relay->upstream[i];
	return NULL;
}

static void
close_upstreams(struct upstream *upstreams, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		upstream_close(&upstreams[i], 0);
}

/* Close the upstreams that no route uses any more. */
static void
close_unused(struct relay *relay, const struct routes *routes)
{
	for (uint32_t i = 0; i < relay->upstreams; i++) {
		bool needed = false;

		for (uint32_t j = 0; j < routes->targets; j++)
			if (strcmp(relay->routes->endpoint[i],
				routes->endpoint[j]) == 0)
				needed = true;
		if (needed)
			continue;
		relay->counters.invalid +=
		    zsock_counters(relay->upstream[i].zsock)->malformed;
		loop_remove_zsock(relay->loop, relay->upstream[i].zsock);
		upstream_close(&relay->upstream[i], DRAIN_NS);
	}
}

int
relay_change(struct relay *relay, const struct routes *routes, struct err *err)
{
	struct upstream fresh[ROUTES_TARGETS_MAX],
	    upstreams[ROUTES_TARGETS_MAX];
	uint32_t opened = 0, at = 0;

	for (uint32_t i = 0; i < routes->targets; i++) {
		const char *endpoint = routes->endpoint[i];

		if (find_upstream(relay, endpoint) != NULL)
			continue;
		if (upstream_open(&fresh[opened], relay->loop,
			relay->queue_messages, relay->key, endpoint,
			err) != 0) {
			close_upstreams(fresh, opened);
			return -1;
		}
		opened++;
	}
	/* Nothing can fail from here on: the loop has slots for a listener and
	 * for as many upstreams as routes may have targets. */
	stop_waiting(relay);
	for (uint32_t i = 0; i < routes->targets; i++) {
		const struct upstream *same =
		    find_upstream(relay, routes->endpoint[i]);

		upstreams[i] = same ? *same : fresh[at++];
	}
	close_unused(relay, routes);
	memcpy(
	    relay->upstream, upstreams, routes->targets * sizeof(*upstreams));
	relay->upstreams = routes->targets;
	relay->routes = routes;
	for (uint32_t i = 0; i < opened; i++)
		if (add_upstream(relay, fresh[i].zsock, err) != 0)
			assert(!"the loop has no slot for an upstream");
	return 0;
}

void
relay_set_memory(struct relay *relay, uint64_t bytes_max)
{
	relay->peers_max =
	    (uint32_t)(bytes_max / relay_peer_bytes(relay->queue_messages));
}

int
relay_rekey(struct relay *relay, struct err *err)
{
	return zsock_rekey(relay->listener, auth_secret(relay->auth), err);
}
