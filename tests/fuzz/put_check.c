/*
 * put_check - the records of a put (first byte: their number) as the agent
 * takes them: what passes the check can be copied one by one into a batch, is
 * no longer than it was, and reads the same again.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/put_check.h"
#include "tests/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 64 << 10 };

/* Copy as the batcher does: a context where the node changes. */
static void
copy(const struct wire_header *header, struct text plain,
    struct wire_writer *writer)
{
	struct text node = header->node;
	struct wire_cursor cursor;
	struct record record;
	struct err err;

	wire_cursor_init(&cursor, header, plain);
	while (wire_next(&cursor, &record)) {
		MUST(record_check(&record, &err) == 0);
		if (!text_equal(node, record.node))
			MUST(wire_put_context(writer, record.node));
		node = record.node;
		MUST(wire_put_record(writer, &record));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned char frame[ROOM + 2048], first[ROOM], second[ROOM];
	static struct wire_room room;
	struct wire_header header = { .type = WIRE_PUT,
		.partition = text_of("p"),
		.node = text_of("n") };
	struct wire_writer writer, again;
	struct text body, plain;
	size_t bytes;

	if (size < 1 || size > ROOM - 300)
		return 0;
	header.records = data[0];
	header.body_bytes = (uint32_t)size - 1;
	body = (struct text){ (const char *)data + 1, (uint32_t)size - 1 };
	bytes = wire_frame(frame, sizeof(frame), &header, body);
	if (put_check((struct text){ (const char *)frame, (uint32_t)bytes },
		&room, &header, &plain) != WIRE_OK)
		return 0;
	wire_writer_init(&writer, first, sizeof(first));
	copy(&header, plain, &writer);
	MUST(writer.records == header.records);
	MUST(writer.bytes <= plain.bytes + NAME_BYTES_MAX + 16);

	/* The copy of the copy is the copy. */
	wire_writer_init(&again, second, sizeof(second));
	plain = (struct text){ (const char *)first, (uint32_t)writer.bytes };
	copy(&header, plain, &again);
	MUST(again.bytes == writer.bytes);
	MUST(memcmp(first, second, again.bytes) == 0);
	return 0;
}
