/*
 * decode - frames as people read them, and bytes that are none.
 * SPDX-License-Identifier: MIT
 */
#include "proto/decode/decode.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/hash/prng.h"
#include "proto/os/clock.h"
#include "tests/unit/check.h"

static unsigned char frames[4 * WIRE_FRAME_BYTES_MAX];
static size_t frames_bytes;
static char *text;
static struct err err;

static void
add_frame(const struct wire_header *header, struct text body)
{
	size_t bytes = wire_frame(
	    frames + frames_bytes, sizeof(frames) - frames_bytes, header, body);

	assert_true(bytes > 0);
	frames_bytes += bytes;
}

/* An event of a batch, seq 7. */
static void
add_batch(void)
{
	static unsigned char body[1024];
	const struct wire_header header = { .type = WIRE_BATCH,
		.partition = text_of("acct$pool"),
		.node = text_of("n1"),
		.session = { { 0xab, 0xcd } },
		.seq = 7,
		.records = 1,
		.chain = 0x1234 };
	const struct record event = { .kind = RECORD_EVENT,
		.time_ns = 1500000000,
		.has_time = true,
		.source = text_of("test"),
		.name = text_of("begin") };
	struct wire_writer w;

	wire_writer_init(&w, body, sizeof(body));
	assert_true(wire_put_record(&w, &event));
	add_frame(&header, (struct text){ (char *)body, (uint32_t)w.bytes });
}

static void
add_ack(void)
{
	const struct wire_header header = { .type = WIRE_ACK,
		.flags = WIRE_FLAG_STORED | WIRE_FLAG_DROPPED,
		.partition = text_of("acct$pool"),
		.node = text_of("n1"),
		.seq = 7,
		.expect = 8 };

	add_frame(&header, (struct text){ NULL, 0 });
}

/* Decode what was added; standard error is quiet. */
static int
decode_all(bool as_json)
{
	struct decode decode = { .as_json = as_json };
	size_t bytes;
	FILE *input;
	int rc;

	free(text);
	/* fmemopen refuses an empty buffer. */
	input = frames_bytes > 0 ? fmemopen(frames, frames_bytes, "r")
				 : fopen("/dev/null", "r");
	assert_non_null(input);
	decode.file = memory_stream(&text, &bytes);
	err.text[0] = '\0';
	rc = decode_stream(&decode, input, "INPUT", &err);
	memory_stream_end(&decode.file);
	decode_clear(&decode);
	fclose(input);
	return rc;
}

static int
set_up(void **state)
{
	frames_bytes = 0;
	return 0;
}

static void
frames_one_after_another_are_printed(void **state)
{
	add_batch();
	add_ack();
	assert_int_equal(decode_all(true), 0);
	assert_string_equal(text,
	    "{\"offset\": 0, \"bytes\": 87, \"type\": \"batch\", "
	    "\"partition\": \"acct$pool\", \"node\": \"n1\", "
	    "\"session\": \"abcd0000000000000000000000000000\", "
	    "\"seq\": 7, \"records\": 1, \"body_bytes\": 20, "
	    "\"chain\": \"0000000000001234\", "
	    "\"body\": [{\"kind\": \"event\", \"partition\": \"acct$pool\", "
	    "\"node\": \"n1\", "
	    "\"session\": \"abcd0000000000000000000000000000\", "
	    "\"seq\": 7, \"index\": 0, \"receive_ns\": 0, "
	    "\"time_ns\": 1500000000, "
	    "\"time\": \"1970-01-01T00:00:01.500000000Z\", "
	    "\"source\": \"test\", \"name\": \"begin\", \"uuid\": null, "
	    "\"attributes\": {}}]}\n"
	    "{\"offset\": 87, \"bytes\": 65, \"type\": \"ack\", "
	    "\"flags\": \"stored dropped\", \"partition\": \"acct$pool\", "
	    "\"node\": \"n1\", \"seq\": 7, \"expect\": 8}\n");
	assert_int_equal(decode_all(false), 0);
	assert_non_null(strstr(text, "offset 87: ack, 65 bytes\n"));
	assert_non_null(strstr(text, "  expect           8\n"));
	assert_non_null(strstr(text, "  {\"kind\": \"event\", "));
}

static void
a_query_is_printed_with_its_fields(void **state)
{
	const struct wire_query query = { .kinds = 2,
		.name = text_of("test:*"),
		.from_ns = 1000000000,
		.to_ns = TIME_MAX_NS,
		.page_bytes = 4096 };
	const struct wire_header header = { .type = WIRE_SELECT,
		.partition = text_of("acct$pool") };
	unsigned char body[WIRE_QUERY_BYTES_MAX];
	size_t bytes = wire_put_query(body, sizeof(body), &query);

	add_frame(&header, (struct text){ (char *)body, (uint32_t)bytes });
	assert_int_equal(decode_all(true), 0);
	assert_non_null(
	    strstr(text, "\"query\": {\"kinds\": 2, \"name\": \"test:*\", "
			 "\"from_ns\": 1000000000, \"page_bytes\": 4096}"));
}

static void
nothing_is_no_frame_and_no_fault(void **state)
{
	assert_int_equal(decode_all(false), 0);
	assert_string_equal(text, "");
}

static void
a_bad_frame_does_not_hide_the_next(void **state)
{
	add_batch();
	frames[60] ^= 1;
	add_ack();
	assert_int_equal(decode_all(true), -1);
	assert_non_null(strstr(err.text, "INPUT: 1 frames"));
	assert_non_null(strstr(text, "\"error\": \"checksum\""));
	assert_non_null(strstr(text, "\"type\": \"ack\""));
}

static void
an_input_that_ends_early_is_a_fault(void **state)
{
	size_t whole;

	add_batch();
	whole = frames_bytes;
	for (frames_bytes = 1; frames_bytes < whole; frames_bytes++)
		assert_int_equal(decode_all(true), -1);
}

static void
hostile_bytes_end_the_walk(void **state)
{
	uint64_t prng = 4;

	for (int round = 0; round < 3000; round++) {
		frames_bytes = 0;
		add_batch();
		add_ack();
		for (int64_t i = prng_between(&prng, 1, 8); i > 0; i--)
			frames[prng_between(
			    &prng, 0, (int64_t)frames_bytes - 1)] =
			    (unsigned char)prng_bits(&prng);
		decode_all(round % 2 == 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
		    frames_one_after_another_are_printed, set_up),
		cmocka_unit_test_setup(
		    a_query_is_printed_with_its_fields, set_up),
		cmocka_unit_test_setup(
		    nothing_is_no_frame_and_no_fault, set_up),
		cmocka_unit_test_setup(
		    a_bad_frame_does_not_hide_the_next, set_up),
		cmocka_unit_test_setup(
		    an_input_that_ends_early_is_a_fault, set_up),
		cmocka_unit_test_setup(hostile_bytes_end_the_walk, set_up),
	};
	int failed;

	if (freopen("/dev/null", "w", stderr) == NULL)
		return 1;
	failed = cmocka_run_group_tests_name("decode", tests, NULL, NULL);
	free(text);
	return failed;
}
