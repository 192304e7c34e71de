/*
 * decode - decode the frames of an input.
 * SPDX-License-Identifier: MIT
 */
#include "proto/decode/decode.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/os/log.h"

struct reading {
	struct decode *decode;
	FILE *input;
	const char *name;
	unsigned char *at; /* WIRE_FRAME_BYTES_MAX */
	uint64_t offset;   /* of the frame */
	uint64_t faults;
};

void
decode_clear(struct decode *decode)
{
	wire_room_clear(&decode->room);
}

static void
complain(struct reading *r, const char *what)
{
	r->faults++;
	log_error("%s: offset %" PRIu64 ": %s", r->name, r->offset, what);
}

static const char *
fault_sentence(enum wire_fault fault)
{
	static const char *const sentences[WIRE_FAULTS] = {
		[WIRE_OK] = "the frame is valid",
		[WIRE_TRUNCATED] = "the frame is shorter than a length in it",
		[WIRE_MAGIC] = "no frame begins here (no magic PSCP)",
		[WIRE_OTHER_VERSION] = "the frame is of another version",
		[WIRE_TYPE] = "the type of the frame is unknown",
		[WIRE_LENGTH] = "the length field does not match the frame, or "
				"exceeds the limit",
		[WIRE_CHECKSUM] = "the checksum of the frame is wrong",
		[WIRE_HEADER] = "the header is not the expected array",
		[WIRE_NAME] = "a partition, node or name is not valid",
		[WIRE_CODEC] =
		    "the body does not decompress to the size in the header",
		[WIRE_DEPTH] = "the body is nested too deeply",
		[WIRE_RECORD] = "a record does not have the form of its kind",
		[WIRE_LIMIT] = "a record exceeds a limit",
		[WIRE_COUNT] = "the number of records differs from the header",
	};

	return fault < WIRE_FAULTS ? sentences[fault] : "unknown fault";
}

/* The length of the frame, according to the fixed bytes at r->at; 0: no usable
 * length. */
static uint32_t
frame_bytes(struct reading *r, size_t have)
{
	struct wire_header header;
	uint32_t length;

	/* Valid: an empty input, or one that ends between two frames. */
	if (have < WIRE_FIXED_BYTES) {
		complain(r, "the input ends within the fixed bytes of a frame");
		return 0;
	}
	switch (wire_peek(
	    (struct text){ (const char *)r->at, WIRE_FIXED_BYTES }, &header)) {
	case WIRE_MAGIC: complain(r, fault_sentence(WIRE_MAGIC)); return 0;
	case WIRE_OTHER_VERSION:
		complain(r, fault_sentence(WIRE_OTHER_VERSION));
		return 0;
	default: break;
	}
	memcpy(&length, r->at + 8, sizeof(length));
	length = le32toh(length);
	if (length <= WIRE_FRAME_BYTES_MAX - WIRE_FIXED_BYTES)
		return WIRE_FIXED_BYTES + length;
	complain(r, "the frame claims to be longer than 256 KiB");
	return 0;
}

/* 1: there may be another frame; 0: the input ends, or the next frame cannot
 * be found. */
static int
next_frame(struct reading *r)
{
	size_t have = fread(r->at, 1, WIRE_FIXED_BYTES, r->input);
	enum wire_fault fault;
	uint32_t bytes;

	if (have == 0)
		return 0;
	bytes = frame_bytes(r, have);
	if (bytes == 0)
		return 0;
	have += fread(r->at + have, 1, bytes - WIRE_FIXED_BYTES, r->input);
	if (have < bytes) {
		complain(r, "the input ends within the frame");
		return 0;
	}
	fault = decode_frame(
	    r->decode, r->offset, (struct text){ (const char *)r->at, bytes });
	if (fault != WIRE_OK)
		complain(r, fault_sentence(fault));
	r->offset += bytes;
	return 1;
}

int
decode_stream(
    struct decode *decode, FILE *input, const char *name, struct err *err)
{
	struct reading r = { .decode = decode,
		.input = input,
		.name = name,
		.at = memory_alloc(WIRE_FRAME_BYTES_MAX) };

	while (next_frame(&r) > 0)
		;
	free(r.at);
	if (ferror(input))
		return err_set(err, "%s: %s", name, strerror(errno));
	if (r.faults > 0)
		return err_set(err, "%s: %" PRIu64 " frames cannot be decoded",
		    name, r.faults);
	return 0;
}
