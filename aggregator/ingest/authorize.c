/*
 * authorize - may this message be kept, as far as keys go?
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/authorize.h"

/* The first record of another node than those of the pattern; false: none, or
 * the batch is unreadable and will be a dead letter. */
static bool
find_stray(struct admit *admit, struct text frame, struct text pattern,
    struct text *node)
{
	struct wire_header header;
	struct wire_cursor cursor;
	struct record record;
	struct text body, plain;

	if (wire_open(frame, &header, &body) != WIRE_OK ||
	    wire_body(&header, body, &admit->room, &plain) != WIRE_OK)
		return false;
	wire_cursor_init(&cursor, &header, plain);
	while (wire_next(&cursor, &record)) {
		if (text_match(pattern, record.node))
			continue;
		*node = record.node;
		return true;
	}
	return false;
}

static bool
may_send(struct admit *admit, const struct message *message,
    struct wire_header *header)
{
	char pattern[NAME_BYTES_MAX + 1];
	struct text stray;

	if (wire_peek(message->frame, header) != WIRE_OK)
		return true;
	if (gate_judge(admit->gate, message, GATE_PUBLISH, header->partition,
		header->node) != GATE_OK)
		return false;
	if (header->type != WIRE_BATCH ||
	    !gate_is_bound(admit->gate, message, pattern) ||
	    !find_stray(admit, message->frame, text_of(pattern), &stray))
		return true;
	gate_judge(
	    admit->gate, message, GATE_PUBLISH, header->partition, stray);
	return false;
}

static bool
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
	return header->type != WIRE_BYE;
}

bool
admit_judge(struct admit *admit, const struct message *message, int64_t now_ns,
    struct wire_header *answer, bool *answered)
{
	struct wire_header header = { .seq = 0 };

	if (!may_send(admit, message, &header)) {
		*answered = refuse(&header, WIRE_NACK_FORBIDDEN, answer);
		return false;
	}
	if (header.type != WIRE_BATCH)
		return true;
	answer->retry_ms = meter_wait_ms(admit->meter, message, now_ns);
	if (answer->retry_ms == 0)
		return true;
	admit->limited++;
	*answered = refuse(&header, WIRE_NACK_BUSY, answer);
	return false;
}

void
admit_note(struct admit *admit, const struct message *message, int64_t now_ns,
    const struct wire_header *answer)
{
	if (answer->type == WIRE_ACK)
		meter_charge(admit->meter, message, now_ns);
}

void
admit_init(struct admit *admit, struct gate *gate, uint64_t key_bytes)
{
	*admit = (struct admit){ .gate = gate, .meter = meter_new(key_bytes) };
}

void
admit_clear(struct admit *admit)
{
	wire_room_clear(&admit->room);
	meter_free(&admit->meter);
}
