/*
 * Frames, headers, compression, questions.
 * SPDX-License-Identifier: MIT
 */
#include "proto/wire/wire.h"

#include "proto/hash/crc32c.h"
#include "tests/unit/check.h"

static unsigned char frame[WIRE_FRAME_BYTES_MAX + 4096];

/* A small event, by hand: [1, 1, "s", "n", {"k": "v"}, nil]. */
static const unsigned char event_bytes[] = { 0x96, 0x01, 0x01, 0xa1, 's', 0xa1,
	'n', 0x81, 0xa1, 'k', 0xa1, 'v', 0xc0 };
static const struct text event = { (const char *)event_bytes,
	sizeof(event_bytes) };

static struct wire_header
batch_header(void)
{
	struct wire_header header = { .type = WIRE_BATCH,
		.flags = 0x0201,
		.partition = text_of("acct$pool"),
		.node = text_of("node-1"),
		.seq = 7,
		.records = 1,
		.sent_ns = -3,
		.body_bytes = event.bytes,
		.chain = UINT64_MAX,
		.last_seq = 9,
		.reason = 2,
		.expect = 8,
		.generation = 1,
		.credit_bytes = 300,
		.retry_ms = 70000,
		.received_ns = 128,
		.answered_ns = -129,
		.chain_after = 5 };

	for (int i = 0; i < 16; i++)
		header.session.bytes[i] = (unsigned char)i;
	return header;
}

static struct text
make(const struct wire_header *header, struct text body)
{
	size_t bytes = wire_frame(frame, sizeof(frame), header, body);

	assert_int_not_equal(bytes, 0);
	return (struct text){ (char *)frame, (uint32_t)bytes };
}

/* After a change by hand. */
static void
compact(struct text whole)
{
	uint32_t crc = crc32c_table(
	    crc32c_table(0, frame, 12), frame + 16, whole.bytes - 16);

	for (int i = 0; i < 4; i++)
		frame[12 + i] = (unsigned char)(crc >> 8 * i);
}

#define FAULT(call, want)                                                      \
	assert_string_equal(wire_fault_name(call), wire_fault_name(want))

/* ---- frames ---- */

static void
a_frame_has_the_documented_bytes(void **state)
{
	static const unsigned char want[] = { 'P', 'S', 'C', 'P', 2, 3, 1, 2,
		83, 0, 0, 0, 0, 0, 0, 0, /* checksum: below */
		/* array of 18 */
		0xdc, 0, 18, 0xa9, 'a', 'c', 'c', 't', '$', 'p', 'o', 'o', 'l',
		0xa6, 'n', 'o', 'd', 'e', '-', '1', 0xc4, 16, 0, 1, 2, 3, 4, 5,
		6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 7, 1, 0, 0xfd, 13, 0xcf,
		255, 255, 255, 255, 255, 255, 255, 255, 9, 2, 8, 1, 0xcd, 1, 44,
		0xce, 0, 1, 0x11, 0x70, 0xcc, 128, 0xd1, 0xff, 0x7f, 5,
		/* the event */
		0x96, 0x01, 0x01, 0xa1, 's', 0xa1, 'n', 0x81, 0xa1, 'k', 0xa1,
		'v', 0xc0 };
	struct wire_header header = batch_header();
	struct text whole = make(&header, event);
	uint32_t crc = (uint32_t)frame[12] | (uint32_t)frame[13] << 8 |
		       (uint32_t)frame[14] << 16 | (uint32_t)frame[15] << 24;

	assert_true(crc == crc32c_table(crc32c_table(0, frame, 12), frame + 16,
			       whole.bytes - 16));
	memset(frame + 12, 0, 4);
	assert_int_equal(whole.bytes, sizeof(want));
	assert_memory_equal(frame, want, sizeof(want));
}

static void
assert_same_header(const struct wire_header *a, const struct wire_header *b)
{
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->flags, b->flags);
	assert_true(text_equal(a->partition, b->partition));
	assert_true(text_equal(a->node, b->node));
	assert_true(session_equal(&a->session, &b->session));
	assert_true(a->seq == b->seq);
	assert_int_equal(a->records, b->records);
	assert_int_equal(a->codec, b->codec);
	assert_true(a->sent_ns == b->sent_ns);
	assert_int_equal(a->body_bytes, b->body_bytes);
	assert_true(a->chain == b->chain);
	assert_true(a->last_seq == b->last_seq);
	assert_int_equal(a->reason, b->reason);
	assert_true(a->expect == b->expect);
	assert_true(a->generation == b->generation);
	assert_int_equal(a->credit_bytes, b->credit_bytes);
	assert_int_equal(a->retry_ms, b->retry_ms);
	assert_true(a->received_ns == b->received_ns);
	assert_true(a->answered_ns == b->answered_ns);
	assert_true(a->chain_after == b->chain_after);
}

static uint64_t
pick_bits(uint64_t *random)
{
	uint64_t shift = check_random(random) & 63;

	return check_random(random) >> shift;
}

static void
a_header_comes_back_whole(void **state)
{
	uint64_t random = check_seed();
	struct wire_header header, got;
	struct text body, whole;

	for (int i = 0; i < 20000; i++) {
		header = (struct wire_header){
			.type = (enum wire_type)(1 + i % (WIRE_TYPES - 1)),
			.flags = (uint16_t)check_random(&random),
			.partition = text_of("acct$pool"),
			.node = text_of("n\xc3\xb6te"),
			.seq = pick_bits(&random),
			.records = (uint32_t)pick_bits(&random),
			.sent_ns = (int64_t)~pick_bits(&random),
			.body_bytes = event.bytes,
			.chain = pick_bits(&random),
			.last_seq = pick_bits(&random),
			.reason = (uint32_t)pick_bits(&random),
			.expect = pick_bits(&random),
			.generation = pick_bits(&random),
			.credit_bytes = (uint32_t)pick_bits(&random),
			.retry_ms = (uint32_t)pick_bits(&random),
			.received_ns = (int64_t)(pick_bits(&random) / 2),
			.answered_ns = (int64_t)~pick_bits(&random),
			.chain_after = pick_bits(&random),
		};
		session_random(&header.session);
		whole = make(&header, event);
		FAULT(wire_open(whole, &got, &body), WIRE_OK);
		assert_same_header(&header, &got);
		assert_true(text_equal(body, event));
		FAULT(wire_peek(whole, &got), WIRE_OK);
		assert_same_header(&header, &got);
	}
}

static void
a_header_alone_comes_back_too(void **state)
{
	struct wire_header header = batch_header(), got = { 0 };
	unsigned char bytes[WIRE_HEADER_BYTES_MAX];
	struct text rest;
	size_t length = wire_put_header(bytes, sizeof(bytes), &header);

	assert_int_not_equal(length, 0);
	FAULT(wire_get_header((struct text){ (char *)bytes, (uint32_t)length },
		  &got, &rest),
	    WIRE_OK);
	got.type = header.type;
	got.flags = header.flags;
	assert_same_header(&header, &got);
	assert_int_equal(rest.bytes, 0);
	for (size_t room = 0; room < length; room++)
		assert_int_equal(wire_put_header(bytes, room, &header), 0);
}

static void
every_flipped_bit_is_seen(void **state)
{
	struct wire_header header = batch_header(), got;
	struct text whole = make(&header, event), body;

	for (uint32_t bit = 0; bit < 8 * whole.bytes; bit++) {
		frame[bit / 8] ^= (unsigned char)(1 << bit % 8);
		assert_int_not_equal(wire_open(whole, &got, &body), WIRE_OK);
		frame[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	FAULT(wire_open(whole, &got, &body), WIRE_OK);
}

static void
every_prefix_is_truncated_and_every_suffix_too_long(void **state)
{
	struct wire_header header = batch_header(), got;
	struct text whole = make(&header, event), body;

	for (uint32_t bytes = 0; bytes < whole.bytes; bytes++) {
		char *cut = malloc(bytes + 1);

		assert_non_null(cut);
		memcpy(cut + 1, frame, bytes);
		FAULT(wire_open((struct text){ cut + 1, bytes }, &got, &body),
		    WIRE_TRUNCATED);
		free(cut);
	}
	whole.bytes++;
	FAULT(wire_open(whole, &got, &body), WIRE_LENGTH);
}

static void
faults_are_reported_apart(void **state)
{
	struct wire_header header = batch_header(), got;
	struct text whole = make(&header, event), body;

	frame[0] = 'p';
	FAULT(wire_open(whole, &got, &body), WIRE_MAGIC);
	whole = make(&header, event);
	frame[4] = 1;
	FAULT(wire_open(whole, &got, &body), WIRE_OTHER_VERSION);
	assert_int_equal(wire_version(whole), 1);
	assert_int_equal(got.type, WIRE_BATCH);
	whole = make(&header, event);
	frame[40] ^= 1;
	FAULT(wire_open(whole, &got, &body), WIRE_CHECKSUM);
	FAULT(wire_peek(whole, &got), WIRE_OK);
	/* A later type: the answer can be addressed. */
	whole = make(&header, event);
	frame[5] = 99;
	compact(whole);
	FAULT(wire_open(whole, &got, &body), WIRE_TYPE);
	assert_true(got.seq == header.seq && got.partition.bytes == 9);
	frame[5] = 0;
	compact(whole);
	FAULT(wire_open(whole, &got, &body), WIRE_TYPE);
	whole = make(&header, event);
	frame[18] = 6; /* elements */
	compact(whole);
	FAULT(wire_open(whole, &got, &body), WIRE_HEADER);
	whole = make(&header, event);
	frame[19] = 0xc0; /* partition is nil */
	compact(whole);
	FAULT(wire_open(whole, &got, &body), WIRE_HEADER);
}

static void
partition_and_node_are_names(void **state)
{
	static char long_name[300];
	struct wire_header header = batch_header(), got;
	struct text body;

	memset(long_name, 'x', sizeof(long_name));
	header.node = text_of("a\x1b");
	FAULT(wire_open(make(&header, event), &got, &body), WIRE_NAME);
	header.node = text_of("\xff");
	FAULT(wire_open(make(&header, event), &got, &body), WIRE_NAME);
	header.node = (struct text){ long_name, 255 };
	header.partition = header.node;
	FAULT(wire_open(make(&header, event), &got, &body), WIRE_OK);
	header.partition.bytes++;
	FAULT(wire_open(make(&header, event), &got, &body), WIRE_NAME);
	/* Who makes a stream says whose; a reader need not. */
	header.partition = text_of("");
	FAULT(wire_open(make(&header, event), &got, &body), WIRE_NAME);
	header.type = WIRE_PUT;
	FAULT(wire_open(make(&header, event), &got, &body), WIRE_OK);
	header.type = WIRE_HELLO;
	header.partition = text_of("p");
	header.node = text_of("");
	FAULT(wire_open(make(&header, event), &got, &body), WIRE_NAME);
	header.type = WIRE_BYE;
	FAULT(wire_open(make(&header, event), &got, &body), WIRE_NAME);
	header.type = WIRE_SELECT;
	FAULT(wire_open(make(&header, event), &got, &body), WIRE_OK);
}

static void
a_frame_keeps_to_its_limits(void **state)
{
	static char big[WIRE_FRAME_BYTES_MAX];
	struct wire_header header = batch_header(), got;
	struct text body = { big, sizeof(big) }, whole;
	size_t bytes = make(&header, event).bytes;

	for (size_t room = 0; room < bytes; room++)
		assert_int_equal(wire_frame(frame, room, &header, event), 0);
	assert_int_equal(wire_frame(frame, sizeof(frame), &header, body), 0);
	body.bytes = WIRE_FRAME_BYTES_MAX - 200;
	whole = make(&header, body);
	FAULT(wire_open(whole, &got, &body), WIRE_OK);
	whole.bytes = WIRE_FRAME_BYTES_MAX + 1;
	for (int i = 0; i < 4; i++)
		frame[8 + i] = (unsigned char)((whole.bytes - 16) >> 8 * i);
	compact(whole);
	FAULT(wire_open(whole, &got, &body), WIRE_LENGTH);
	header.partition = (struct text){ big, 1100 };
	assert_int_equal(wire_frame(frame, sizeof(frame), &header, event), 0);
}

static void
everything_has_a_word(void **state)
{
	for (int i = 0; i < WIRE_FAULTS; i++)
		assert_string_not_equal(
		    wire_fault_name((enum wire_fault)i), "unknown");
	for (int i = WIRE_HELLO; i < WIRE_TYPES; i++)
		assert_string_not_equal(
		    wire_type_name((enum wire_type)i), "unknown");
	for (int i = 0; i <= WIRE_NACK_FETCHING; i++)
		assert_string_not_equal(
		    wire_reason_name((enum wire_reason)i), "unknown");
	assert_string_equal(wire_type_name((enum wire_type)99), "unknown");
	assert_string_equal(wire_reason_name((enum wire_reason)20), "unknown");
	assert_string_equal(
	    wire_reason_name((enum wire_reason) - 1), "unknown");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_has_the_documented_bytes),
		cmocka_unit_test(a_header_comes_back_whole),
		cmocka_unit_test(a_header_alone_comes_back_too),
		cmocka_unit_test(every_flipped_bit_is_seen),
		cmocka_unit_test(
		    every_prefix_is_truncated_and_every_suffix_too_long),
		cmocka_unit_test(faults_are_reported_apart),
		cmocka_unit_test(partition_and_node_are_names),
		cmocka_unit_test(a_frame_keeps_to_its_limits),
		cmocka_unit_test(everything_has_a_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
