/*
 * replies - what leaves once the transaction is on disk.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/replies.h"

#include <assert.h>
#include <string.h>

#include "proto/os/clock.h"

void
answers_init(struct answers *answers)
{
	answers->key = hash_key_random();
	answers_clear(answers);
}

void
answers_clear(struct answers *answers)
{
	answers->count = 0;
	memset(answers->slot, 0, sizeof(answers->slot));
}

static uint16_t *
slot_of(struct answers *answers, const struct wire_header *header)
{
	uint64_t hash = hash_bytes(
	    answers->key, header->session.bytes, sizeof(header->session.bytes));

	hash ^= hash_bytes(
	    answers->key, header->partition.at, header->partition.bytes);
	return &answers->slot[hash % ANSWERS_SLOTS];
}

static bool
same_stream(const struct answer *answer, const struct route *route,
    const struct wire_header *header)
{
	return answer->route.bytes == route->bytes &&
	       memcmp(answer->route.at, route->at, route->bytes) == 0 &&
	       session_equal(&answer->header.session, &header->session) &&
	       text_equal(answer->header.partition, header->partition);
}

static void
copy_text(char *to, struct text *text)
{
	assert(text->bytes <= NAME_BYTES_MAX);
	if (text->bytes > 0)
		memcpy(to, text->at, text->bytes);
	text->at = to;
}

void
answers_add(struct answers *answers, const struct route *route,
    const struct wire_header *header)
{
	uint16_t *slot = slot_of(answers, header);
	struct answer *answer;
	uint16_t flags = header->flags;

	answer = *slot > 0 ? &answers->at[*slot - 1] : NULL;
	if (answer != NULL && answer->header.type == WIRE_ACK &&
	    header->type == WIRE_ACK && same_stream(answer, route, header)) {
		flags |= answer->header.flags;
	} else {
		assert(answers->count < ANSWERS_MAX);
		answer = &answers->at[answers->count++];
		*slot = (uint16_t)answers->count;
	}
	answer->route = *route;
	answer->header = *header;
	answer->header.flags = flags;
	copy_text(answer->names, &answer->header.partition);
	copy_text(answer->names + NAME_BYTES_MAX, &answer->header.node);
}

static enum port_result
send_one(struct answer *answer, struct port *port)
{
	unsigned char frame[WIRE_FIXED_BYTES + WIRE_HEADER_BYTES_MAX];
	size_t bytes;

	answer->header.answered_ns = clock_wall_ns();
	bytes = wire_frame(
	    frame, sizeof(frame), &answer->header, (struct text){ NULL, 0 });
	assert(bytes > 0);
	return port_send(port, &answer->route,
	    (struct text){ (const char *)frame, (uint32_t)bytes });
}

static void
move(struct answer *to, const struct answer *from)
{
	*to = *from;
	to->header.partition.at = to->names;
	to->header.node.at = to->names + NAME_BYTES_MAX;
}

void
answers_send(struct answers *answers, struct port *port, uint64_t *gone)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < answers->count; i++) {
		enum port_result result = send_one(&answers->at[i], port);

		if (result == PORT_GONE)
			(*gone)++;
		if (result != PORT_AGAIN)
			continue;
		if (left != i)
			move(&answers->at[left], &answers->at[i]);
		left++;
	}
	answers_clear(answers);
	answers->count = left;
}
