/*
 * authorize - may the key of a message send it?
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/authorize.h"

/* May the message have records of all the nodes in its batch?  True also for a
 * malformed one, which the receiver rejects. */
static bool
may_send_records(struct authorize *authorize,
    const struct zsock_message *message, struct text partition)
{
	struct wire_header header;
	struct wire_cursor cursor;
	struct record record;
	struct text body, plain, allowed;

	if (wire_open(message->frame, &header, &body) != WIRE_OK ||
	    wire_body(&header, body, &authorize->room, &plain) != WIRE_OK)
		return true;
	allowed = header.node;
	wire_cursor_init(&cursor, &header, plain);
	while (wire_next(&cursor, &record)) {
		if (text_equal(record.node, allowed))
			continue;
		if (auth_check(authorize->auth, message, AUTH_PUBLISH,
			partition, record.node) != AUTH_OK)
			return false;
		allowed = record.node;
	}
	return true;
}

static bool
may_send(struct authorize *authorize, const struct zsock_message *message,
    struct wire_header *header)
{
	if (wire_peek(message->frame, header) != WIRE_OK)
		return true;
	if (auth_check(authorize->auth, message, AUTH_PUBLISH,
		header->partition, header->node) != AUTH_OK)
		return false;
	return header->type != WIRE_BATCH ||
	       !auth_limits_nodes(authorize->auth, message) ||
	       may_send_records(authorize, message, header->partition);
}

static void
refuse(const struct wire_header *header, enum wire_reason reason,
    struct wire_header *answer)
{
	answer->type = WIRE_NACK;
	answer->reason = reason;
	answer->partition = header->partition;
	answer->node = header->node;
	answer->session = header->session;
	answer->seq = header->seq;
	answer->sent_ns = header->sent_ns;
}

bool
authorize_check(struct authorize *authorize,
    const struct zsock_message *message, int64_t now_ns,
    struct wire_header *answer)
{
	struct wire_header header = { .seq = 0 };

	if (!may_send(authorize, message, &header)) {
		refuse(&header, WIRE_NACK_FORBIDDEN, answer);
		answer->detail = auth_why();
		return false;
	}
	/* A bye is stored as well. */
	if (header.type != WIRE_BATCH && header.type != WIRE_BYE)
		return true;
	answer->retry_ms =
	    rate_limit_wait_ms(authorize->rate_limit, message, now_ns);
	if (answer->retry_ms == 0)
		return true;
	authorize->limited++;
	refuse(&header, WIRE_NACK_BUSY, answer);
	return false;
}

void
authorize_note(struct authorize *authorize, const struct zsock_message *message,
    int64_t now_ns, const struct wire_header *answer)
{
	if (answer->type == WIRE_ACK)
		rate_limit_charge(authorize->rate_limit, message, now_ns);
}

void
authorize_init(struct authorize *authorize, struct auth *auth,
    uint64_t key_bytes_per_second)
{
	*authorize = (struct authorize){ .auth = auth,
		.rate_limit = rate_limit_new(key_bytes_per_second) };
}

void
authorize_clear(struct authorize *authorize)
{
	wire_room_clear(&authorize->room);
	rate_limit_free(&authorize->rate_limit);
}
