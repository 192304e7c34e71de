/*
 * relay - passes messages up to the aggregator that keeps their partition,
 * and answers down again.
 * SPDX-License-Identifier: MIT
 */
#include "broker/relay.h"

#include <assert.h>

#include "broker/answer.h"
#include "proto/clock.h"
#include "proto/hash.h"
#include "proto/log.h"
#include "proto/pass.h"
#include "proto/vouch.h"

enum {
	MESSAGES_AT_ONCE = 64, /* then the other direction has its turn */
	RETRY_MIN_MS = 200,
	RETRY_MAX_MS = 1000,
	DRAIN_MESSAGES_MAX = 1024,
	LINE_ANSWERS = 256, /* to all peers together */
	ROUTE_NONE = -1,
};

#define SUMMARY_NS (60 * NS_PER_SECOND)
#define DRAIN_NS   (1 * NS_PER_SECOND)

static uint64_t
drops(const struct relay *relay)
{
	const struct relay_counters *c = &relay->counters;
	const struct port_counters *door = port_counters(relay->door);
	uint64_t sum =
	    c->busy + c->owner + c->refused + c->unasked + c->unvouched;
	struct gate_counters gate;
	uint32_t i;

	for (i = WIRE_OK + 1; i < WIRE_FAULTS; i++)
		sum += c->malformed[i];
	for (i = 0; i < relay->lines; i++)
		sum += port_counters(relay->line[i].port)->malformed;
	gate_counters(relay->gate, &gate);
	return sum + door->malformed + door->unreachable + door->full +
	       door->unkeyed + gate_forbidden(&gate);
}

static void
on_summary(void *arg, struct loop_timer *timer)
{
	struct relay *relay = arg;
	const struct relay_counters *c = &relay->counters;
	const struct port_counters *door = port_counters(relay->door);
	struct gate_counters gate;
	uint64_t now = drops(relay);

	(void)timer;
	gate_counters(relay->gate, &gate);
	log_warn("dropped %llu messages in a minute; so far busy=%llu "
		 "owner=%llu refused=%llu unasked=%llu misshapen=%llu "
		 "unreachable=%llu full=%llu forbidden=%llu unkeyed=%llu",
	    (unsigned long long)(now - relay->told),
	    (unsigned long long)c->busy, (unsigned long long)c->owner,
	    (unsigned long long)c->refused, (unsigned long long)c->unasked,
	    (unsigned long long)door->malformed,
	    (unsigned long long)door->unreachable,
	    (unsigned long long)door->full,
	    (unsigned long long)gate_forbidden(&gate),
	    (unsigned long long)door->unkeyed);
	relay->told = now;
}

/* The log hears of drops once a minute, and never without any. */
static void
note_drops(struct relay *relay)
{
	if (relay->summary.at_ns == 0 && drops(relay) != relay->told)
		loop_set_timer(relay->loop, &relay->summary,
		    clock_monotonic_ns() + SUMMARY_NS, 0);
}

/* ---- up ---- */

static void
nack(struct relay *relay, const struct wire_header *question,
    enum wire_reason reason)
{
	unsigned char frame[ANSWER_NACK_BYTES];
	struct route back = relay->message.route;
	uint32_t retry_ms = 0, random;
	size_t bytes;

	if (reason == WIRE_NACK_BUSY) {
		random_bytes(&random, sizeof(random));
		retry_ms =
		    RETRY_MIN_MS + random % (RETRY_MAX_MS - RETRY_MIN_MS + 1);
	}
	bytes = answer_nack(frame, question, reason, retry_ms);
	vouch_take(&back);
	/* A peer that is gone or full loses its answer; the port counts. */
	port_send(relay->door, &back,
	    (struct text){ (const char *)frame, (uint32_t)bytes });
}

static void
refuse(struct relay *relay, const struct wire_header *header,
    enum wire_fault fault)
{
	struct wire_header question = { 0 };

	relay->counters.malformed[fault]++;
	relay->counters.refused++;
	if (fault == WIRE_TYPE)
		question = *header; /* else it was not read to its end */
	nack(relay, &question,
	    fault == WIRE_TYPE || fault == WIRE_OTHER_VERSION
		? WIRE_NACK_UNSUPPORTED
		: WIRE_NACK_MALFORMED);
}

/* Never answer an answer: two programs could go on for ever. */
static bool
is_answer(enum wire_type type)
{
	return type == WIRE_WELCOME || type == WIRE_ACK || type == WIRE_NACK ||
	       type == WIRE_PAGE;
}

static void
tell_status(struct relay *relay, const struct wire_header *question)
{
	unsigned char frame[ANSWER_STATUS_BYTES];
	size_t bytes = answer_status(frame, question, relay);

	relay->counters.statuses++;
	port_send(relay->door, &relay->message.route,
	    (struct text){ (const char *)frame, (uint32_t)bytes });
}

/* Never answer an answer, nor a goodbye. */
static bool
may_pass(struct relay *relay, const struct wire_header *header)
{
	enum gate_want want = GATE_PUBLISH;

	if (header->type == WIRE_STATUS)
		want = GATE_STATUS;
	else if (header->type == WIRE_SELECT || header->type == WIRE_STATS ||
		 header->type == WIRE_FOLLOW)
		want = GATE_READ;
	if (gate_judge(relay->gate, &relay->message, want, header->partition,
		header->node) == GATE_OK)
		return true;
	if (header->type != WIRE_BYE)
		nack(relay, header, WIRE_NACK_FORBIDDEN);
	return false;
}

/* Whom it comes from goes up with it, unless a broker said that before. */
static bool
vouch(struct relay *relay)
{
	struct message *message = &relay->message;
	struct port_peer peer;
	bool vouched;

	if (vouch_get(&message->route, &peer, &vouched) > 1 || vouched)
		return true;
	if (vouch_add(&message->route, &message->peer))
		return true;
	relay->counters.unvouched++;
	return false;
}

static void on_door(void *arg, struct port *door);

static void
shut_door(struct relay *relay, int line)
{
	relay->waiting = line;
	loop_remove_port(relay->loop, relay->door);
	loop_set_timer(relay->loop, &relay->patience,
	    clock_monotonic_ns() + RELAY_PATIENCE_NS, 0);
}

static void
open_door(struct relay *relay)
{
	struct err err;

	relay->waiting = ROUTE_NONE;
	loop_stop_timer(relay->loop, &relay->patience);
	/* Its place in the loop is the one that it left. */
	if (loop_add_port(relay->loop, relay->door, on_door, relay, &err) != 0)
		assert(!"the door has no place in the loop");
}

/* Pass relay->message on to a line; false when the line has no room and is
 * worth waiting for. */
static bool
pass_up(struct relay *relay, int number, const struct wire_header *header,
    bool may_wait)
{
	struct relay_line *line = &relay->line[number];

	if (port_pass(line->port, &relay->message) == PORT_DONE) {
		line->stuck = false;
		return true;
	}
	if (may_wait && !line->stuck && port_counters(line->port)->peers > 0)
		return false;
	line->stuck = true;
	relay->counters.busy++;
	nack(relay, header, WIRE_NACK_BUSY);
	return true;
}

static void
take(struct relay *relay, bool may_wait)
{
	struct wire_header header;
	enum wire_fault fault = wire_peek(relay->message.frame, &header);
	int line;

	if (is_answer(header.type)) {
		relay->counters.unasked++;
		return;
	}
	if (fault != WIRE_OK) {
		refuse(relay, &header, fault);
		return;
	}
	if (!may_pass(relay, &header))
		return;
	if (header.type == WIRE_STATUS) {
		tell_status(relay, &header);
		return;
	}
	line = routes_find(relay->routes, header.partition);
	if (line == ROUTE_NONE) {
		relay->counters.owner++;
		nack(relay, &header, WIRE_NACK_OWNER);
	} else if (vouch(relay) && !pass_up(relay, line, &header, may_wait)) {
		shut_door(relay, line);
	}
}

/* The line that the door is shut for may have room, or is given up. */
static void
try_again(struct relay *relay, bool may_wait)
{
	struct wire_header header;

	/* It was read once: it can be read again. */
	wire_peek(relay->message.frame, &header);
	if (pass_up(relay, relay->waiting, &header, may_wait))
		open_door(relay);
}

static void
on_patience(void *arg, struct loop_timer *timer)
{
	struct relay *relay = arg;

	(void)timer;
	try_again(relay, false);
	note_drops(relay);
}

static void
note_peers(struct relay *relay)
{
	uint32_t peers = port_counters(relay->door)->peers;

	if (peers <= relay->peers_max) {
		relay->warned = false;
	} else if (!relay->warned) {
		relay->warned = true;
		log_warn("%u peers: in the worst case their queues take more "
			 "than --memory-max, which is enough for %u",
		    peers, relay->peers_max);
	}
}

static void
on_door(void *arg, struct port *door)
{
	struct relay *relay = arg;
	int i;

	note_peers(relay);
	for (i = 0; i < MESSAGES_AT_ONCE && relay->waiting < 0; i++) {
		if (port_recv(door, &relay->message) != PORT_DONE)
			break;
		take(relay, true);
	}
	note_drops(relay);
}

/* ---- down ---- */

static void
note_connection(struct relay_line *line)
{
	bool connected = port_counters(line->port)->peers > 0;

	if (connected == line->connected)
		return;
	line->connected = connected;
	if (connected)
		log_info(
		    "connected to aggregator %s", port_endpoint(line->port));
	else
		log_warn("lost aggregator %s", port_endpoint(line->port));
}

static void
note_answer(struct relay *relay, struct text frame)
{
	struct wire_header header;

	if (wire_peek(frame, &header) != WIRE_OK || header.type != WIRE_NACK ||
	    header.reason != WIRE_NACK_OWNER)
		return;
	relay->counters.strange++;
	if (relay->on_strange != NULL)
		relay->on_strange();
}

static void
on_line(void *arg, struct port *port)
{
	struct relay *relay = arg;
	struct message answer;
	uint32_t number = 0;
	int i;

	while (relay->line[number].port != port)
		number++;
	note_connection(&relay->line[number]);
	knock_look(relay->line[number].knock);
	if (relay->waiting == (int)number)
		try_again(relay, true);
	message_init(&answer);
	/* What a peer has no room for, or no way to, it will ask for again. */
	for (i = 0; i < MESSAGES_AT_ONCE; i++) {
		if (port_recv(port, &answer) != PORT_DONE)
			break;
		note_answer(relay, answer.frame);
		vouch_take(&answer.route);
		port_pass(relay->door, &answer);
	}
	message_clear(&answer);
	note_drops(relay);
}

/* ---- start and stop ---- */

uint64_t
relay_peer_bytes(uint32_t queue_messages)
{
	return (UINT64_C(1) + RELAY_ANSWERS) * queue_messages *
	       WIRE_FRAME_BYTES_MAX;
}

int
relay_open_line(const struct relay *relay, struct relay_line *line,
    const char *endpoint, struct err *err)
{
	struct port_options port = relay->line_options;

	*line = (struct relay_line){ .port = NULL };
	if (pass_show(&port, endpoint, "broker", err) != 0)
		return err_prefix(err, "aggregator");
	if (port_open(&line->port, &port, err) != 0)
		return -1;
	if (port_connect(line->port, endpoint, err) != 0) {
		port_close(&line->port);
		return err_prefix(err, "aggregator");
	}
	line->knock = knock_new(relay->loop, line->port);
	return 0;
}

void
relay_close_line(struct relay_line *line, int64_t drain_ns)
{
	knock_free(&line->knock);
	port_finish(&line->port, drain_ns);
}

int
relay_attend_line(struct relay *relay, struct port *port, struct err *err)
{
	return loop_add_port(relay->loop, port, on_line, relay, err);
}

void
relay_set_memory(struct relay *relay, uint64_t bytes_max)
{
	relay->peers_max =
	    (uint32_t)(bytes_max /
		       relay_peer_bytes(relay->line_options.queue_messages));
}

void
relay_wait_no_more(struct relay *relay)
{
	if (relay->waiting >= 0)
		try_again(relay, false);
}

int
relay_start(struct relay *relay, struct loop *loop, const struct routes *routes,
    const struct relay_options *options, struct err *err)
{
	struct port_options port = { .kind = PORT_DOOR,
		.queue_messages = options->queue_messages,
		.answer_messages = RELAY_ANSWERS * options->queue_messages,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX,
		.insecure = options->insecure,
		.server_secret = gate_secret(options->gate) };

	relay->loop = loop;
	relay->gate = options->gate;
	relay->insecure = options->insecure;
	relay->routes = routes;
	relay->on_strange = options->on_strange;
	relay->started_ns = clock_wall_ns();
	relay->waiting = ROUTE_NONE;
	relay->patience.on_timer = on_patience;
	relay->patience.arg = relay;
	relay->summary.on_timer = on_summary;
	relay->summary.arg = relay;
	message_init(&relay->message);
	if (port_open(&relay->door, &port, err) != 0)
		return -1;
	if (loop_add_port(loop, relay->door, on_door, relay, err) != 0)
		return -1;
	relay->line_options = (struct port_options){ .kind = PORT_LINE,
		.queue_messages = options->queue_messages,
		.answer_messages = LINE_ANSWERS,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX };
	relay_set_memory(relay, options->memory_bytes_max);
	for (; relay->lines < routes->targets; relay->lines++) {
		struct relay_line *line = &relay->line[relay->lines];

		if (relay_open_line(
			relay, line, routes->endpoint[relay->lines], err) != 0)
			return -1;
		if (relay_attend_line(relay, line->port, err) != 0) {
			relay_close_line(line, 0);
			return -1;
		}
	}
	return 0;
}

int
relay_rekey(struct relay *relay, struct err *err)
{
	return port_rekey(relay->door, gate_secret(relay->gate), err);
}

void
relay_stop(struct relay *relay)
{
	int i;

	relay_wait_no_more(relay);
	for (i = 0; i < DRAIN_MESSAGES_MAX; i++) {
		if (port_recv(relay->door, &relay->message) != PORT_DONE)
			break;
		take(relay, false);
	}
	loop_remove_port(relay->loop, relay->door);
}

void
relay_clear(struct relay *relay)
{
	uint32_t i;

	message_clear(&relay->message);
	for (i = 0; i < relay->lines; i++) {
		relay_close_line(&relay->line[i], DRAIN_NS);
	}
	port_finish(&relay->door, DRAIN_NS);
}
