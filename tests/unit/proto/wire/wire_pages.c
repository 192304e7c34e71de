/*
 * Which records may stand where, how many, and with what behind them.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/proto/wire/packed.h"

static void
elements_of_a_later_version_are_walked_to_depth_8(void **state)
{
	/* The record is the first container. */
	for (int depth = 1; depth <= 8; depth++) {
		event_of(0, 7);
		MAP(0);
		NIL();
		for (int i = 0; i < depth; i++)
			if (i % 2) {
				MAP(1);
				NIL();
			} else {
				ARRAY(1);
			}
		BIN(3);
		BATCH(depth <= 7 ? WIRE_OK : WIRE_DEPTH);
	}
	event_of(0, 7);
	MAP(0);
	NIL();
	RAW("\xc7\x01\x05z"); /* an extension */
	BATCH(WIRE_RECORD);
	event_of(0, 7);
	MAP(0);
	NIL();
	RAW("\xdc\xff\xff");
	BATCH(WIRE_TRUNCATED);
	event_of(0, 7);
	MAP(0);
	NIL();
	RAW("\xc1");
	BATCH(WIRE_RECORD);
}

static void
records_are_counted_and_known(void **state)
{
	for (uint32_t claim = 0; claim < 4; claim++) {
		for (int i = 0; i < 2; i++) {
			ARRAY(2);
			I(RECORD_CONTEXT);
			S("node-2");
			event_of(0, 6);
			MAP(0);
			NIL();
		}
		WORDS(check(WIRE_BATCH, claim),
		    claim == 2 ? WIRE_OK : WIRE_COUNT);
	}
	WORDS(check(WIRE_BATCH, 0), WIRE_OK);
	for (uint32_t over = 0; over < 2; over++) {
		for (uint32_t i = 0; i < WIRE_RECORDS_MAX + over; i++) {
			event_of(0, 6);
			MAP(0);
			NIL();
		}
		WORDS(check(WIRE_BATCH, WIRE_RECORDS_MAX + over),
		    over ? WIRE_COUNT : WIRE_OK);
	}
	event_of(0, 5); /* without its uuid */
	MAP(0);
	BATCH(WIRE_RECORD);
	ARRAY(0);
	BATCH(WIRE_RECORD);
	ARRAY(1);
	I(RECORD_CONTEXT);
	BATCH(WIRE_RECORD);
	ARRAY(2);
	I(RECORD_KINDS);
	NIL();
	BATCH(WIRE_RECORD);
	ARRAY(2);
	U(UINT64_MAX);
	NIL();
	BATCH(WIRE_RECORD);
	ARRAY(2);
	I(-1);
	NIL();
	BATCH(WIRE_RECORD);
	I(1);
	BATCH(WIRE_RECORD);
	MAP(1);
	I(1);
	I(1);
	BATCH(WIRE_RECORD);
}

/* ---- pages ---- */

static void
page_of(size_t cursor_bytes, uint32_t context_elements)
{
	put_bin(big, cursor_bytes);
	ARRAY(context_elements);
	I(RECORD_CONTEXT);
	S("node-2");
	if (context_elements > 2) {
		BIN(16);
		U(UINT64_MAX);
		I(9);
		I(-1);
	}
}

static void
pages_say_who_each_record_is(void **state)
{
	page_of(64, 6);
	event_of(0, 6);
	MAP(0);
	NIL();
	PAGE(WIRE_OK);
	page_of(65, 6);
	event_of(0, 6);
	MAP(0);
	NIL();
	PAGE(WIRE_LIMIT);
	page_of(0, 2);
	event_of(0, 6);
	MAP(0);
	NIL();
	PAGE(WIRE_RECORD);
	put_bin(id, 0);
	ARRAY(5); /* says all but when it was received */
	I(RECORD_CONTEXT);
	S("node-2");
	BIN(16);
	I(1);
	I(2);
	event_of(0, 6);
	MAP(0);
	NIL();
	PAGE(WIRE_RECORD);
	put_bin(id, 0);
	ARRAY(5);
	I(RECORD_CONTEXT);
	S("node-2");
	BIN(16);
	I(1);
	I(2);
	WORDS(check(WIRE_PAGE, 0), WIRE_RECORD);
	page_of(0, 6);
	for (int i = 0; i < 2; i++) { /* one context for two */
		event_of(0, 6);
		MAP(0);
		NIL();
	}
	WORDS(check(WIRE_PAGE, 2), WIRE_RECORD);
	put_bin(big, 0);
	WORDS(check(WIRE_PAGE, 0), WIRE_OK);
	WORDS(check(WIRE_PAGE, 0), WIRE_TRUNCATED);
}

/* A span of its own, with bytes behind it or with none. */
static void
span_of(uint64_t seq, uint64_t index, int64_t receive_ns, int64_t end_ns)
{
	put_bin(id, 0);
	ARRAY(6);
	I(RECORD_CONTEXT);
	S("node-2");
	BIN(16);
	U(seq);
	U(index);
	I(receive_ns);
	ARRAY(7);
	I(RECORD_SPAN);
	I(INT64_C(1546300800123456789));
	I(end_ns);
	S("load/0");
	S("Wait on Input Queue");
	S("load");
	MAP(0);
}

static void
an_identity_is_read_at_every_width_and_checked_at_each(void **state)
{
	static const uint64_t numbers[] = { 0, 127, 128, 255, 256, 65535, 65536,
		UINT32_MAX, (uint64_t)UINT32_MAX + 1, UINT64_MAX };
	static const int64_t times[] = { 0, 1, -1, TIME_MAX_NS, TIME_MIN_NS,
		TIME_MAX_NS + 1, TIME_MIN_NS - 1, INT64_MAX, INT64_MIN };
	const size_t count = sizeof(numbers) / sizeof(*numbers);

	for (size_t i = 0; i < count * count; i++) {
		uint64_t index = numbers[i % count];

		span_of(numbers[i / count], index, TIME_MAX_NS, 7);
		PAGE(index <= UINT32_MAX ? WIRE_OK : WIRE_LIMIT);
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		bool good = times[i] >= TIME_MIN_NS && times[i] <= TIME_MAX_NS;

		span_of(1, 2, times[i], 0);
		PAGE(good ? WIRE_OK : WIRE_LIMIT);
		span_of(1, 2, 3, times[i]);
		PAGE(good ? WIRE_OK : WIRE_LIMIT);
	}
}

static void
a_page_that_ends_anywhere_is_refused(void **state)
{
	size_t whole;

	span_of(300, 70000, 5, TIME_MAX_NS);
	whole = sbuffer.size;
	for (size_t bytes = 3; bytes < whole; bytes++) {
		sbuffer.size = bytes;
		assert_int_not_equal(check(WIRE_PAGE, 1), WIRE_OK);
		span_of(300, 70000, 5, TIME_MAX_NS);
	}
	PAGE(WIRE_OK);
}

static void
phases_and_dead_letters_are_only_in_pages(void **state)
{
	for (int page = 0; page < 2; page++) {
		if (page)
			page_of(0, 6);
		ARRAY(10);
		I(RECORD_PHASE);
		NIL();
		I(5);
		S("cascade");
		S("pull");
		put_str(big, 300);
		MAP(0);
		S("run-1");
		I(1);
		I(INT64_MAX);
		WORDS(check(page ? WIRE_PAGE : WIRE_BATCH, 1),
		    page ? WIRE_OK : WIRE_RECORD);
		if (page)
			page_of(0, 6);
		ARRAY(6);
		I(RECORD_REJECTED);
		I(5);
		S("checksum");
		I(70);
		BIN(16);
		S("5891b5b522d5df08");
		WORDS(check(page ? WIRE_PAGE : WIRE_BATCH, 1),
		    page ? WIRE_OK : WIRE_RECORD);
	}
}

static void
put_bucket(const char *metric, int64_t end_ns)
{
	ARRAY(7);
	I(RECORD_SAMPLE);
	I(5);
	S("cpu");
	ARRAY(1);
	I(3);
	put_str(metric, (uint32_t)strlen(metric));
	I(end_ns);
	S("10s");
}

static void
a_sample_of_a_page_may_be_a_bucket(void **state)
{
	page_of(0, 6);
	put_bucket("system.cpu.time", 9);
	WORDS(check(WIRE_PAGE, 1), WIRE_OK);
	page_of(0, 6);
	put_bucket("", 9);
	WORDS(check(WIRE_PAGE, 1), WIRE_LIMIT);
	page_of(0, 6);
	put_bucket("system.cpu.time", INT64_MAX);
	WORDS(check(WIRE_PAGE, 1), WIRE_LIMIT);
	/* In a batch it is a sample with something that is not known yet. */
	put_bucket("", INT64_MAX);
	WORDS(check(WIRE_BATCH, 1), WIRE_OK);
}

/* Seven fields, the last says how many. */
static void
a_sample_of_a_page_may_be_a_run_of_buckets(void **state)
{
	for (int64_t count = -1; count < 9; count += 5) {
		page_of(0, 6);
		ARRAY(8);
		I(RECORD_SAMPLE);
		I(5);
		S("cpu");
		ARRAY(0);
		S("system.cpu.time");
		I(9);
		S("10s");
		I(count);
		WORDS(check(WIRE_PAGE, 1), count < 0 ? WIRE_RECORD : WIRE_OK);
	}
}

/* In a page, and where a run's numbers would be. */
static void
a_sample_of_a_page_may_be_columns(void **state)
{
	for (uint32_t fields = 6; fields < 8; fields++) {
		page_of(0, 6);
		ARRAY(fields + 1);
		I(RECORD_SAMPLE);
		I(5);
		S("cpu");
		put_bin(big, 48);
		S("*");
		I(9);
		S("raw");
		if (fields == 7)
			I(2);
		WORDS(check(WIRE_PAGE, 1), fields == 7 ? WIRE_OK : WIRE_RECORD);
	}
	ARRAY(8);
	I(RECORD_SAMPLE);
	I(5);
	S("cpu");
	put_bin(big, 48);
	S("*");
	I(9);
	S("raw");
	I(2);
	WORDS(check(WIRE_BATCH, 1), WIRE_RECORD);
}

static void
a_bucket_comes_back_whole(void **state)
{
	static unsigned char page[1024];
	struct record record = { .kind = RECORD_SAMPLE,
		.node = text_of("n"),
		.time_ns = 5,
		.end_ns = 9,
		.source = text_of("cpu"),
		.name = text_of("system.cpu.time"),
		.key = text_of("raw"),
		.values = 2,
		.value_bytes = { "\1\2", 2 } };
	struct wire_header header = { .type = WIRE_PAGE, .records = 1 };
	struct wire_room room = { .at = NULL };
	struct wire_cursor walk;
	struct text cursor, records;
	struct record got;
	struct wire_writer w;

	wire_writer_init(&w, page, sizeof(page));
	wire_put_page_cursor(&w, text_of(""));
	wire_put_context_full(&w, &record);
	assert_true(wire_put_record(&w, &record));
	header.body_bytes = (uint32_t)w.bytes;
	WORDS(wire_page_body(&header,
		  (struct text){ (const char *)page, (uint32_t)w.bytes }, &room,
		  &cursor, &records),
	    WIRE_OK);
	wire_cursor_init(&walk, &header, records);
	assert_true(wire_next(&walk, &got));
	assert_true(got.time_ns == 5 && got.end_ns == 9 && got.has_end);
	assert_true(text_equal(got.name, record.name));
	assert_true(text_equal(got.key, record.key));
	assert_int_equal(got.values, 2);
	assert_false(wire_next(&walk, &got));
}

/* A sender must not give its records the numbers of another session's. */
static void
a_batch_cannot_say_which_session_it_is_of(void **state)
{
	struct wire_header header = {
		.type = WIRE_BATCH, .node = text_of("n"), .seq = 7, .records = 1
	};
	struct wire_cursor cursor;
	struct record record;
	struct text plain;

	page_of(0, 6);
	event_of(0, 6);
	MAP(0);
	NIL();
	header.body_bytes = (uint32_t)sbuffer.size - 2; /* no cursor */
	plain = (struct text){ sbuffer.data + 2, header.body_bytes };
	WORDS(wire_body(&header, plain, NULL, &plain), WIRE_OK);
	for (int put = 0; put < 2; put++) {
		header.type = put ? WIRE_PUT : WIRE_BATCH;
		wire_cursor_init(&cursor, &header, plain);
		cursor.receive_ns = 99;
		assert_true(wire_next(&cursor, &record));
		assert_true(text_equal(record.node, text_of("node-2")));
		assert_true(session_equal(&record.id.session, &header.session));
		assert_true(record.id.seq == 7 && record.id.index == 0);
		assert_true(record.receive_ns == 99);
		assert_false(wire_next(&cursor, &record));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(elements_of_a_later_version_are_walked_to_depth_8),
		TEST(records_are_counted_and_known),
		TEST(pages_say_who_each_record_is),
		TEST(an_identity_is_read_at_every_width_and_checked_at_each),
		TEST(a_page_that_ends_anywhere_is_refused),
		TEST(phases_and_dead_letters_are_only_in_pages),
		TEST(a_sample_of_a_page_may_be_a_bucket),
		TEST(a_sample_of_a_page_may_be_a_run_of_buckets),
		TEST(a_sample_of_a_page_may_be_columns),
		TEST(a_bucket_comes_back_whole),
		TEST(a_batch_cannot_say_which_session_it_is_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
