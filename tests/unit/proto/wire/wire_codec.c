/*
 * Compressed bodies.
 * SPDX-License-Identifier: MIT
 */
#include <zstd.h>

#include "proto/wire/wire.h"
#include "tests/unit/check.h"

/* A small event, by hand: [1, 1, "s", "n", {"k": "v"}, nil]. */
static const unsigned char event_bytes[] = { 0x96, 0x01, 0x01, 0xa1, 's', 0xa1,
	'n', 0x81, 0xa1, 'k', 0xa1, 'v', 0xc0 };
static const struct text event = { (const char *)event_bytes,
	sizeof(event_bytes) };

#define FAULT(call, want)                                                      \
	assert_string_equal(wire_fault_name(call), wire_fault_name(want))

static char plain_bytes[200000], packed[WIRE_FRAME_BYTES_MAX];

static enum wire_fault
open_body(struct wire_room *room, size_t bytes, uint32_t claim)
{
	struct wire_header header = { .type = WIRE_BATCH,
		.node = text_of("n"),
		.records = 1,
		.body_bytes = event.bytes };
	struct text plain;
	/* Of exactly its size, for the sanitizer. */
	char *exact = malloc(bytes + 1);
	enum wire_fault fault;

	assert_non_null(exact);
	memcpy(exact + 1, packed, bytes);
	header.codec = WIRE_ZSTD;
	header.body_bytes = claim;
	header.records = claim / event.bytes;
	fault = wire_body(
	    &header, (struct text){ exact + 1, (uint32_t)bytes }, room, &plain);
	free(exact);
	return fault;
}

static void
a_compressed_body_is_exactly_one_frame_of_its_size(void **state)
{
	enum { EVENTS = 5000 };
	uint32_t whole = EVENTS * event.bytes;
	struct wire_room room = { 0 };
	size_t bytes;

	for (int i = 0; i < EVENTS; i++)
		memcpy(plain_bytes + (size_t)i * event.bytes, event.at,
		    event.bytes);
	bytes = wire_compress(
	    packed, sizeof(packed), (struct text){ plain_bytes, whole });
	assert_int_not_equal(bytes, 0);
	FAULT(open_body(&room, bytes, whole + 1), WIRE_CODEC);
	FAULT(open_body(&room, bytes, whole - event.bytes), WIRE_CODEC);
	FAULT(open_body(&room, bytes, UINT32_MAX), WIRE_CODEC);
	FAULT(open_body(&room, bytes, 0), WIRE_CODEC);
	FAULT(open_body(&room, bytes - 1, whole), WIRE_CODEC);
	FAULT(open_body(&room, 0, whole), WIRE_CODEC);
	packed[bytes] = 0;
	FAULT(open_body(&room, bytes + 1, whole), WIRE_CODEC);
	memcpy(packed + bytes, packed, bytes);
	FAULT(open_body(&room, 2 * bytes, whole), WIRE_CODEC);
	/* So far nothing was worth any memory. */
	assert_null(room.at);
	FAULT(open_body(&room, bytes, whole), WIRE_OK);
	/* Damage that the frame's checksum missed does no harm. */
	for (size_t i = 0; i < bytes; i++) {
		packed[i] ^= 0x55;
		open_body(&room, bytes, whole);
		packed[i] ^= 0x55;
	}
	FAULT(open_body(&room, bytes, whole), WIRE_OK);
	assert_memory_equal(room.at, plain_bytes, whole);
	wire_room_clear(&room);
}

static void
a_bomb_is_refused_before_it_gets_memory(void **state)
{
	uint32_t big = WIRE_BODY_BYTES_MAX + 1;
	char *zeros = calloc(1, big);
	struct wire_room room = { 0 };
	size_t bytes;

	assert_non_null(zeros);
	bytes = ZSTD_compress(packed, sizeof(packed), zeros, big, 1);
	assert_false(ZSTD_isError(bytes));
	FAULT(open_body(&room, bytes, big), WIRE_CODEC);
	assert_null(room.at);
	assert_int_equal(
	    wire_compress(packed, sizeof(packed), (struct text){ zeros, big }),
	    0);
	wire_room_clear(&room);
	free(zeros);
}

static void
what_does_not_shrink_is_not_compressed(void **state)
{
	uint64_t random = check_seed();
	struct text body = { plain_bytes, 4096 };

	for (size_t i = 0; i < body.bytes; i++)
		plain_bytes[i] = (char)check_random(&random);
	assert_int_equal(wire_compress(packed, sizeof(packed), body), 0);
	assert_int_equal(wire_compress(packed, sizeof(packed), event), 0);
	memset(plain_bytes, 0, body.bytes);
	assert_int_not_equal(wire_compress(packed, 100, body), 0);
	assert_int_equal(wire_compress(packed, 5, body), 0);
}

static void
an_unknown_codec_is_refused(void **state)
{
	struct wire_header header = { .type = WIRE_BATCH,
		.node = text_of("n"),
		.records = 1,
		.body_bytes = event.bytes };
	struct text plain;

	header.codec = 2;
	FAULT(wire_body(&header, event, NULL, &plain), WIRE_CODEC);
	header.codec = WIRE_NONE;
	FAULT(wire_body(&header, event, NULL, &plain), WIRE_OK);
	header.body_bytes++;
	FAULT(wire_body(&header, event, NULL, &plain), WIRE_CODEC);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_compressed_body_is_exactly_one_frame_of_its_size),
		cmocka_unit_test(a_bomb_is_refused_before_it_gets_memory),
		cmocka_unit_test(what_does_not_shrink_is_not_compressed),
		cmocka_unit_test(an_unknown_codec_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
