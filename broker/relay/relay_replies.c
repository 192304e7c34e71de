/*
 * relay_replies - the frames that the broker writes itself.
 * SPDX-License-Identifier: MIT
 */
#include "broker/relay/relay_replies.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/version.h"
#include "proto/os/clock.h"

size_t
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
put_number(struct wire_writer *w, const char *name, uint64_t number)
{
	struct value value = { .type = VALUE_INT, .is.i = (int64_t)number };

	wire_put_attribute(w, text_of(name), &value);
}

static void
put_text(struct wire_writer *w, const char *name, const char *text)
{
	wire_put_text_attribute(w, text_of(name), text_of(text));
}

static uint32_t
put_socket(struct wire_writer *w, const struct zsock *zsock)
{
	const struct zsock_counters *c = zsock_counters(zsock);
	const struct {
		const char *name;
		uint64_t number;
	} rows[] = {
		{ "received_messages", c->received },
		{ "received_bytes", c->received_bytes },
		{ "sent_messages", c->sent },
		{ "sent_bytes", c->sent_bytes },
		{ "malformed_frames", c->malformed },
		{ "unreachable", c->unreachable },
		{ "full", c->full },
		{ "unkeyed", c->unkeyed },
		{ "connections", c->connections },
		{ "handshakes_failed", c->handshakes_failed },
		{ "accepts_failed", c->accepts_failed },
		{ "connections_evicted", c->connections_evicted },
		{ "connections_throttled", c->connections_throttled },
		{ "connections_dropped", c->connections_dropped },
		{ "peers", c->peers },
	};
	const uint32_t count = sizeof(rows) / sizeof(*rows);
	uint32_t i;

	for (i = 0; i < count; i++)
		put_number(w, rows[i].name, rows[i].number);
	return count;
}

static uint32_t
put_auth(struct wire_writer *w, const struct relay *relay)
{
	struct auth_counters auth;
	char name[64];
	uint32_t i;

	auth_counters(relay->auth, &auth);
	put_number(w, "insecure", relay->insecure);
	put_number(w, "keys", auth.keys);
	put_number(w, "handshakes_refused", auth.handshakes_refused);
	put_number(w, "forbidden", auth_forbidden(&auth));
	for (i = AUTH_OK + 1; i < AUTH_VERDICTS; i++) {
		snprintf(name, sizeof(name), "forbidden_%s",
		    auth_verdict_name((enum auth_verdict)i));
		put_number(w, name, auth.forbidden[i]);
	}
	return 4 + AUTH_VERDICTS - 1;
}

static uint32_t
put_relay(struct wire_writer *w, const struct relay *relay)
{
	const struct relay_counters *c = &relay->counters;
	char name[64];
	uint32_t i, count = 11;

	put_text(w, "version", VERSION);
	put_number(w, "started_ns", (uint64_t)relay->started_ns);
	put_number(w, "busy", c->busy);
	put_number(w, "rate_limited", c->rate_limited);
	put_number(w, "owner", c->owner);
	put_number(w, "refused", c->refused);
	put_number(w, "unsolicited", c->unsolicited);
	put_number(w, "owner_elsewhere", c->misrouted);
	put_number(w, "table_version", relay->table_version);
	put_number(w, "unforwarded", c->unforwarded);
	put_number(w, "statuses", c->statuses);
	for (i = WIRE_OK + 1; i < WIRE_FAULTS; i++) {
		snprintf(name, sizeof(name), "malformed_%s",
		    wire_fault_name((enum wire_fault)i));
		put_number(w, name, c->malformed[i]);
		count++;
	}
	return count;
}

static uint32_t
put_upstream(struct wire_writer *w, const struct relay *relay, uint32_t number)
{
	const struct upstream *upstream = &relay->upstream[number];

	put_text(w, "endpoint", relay->routes->endpoint[number]);
	put_number(w, "stuck", upstream->stuck);
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

size_t
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
		put_number(&pairs, "limited", 1);
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
