/*
 * client_encode - names and attributes of any bytes: what comes of them the
 * agent takes.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <string.h>

#include "agents/client/client_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The next text of the input, up to a zero. */
static const char *
next(const uint8_t **data, size_t *size, char to[static 600])
{
	size_t n = 0;

	while (*size > 0 && n < 599) {
		uint8_t byte = *(*data)++;

		--*size;
		if (byte == 0)
			break;
		to[n++] = (char)byte;
	}
	to[n] = '\0';
	return to;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static _Alignas(8) unsigned char memory[16 << 10], body[32 << 10];
	static struct wire_room room;
	struct client_record *record = (struct client_record *)(void *)memory;
	char *p = (char *)(record + 1), text[600], key[600];
	struct fast_clock ticks = { 0 };
	struct client_track track = { .number = 1 };
	struct wire_writer pairs, writer;
	struct wire_header header = { .type = WIRE_PUT };
	struct text plain;

	*record = (struct client_record){
		.kind = size > 0 && data[0] & 1 ? CLIENT_SPAN : CLIENT_EVENT,
		.id = 1,
	};
	next(&data, &size, text);
	record->source_bytes = (uint8_t)strnlen(text, NAME_BYTES_MAX);
	p = mempcpy(p, text, record->source_bytes);
	client_take_part(client.program, text_of(next(&data, &size, text)));
	client_take_part(track.name, text_of(next(&data, &size, text)));
	next(&data, &size, text);
	record->name_bytes = (uint8_t)strnlen(text, NAME_BYTES_MAX);
	p = mempcpy(p, text, record->name_bytes);
	wire_writer_init(&pairs, p, POOLSCOPE_EVENT_BYTES);
	while (size > 0 && record->count < POOLSCOPE_ATTRIBUTES) {
		struct poolscope_attribute attribute = poolscope_text(
		    next(&data, &size, key), next(&data, &size, text));

		record->count += client_put_attribute(&pairs, &attribute);
	}
	record->pair_bytes = (uint16_t)pairs.bytes;
	wire_writer_init(&writer, body, sizeof(body));
	assert(client_encode(&writer, &ticks, &track, record));
	assert(client_encode_track(&writer, &track, text_of("node")));
	header.records = writer.records;
	header.body_bytes = (uint32_t)writer.bytes;
	assert(wire_body(&header,
		   (struct text){ (const char *)body, header.body_bytes },
		   &room, &plain) == WIRE_OK);
	return 0;
}
