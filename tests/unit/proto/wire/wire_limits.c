/*
 * Fields of records that break a limit, each with the fault it gets.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/proto/wire/packed.h"

static void
names_keep_to_their_rules(void **state)
{
	static const char *const bad[] = { "", "\x1f", "\x7f", "a\nb",
		"\xc2\x85", "\x80", "\xc0\xaf", "\xed\xa0\x80",
		"\xf4\x90\x80\x80", "\xe2\x82",
		"a name of more than thirty-one b\x01",
		"a name of more than thirty-one bytes\xff and more" };
	/* Alone in its buffer, and with much behind it: there are two ways. */
	static const size_t behind[] = { 0, 200 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		for (int where = 0; where < 3; where++)
			for (int j = 0; j < 2; j++) {
				const char *at[3] = { "s", "n", "k" };

				at[where] = bad[i];
				ARRAY(7);
				I(RECORD_EVENT);
				I(0);
				put_str(at[0], strlen(at[0]));
				put_str(at[1], strlen(at[1]));
				MAP(1);
				put_str(at[2], strlen(at[2]));
				NIL();
				NIL();
				put_bin(big, behind[j]);
				BATCH(WIRE_LIMIT);
			}
	event_of(0, 6);
	MAP(1);
	put_str(big, 255);
	NIL();
	NIL();
	BATCH(WIRE_OK);
	event_of(0, 6);
	MAP(1);
	put_str(big, 256);
	NIL();
	NIL();
	BATCH(WIRE_LIMIT);
	ARRAY(2);
	I(RECORD_CONTEXT);
	S("a\n");
	event_of(0, 6);
	MAP(0);
	NIL();
	BATCH(WIRE_NAME);
}

static void
times_are_in_range_in_every_field(void **state)
{
	static const struct {
		int64_t time_ns;
		enum wire_fault fault;
	} cases[] = { { TIME_MIN_NS, WIRE_OK }, { TIME_MAX_NS, WIRE_OK },
		{ TIME_MIN_NS - 1, WIRE_LIMIT },
		{ TIME_MAX_NS + 1, WIRE_LIMIT }, { INT64_MIN, WIRE_LIMIT },
		{ INT64_MAX, WIRE_LIMIT } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		event_of(cases[i].time_ns, 6);
		MAP(0);
		NIL();
		BATCH(cases[i].fault);
		ARRAY(7);
		I(RECORD_SPAN);
		I(0);
		I(cases[i].time_ns);
		S("t");
		S("n");
		S("");
		MAP(0);
		BATCH(cases[i].fault);
	}
	ARRAY(6);
	I(RECORD_EVENT);
	U(UINT64_MAX);
	S("s");
	S("n");
	MAP(0);
	NIL();
	BATCH(WIRE_LIMIT);
	ARRAY(6);
	I(RECORD_EVENT);
	msgpack_pack_double(&pk, 0);
	S("s");
	S("n");
	MAP(0);
	NIL();
	BATCH(WIRE_RECORD);
}

static void
texts_have_the_limit_of_their_kind(void **state)
{
	static const struct {
		bool entity;
		size_t bytes;
		enum wire_fault fault;
	} cases[] = { { false, RECORD_TEXT_BYTES_MAX, WIRE_OK },
		{ false, RECORD_TEXT_BYTES_MAX + 1, WIRE_LIMIT },
		{ true, RECORD_ENTITY_TEXT_BYTES_MAX, WIRE_OK },
		{ true, RECORD_ENTITY_TEXT_BYTES_MAX + 1, WIRE_LIMIT } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (cases[i].entity) {
			ARRAY(4);
			I(RECORD_ENTITY);
			S("set");
			S("cpu");
			MAP(1);
			S("k");
		} else {
			attribute();
		}
		put_str(big, cases[i].bytes);
		if (!cases[i].entity)
			NIL();
		BATCH(cases[i].fault);
	}
	/* Short, middling and long, with the bad byte last. */
	for (size_t bytes = 1; bytes < 600; bytes++) {
		attribute();
		msgpack_pack_str(&pk, bytes);
		put_raw(big, bytes - 1);
		RAW("\xff");
		put_bin(id, bytes % 2 ? 16 : 0);
		BATCH(WIRE_LIMIT);
	}
	attribute();
	S("\xf0\x9f\x98\x80 and\0control\ncharacters are text");
	NIL();
	BATCH(WIRE_OK);
}

static void
attributes_are_scalars_and_at_most_64(void **state)
{
	for (int pairs = 64; pairs <= 65; pairs++) {
		event_of(0, 6);
		MAP((size_t)pairs);
		for (int i = 0; i < pairs; i++) {
			S("same");
			I(i);
		}
		NIL();
		BATCH(pairs == 64 ? WIRE_OK : WIRE_LIMIT);
	}
	attribute();
	ARRAY(0);
	NIL();
	BATCH(WIRE_RECORD);
	attribute();
	MAP(0);
	NIL();
	BATCH(WIRE_RECORD);
	attribute();
	BIN(3);
	NIL();
	BATCH(WIRE_RECORD);
	attribute();
	RAW("\xd6\xff\0\0\0\0"); /* an extension: a time */
	NIL();
	BATCH(WIRE_RECORD);
	attribute();
	RAW("\xc1");
	NIL();
	BATCH(WIRE_RECORD);
	event_of(0, 6);
	MAP(1);
	I(1);
	NIL();
	NIL();
	BATCH(WIRE_RECORD);
}

static void
values_are_numbers_or_nil_and_at_most_4096(void **state)
{
	for (size_t values = 4096; values <= 4097; values++) {
		ARRAY(4);
		I(RECORD_SAMPLE);
		I(0);
		S("cpu");
		ARRAY(values);
		for (size_t i = 0; i < values; i++)
			msgpack_pack_double(&pk, 0.0 / (double)i);
		BATCH(values == 4096 ? WIRE_OK : WIRE_LIMIT);
	}
	ARRAY(4);
	I(RECORD_SAMPLE);
	I(0);
	S("cpu");
	ARRAY(2);
	NIL();
	I(1);
	BATCH(WIRE_OK);
	ARRAY(4);
	I(RECORD_SAMPLE);
	I(0);
	S("cpu");
	ARRAY(1);
	S("1");
	BATCH(WIRE_RECORD);
}

static void
an_id_is_16_bytes_or_nil(void **state)
{
	for (size_t bytes = 0; bytes <= 16; bytes++) {
		event_of(0, 6);
		MAP(0);
		BIN(bytes);
		BATCH(bytes == 16 ? WIRE_OK : WIRE_LIMIT);
	}
	event_of(0, 6);
	MAP(0);
	put_str(id, 16);
	BATCH(WIRE_RECORD);
}

static void
lengths_that_go_beyond_the_end_are_truncated(void **state)
{
	static const char *const claims[] = { "\xdf\xff\xff\xff\xff",
		"\xde\xff\xff", "\x8f" };

	for (size_t i = 0; i < sizeof(claims) / sizeof(*claims); i++) {
		event_of(0, 6);
		put_raw(claims[i], strlen(claims[i]));
		BATCH(WIRE_TRUNCATED);
	}
	attribute();
	RAW("\xdb\xff\xff\xff\xff");
	BATCH(WIRE_TRUNCATED);
	RAW("\xdd\xff\xff\xff\xff");
	BATCH(WIRE_TRUNCATED);
	/* Every prefix of a body with everything in it. */
	for (size_t cut = 0;; cut++) {
		size_t whole;

		attribute();
		put_str(big, 40);
		BIN(16);
		whole = sbuffer.size;
		if (cut == whole)
			break;
		sbuffer.size = cut;
		WORDS(check(WIRE_BATCH, 1),
		    cut == 0 ? WIRE_COUNT : WIRE_TRUNCATED);
	}
	BATCH(WIRE_OK);
	for (size_t cut = 1; cut < 9; cut++) {
		ARRAY(4);
		I(RECORD_SAMPLE);
		I(0);
		S("cpu");
		ARRAY(1);
		msgpack_pack_double(&pk, 1);
		sbuffer.size -= cut;
		BATCH(WIRE_TRUNCATED);
	}
}

/* A context, with 4 more elements if `session` is a length, and an event. */
static void
named(const char *node, int session, int64_t receive_ns, uint32_t elements)
{
	ARRAY(elements);
	I(RECORD_CONTEXT);
	put_str(node, strlen(node));
	BIN((size_t)session);
	U(UINT64_MAX);
	U(UINT32_MAX);
	I(receive_ns);
	if (elements == 7)
		S("no number");
	event_of(0, 6);
	MAP(0);
	NIL();
}

static void
an_identity_is_checked_in_a_batch_of_an_import(void **state)
{
	named("n", 16, 0, 6);
	ONCE(WIRE_OK);
	named("n", 15, 0, 6);
	ONCE(WIRE_LIMIT);
	named("n", 0, 0, 6);
	ONCE(WIRE_LIMIT);
	named("", 16, 0, 6);
	ONCE(WIRE_NAME);
	named("n", 16, TIME_MAX_NS + 1, 6);
	ONCE(WIRE_LIMIT);
	named("n", 16, 0, 7);
	ONCE(WIRE_RECORD);
	/* In other batches nobody reads it. */
	named("n", 15, 0, 7);
	BATCH(WIRE_OK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names_keep_to_their_rules),
		TEST(times_are_in_range_in_every_field),
		TEST(texts_have_the_limit_of_their_kind),
		TEST(attributes_are_scalars_and_at_most_64),
		TEST(values_are_numbers_or_nil_and_at_most_4096),
		TEST(an_id_is_16_bytes_or_nil),
		TEST(an_identity_is_checked_in_a_batch_of_an_import),
		TEST(lengths_that_go_beyond_the_end_are_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
