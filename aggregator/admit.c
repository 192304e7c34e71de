/*
 * admit - may this message be kept, as far as keys go?
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admit.h"

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

bool
admit_judge(struct admit *admit, const struct message *message,
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

void
admit_clear(struct admit *admit)
{
	wire_room_clear(&admit->room);
}

bool
admit_refusal(const struct wire_header *header, struct wire_header *answer)
{
	answer->type = WIRE_NACK;
	answer->reason = WIRE_NACK_FORBIDDEN;
	answer->partition = header->partition;
	answer->node = header->node;
	answer->session = header->session;
	answer->seq = header->seq;
	answer->sent_ns = header->sent_ns;
	return header->type != WIRE_BYE;
}
