/*
 * replies - answers that wait for the commit.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/replies.h"

#include <assert.h>
#include <string.h>

#include "proto/os/clock.h"

void
replies_init(struct replies *replies)
{
	replies->key = hash_key_random();
	replies_clear(replies);
}

void
replies_clear(struct replies *replies)
{
	replies->count = 0;
	memset(replies->slot, 0, sizeof(replies->slot));
}

static uint16_t *
slot_of(struct replies *replies, const struct wire_header *header)
{
	uint64_t hash = hash_bytes(
	    replies->key, header->session.bytes, sizeof(header->session.bytes));

	hash ^= hash_bytes(
	    replies->key, header->partition.at, header->partition.bytes);
	return &replies->slot[hash % REPLIES_SLOTS];
}

static bool
same_stream(const struct reply *reply, const struct route *route,
    const struct wire_header *header)
{
	return reply->route.bytes == route->bytes &&
	       memcmp(reply->route.at, route->at, route->bytes) == 0 &&
	       session_equal(&reply->header.session, &header->session) &&
	       text_equal(reply->header.partition, header->partition);
}

static void
copy_text(char *to, struct text *text)
{
	assert(text->bytes <= NAME_BYTES_MAX);
	if (text->bytes > 0)
		memcpy(to, text->at, text->bytes);
	text->at = to;
}

/* One acknowledgement speaks for all before it. */
static bool
is_merged(const struct wire_header *header)
{
	return header->type == WIRE_ACK &&
	       (header->flags & WIRE_FLAG_ALONE) == 0;
}

void
replies_add(struct replies *replies, const struct route *route,
    const struct wire_header *header)
{
	uint16_t *slot = slot_of(replies, header);
	struct reply *reply;
	uint16_t flags = header->flags;

	reply = *slot > 0 ? &replies->at[*slot - 1] : NULL;
	if (reply != NULL && is_merged(&reply->header) && is_merged(header) &&
	    same_stream(reply, route, header)) {
		if (reply->header.seq > header->seq) {
			reply->header.flags |= flags;
			return; /* the answer to a repetition */
		}
		flags |= reply->header.flags;
	} else {
		assert(replies->count < REPLIES_MAX);
		reply = &replies->at[replies->count++];
		*slot = (uint16_t)replies->count;
	}
	reply->route = *route;
	reply->header = *header;
	reply->header.flags = flags;
	copy_text(reply->names, &reply->header.partition);
	copy_text(reply->names + NAME_BYTES_MAX, &reply->header.node);
	copy_text(reply->names + 2 * NAME_BYTES_MAX, &reply->header.detail);
}

static enum zsock_result
send_one(struct reply *reply, struct zsock *zsock)
{
	unsigned char frame[WIRE_FIXED_BYTES + WIRE_HEADER_BYTES_MAX];
	size_t bytes;

	reply->header.answered_ns = clock_wall_ns();
	bytes = wire_frame(
	    frame, sizeof(frame), &reply->header, (struct text){ NULL, 0 });
	assert(bytes > 0);
	return zsock_send(zsock, &reply->route,
	    (struct text){ (const char *)frame, (uint32_t)bytes });
}

static void
move(struct reply *to, const struct reply *from)
{
	*to = *from;
	to->header.partition.at = to->names;
	to->header.node.at = to->names + NAME_BYTES_MAX;
	to->header.detail.at = to->names + 2 * NAME_BYTES_MAX;
}

void
replies_send(struct replies *replies, struct zsock *zsock, uint64_t *gone)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < replies->count; i++) {
		enum zsock_result result = send_one(&replies->at[i], zsock);

		if (result == ZSOCK_GONE)
			(*gone)++;
		if (result != ZSOCK_AGAIN)
			continue;
		if (left != i)
			move(&replies->at[left], &replies->at[i]);
		left++;
	}
	replies_clear(replies);
	replies->count = left;
}
