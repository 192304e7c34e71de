/*
 * wire_frame - any bytes as a frame, and the same bytes behind fixed bytes
 * that are right, so that the checksum does not keep the fuzzer out.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "proto/hash/crc32c.h"
#include "proto/wire/wire.h"
#include "tests/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
same_header(const struct wire_header *a, const struct wire_header *b)
{
	return a->type == b->type && a->flags == b->flags &&
	       text_equal(a->partition, b->partition) &&
	       text_equal(a->node, b->node) &&
	       session_equal(&a->session, &b->session) && a->seq == b->seq &&
	       a->records == b->records && a->codec == b->codec &&
	       a->sent_ns == b->sent_ns && a->body_bytes == b->body_bytes &&
	       a->chain == b->chain && a->last_seq == b->last_seq &&
	       a->reason == b->reason && a->expect == b->expect &&
	       a->generation == b->generation &&
	       a->credit_bytes == b->credit_bytes &&
	       a->retry_ms == b->retry_ms && a->received_ns == b->received_ns &&
	       a->answered_ns == b->answered_ns &&
	       a->chain_after == b->chain_after &&
	       text_equal(a->detail, b->detail) &&
	       text_equal(a->damaged, b->damaged) &&
	       a->damaged_more == b->damaged_more;
}

/* What was understood is written and understood the same. */
static void
again(struct wire_header header, struct text body)
{
	static unsigned char frame[2 * WIRE_FRAME_BYTES_MAX];
	struct wire_header header2;
	struct text body2;
	size_t bytes;

	if (header.codec == WIRE_NONE)
		header.body_bytes = body.bytes;
	bytes = wire_frame(frame, sizeof(frame), &header, body);
	MUST(bytes > 0);
	MUST(wire_open((struct text){ (char *)frame, (uint32_t)bytes },
		 &header2, &body2) == WIRE_OK);
	MUST(same_header(&header, &header2) && text_equal(body, body2));
}

static void
open_all(struct text frame)
{
	static struct wire_room room;
	struct wire_header header, peeked;
	struct wire_cursor cursor;
	struct record record;
	struct text body, plain, position;
	enum wire_fault fault = wire_peek(frame, &peeked);

	if (wire_open(frame, &header, &body) != WIRE_OK)
		return;
	MUST(fault == WIRE_OK && same_header(&header, &peeked));
	again(header, body);
	if (header.type == WIRE_PAGE)
		fault = wire_page_body(&header, body, &room, &position, &plain);
	else
		fault = wire_body(&header, body, &room, &plain);
	if (fault != WIRE_OK)
		return;
	wire_cursor_init(&cursor, &header, plain);
	while (wire_next(&cursor, &record))
		MUST(record.kind < RECORD_KINDS);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *frame;
	size_t bytes = size;
	uint32_t crc;

	if (size > WIRE_FRAME_BYTES_MAX + 16)
		return 0;
	open_all((struct text){ (const char *)data, (uint32_t)size });
	if (size < WIRE_FIXED_BYTES)
		return 0;
	frame = malloc(bytes);
	MUST(frame);
	memcpy(frame, data, bytes);
	memcpy(frame, "PSCP\1", 5);
	for (int i = 0; i < 4; i++)
		frame[8 + i] = (unsigned char)((bytes - 16) >> 8 * i);
	crc = crc32c(crc32c(0, frame, 12), frame + 16, bytes - 16);
	for (int i = 0; i < 4; i++)
		frame[12 + i] = (unsigned char)(crc >> 8 * i);
	open_all((struct text){ (char *)frame, (uint32_t)bytes });
	free(frame);
	return 0;
}
