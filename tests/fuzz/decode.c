/*
 * decode - any bytes as frames one after another, as they are and with a
 * checksum that is right for the first: each line of JSON can be parsed, and
 * the frames are where the offsets say.
 * SPDX-License-Identifier: MIT
 */
#include "proto/decode/decode.h"

#include <stdlib.h>
#include <string.h>

#include "proto/hash/crc32c.h"
#include "proto/base/memory.h"
#include "proto/json/json_find.h"
#include "proto/json/json_reader.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/no_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
judge(char *text, const unsigned char *data, size_t size)
{
	for (char *line = text, *end; *line != '\0'; line = end + 1) {
		struct json_reader reader;
		struct text object;
		size_t offset;

		end = strchr(line, '\n');
		MUST(end != NULL);
		/* Not a strict reader: a text may contain NUL. */
		object = (struct text){ line, (uint32_t)(end - line) };
		json_reader_init(&reader, object);
		json_reader_take(&reader);
		MUST(json_reader_finish(&reader));
		offset = strtoull(json_find(object, "offset").at, NULL, 10);
		MUST(offset + WIRE_FIXED_BYTES <= size);
		MUST(memcmp(data + offset, "PSCP", 4) == 0);
	}
}

static void
decode_all(const unsigned char *data, size_t size, bool as_json)
{
	static struct wire_room room;
	struct decode decode = { .as_json = as_json, .room = room };
	unsigned char *copy = memory_copy(data, size);
	FILE *input = fmemopen(copy, size, "r");
	struct err err = { 0 };
	size_t bytes;
	char *text;

	MUST(input != NULL);
	decode.file = memory_stream(&text, &bytes);
	decode_stream(&decode, input, "input", &err);
	memory_stream_end(&decode.file);
	room = decode.room;
	fclose(input);
	MUST(strlen(text) == bytes);
	if (as_json)
		judge(text, data, size);
	free(text);
	free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *frame;
	uint32_t crc;

	if (size == 0 || size > 2 * WIRE_FRAME_BYTES_MAX)
		return 0;
	decode_all(data, size, true);
	decode_all(data, size, false);
	if (size < WIRE_FIXED_BYTES || size > WIRE_FRAME_BYTES_MAX)
		return 0;
	frame = memory_copy(data, size);
	memcpy(frame, "PSCP\1", 5);
	for (int i = 0; i < 4; i++)
		frame[8 + i] = (unsigned char)((size - 16) >> 8 * i);
	crc = crc32c(crc32c(0, frame, 12), frame + 16, size - 16);
	for (int i = 0; i < 4; i++)
		frame[12 + i] = (unsigned char)(crc >> 8 * i);
	decode_all(frame, size, true);
	decode_all(frame, size, false);
	free(frame);
	return 0;
}
