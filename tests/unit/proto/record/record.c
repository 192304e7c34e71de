/*
 * Records: limits with their sentences, attributes, words.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/record.h"

#include <math.h>

#include "proto/os/clock.h"
#include "proto/wire/wire.h"
#include "tests/unit/check.h"

static char big[RECORD_ENTITY_TEXT_BYTES_MAX + 2];
static unsigned char buffer[sizeof(big) + 4096];
static struct wire_writer pairs;

static void
add(const char *key, struct text value)
{
	assert_true(wire_put_text_attribute(&pairs, text_of(key), value));
}

static struct record
event(uint32_t attributes)
{
	return (struct record){ .kind = RECORD_EVENT,
		.source = text_of("cascade"),
		.name = text_of("pull-start"),
		.attributes = attributes,
		.pairs = { (char *)buffer, (uint32_t)pairs.bytes } };
}

static int
begin(void **state)
{
	memset(big, 'x', sizeof(big));
	wire_writer_init(&pairs, buffer, sizeof(buffer));
	return 0;
}

#define PASSES(record)                                                         \
	do {                                                                   \
		struct err err_ = { 0 };                                       \
		if (record_check(&(record), &err_) != 0)                       \
			fail_msg("refused: %s", err_.text);                    \
	} while (0)

#define REFUSED(record, sentence)                                              \
	do {                                                                   \
		struct err err_ = { 0 };                                       \
		assert_int_equal(record_check(&(record), &err_), -1);          \
		assert_string_equal(err_.text, sentence);                      \
	} while (0)

static void
names_are_1_to_255_bytes_of_text_without_control_characters(void **state)
{
	struct record r = event(0);

	PASSES(r);
	r.source = (struct text){ big, 255 };
	PASSES(r);
	r.source.bytes = 256;
	REFUSED(r, "source is longer than 255 bytes");
	r.source.bytes = 0;
	REFUSED(r, "source is empty");
	r = event(0);
	r.name = text_of("a\nb");
	REFUSED(r, "name contains a control character");
	r.name = text_of("\xc3\x28");
	REFUSED(r, "name is not UTF-8");
	r.name = text_of("h\xc3\xb6ren");
	PASSES(r);
	r.node = text_of("a\x7f");
	REFUSED(r, "node contains a control character");
}

static void
sentences_call_a_field_what_its_kind_calls_it(void **state)
{
	struct record r = { .kind = RECORD_SPAN };

	REFUSED(r, "track is empty");
	r.kind = RECORD_ENTITY;
	REFUSED(r, "kind is empty");
	r.kind = RECORD_SAMPLE;
	REFUSED(r, "set is empty");
	r.kind = RECORD_GAP;
	REFUSED(r, "class is empty");
	r.kind = RECORD_PHASE;
	REFUSED(r, "model is empty");
	r.kind = RECORD_REJECTED;
	REFUSED(r, "reason is empty");
	r.kind = RECORD_CONTEXT;
	REFUSED(r, "0 is not a record kind");
	r.kind = RECORD_KINDS;
	REFUSED(r, "9 is not a record kind");
}

static void
times_are_of_1900_to_2200(void **state)
{
	struct record r = event(0);

	r.time_ns = TIME_MIN_NS;
	PASSES(r);
	r.time_ns = TIME_MAX_NS;
	PASSES(r);
	r.time_ns = TIME_MAX_NS + 1;
	REFUSED(r, "time is outside 1900-01-01 .. 2200-01-01");
	r.time_ns = TIME_MIN_NS - 1;
	REFUSED(r, "time is outside 1900-01-01 .. 2200-01-01");
	r.kind = RECORD_SPAN;
	r.time_ns = 0;
	r.end_ns = INT64_MAX;
	REFUSED(r, "end is outside 1900-01-01 .. 2200-01-01");
	/* A phase that has no start says nothing about when it was. */
	r.kind = RECORD_PHASE;
	r.time_ns = INT64_MIN;
	PASSES(r);
	r.has_time = true;
	REFUSED(r, "begin is outside 1900-01-01 .. 2200-01-01");
}

static void
texts_have_the_limit_of_their_kind(void **state)
{
	struct record r;

	add("log", (struct text){ big, RECORD_TEXT_BYTES_MAX });
	r = event(1);
	PASSES(r);
	begin(NULL);
	add("log", (struct text){ big, RECORD_TEXT_BYTES_MAX + 1 });
	r = event(1);
	REFUSED(r, "attribute 'log' is longer than 32768 bytes");
	r.kind = RECORD_ENTITY;
	PASSES(r);
	begin(NULL);
	add("log", (struct text){ big, RECORD_ENTITY_TEXT_BYTES_MAX + 1 });
	r = event(1);
	r.kind = RECORD_ENTITY;
	REFUSED(r, "attribute 'log' is longer than 1048576 bytes");
}

static void
attributes_are_at_most_64_and_all_of_them_are_looked_at(void **state)
{
	struct record r;
	char key[16];

	for (int i = 0; i < RECORD_ATTRIBUTES_MAX; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		add(key, text_of("v"));
	}
	r = event(RECORD_ATTRIBUTES_MAX);
	PASSES(r);
	r.attributes--;
	REFUSED(r, "more than 63 attributes");
	r.attributes += 2;
	REFUSED(r, "65 attributes exceed the limit of 64");
	begin(NULL);
	add("good", text_of("line\none"));
	add("bad", text_of("\xff"));
	r = event(2);
	REFUSED(r, "attribute 'bad' is not UTF-8");
	r.attributes = 3;
	r.pairs.bytes = 15; /* behind "good" */
	REFUSED(r, "attribute 2 is damaged");
	begin(NULL);
	add("", text_of("x"));
	r = event(1);
	REFUSED(r, "name of attribute 1 is empty");
}

static void
an_attribute_is_no_container(void **state)
{
	static const char list[] = "\xa1k\x91\x01";
	struct record r = event(1);

	r.pairs = (struct text){ list, sizeof(list) - 1 };
	REFUSED(r, "attribute 'k' is not text, number, boolean or nil");
}

static void
values_are_numbers_or_unknown_and_at_most_4096(void **state)
{
	struct record r = { .kind = RECORD_SAMPLE, .source = text_of("cpu") };
	struct value value = { .type = VALUE_FLOAT, .is.f = NAN };

	for (int i = 0; i < RECORD_VALUES_MAX; i++)
		assert_true(wire_put_value(&pairs, &value));
	r.values = RECORD_VALUES_MAX;
	r.value_bytes = (struct text){ (char *)buffer, (uint32_t)pairs.bytes };
	PASSES(r);
	r.values++;
	REFUSED(r, "4097 values exceed the limit of 4096");
	r.values = 7;
	REFUSED(r, "more than 7 values");
	r.values = 1;
	r.value_bytes = text_of("\xc0");
	PASSES(r);
	r.value_bytes = text_of("\xc3");
	REFUSED(r, "value 1 is not a number");
	r.value_bytes = text_of("\xa1x");
	REFUSED(r, "value 1 is not a number");
}

static void
an_id_is_16_bytes_or_none(void **state)
{
	struct record r = event(0);

	r.key = text_of("0123456789abcdef");
	PASSES(r);
	r.key.bytes = 15;
	REFUSED(r, "uuid is not 16 bytes");
}

static void
attributes_come_back_in_order_with_their_types(void **state)
{
	static const struct value values[] = {
		{ .type = VALUE_NIL },
		{ .type = VALUE_BOOL, .is.boolean = true },
		{ .type = VALUE_INT, .is.i = INT64_MIN },
		{ .type = VALUE_UINT, .is.u = UINT64_MAX },
		{ .type = VALUE_FLOAT, .is.f = -0.1 },
		{ .type = VALUE_TEXT, .is.text = { "text", 4 } },
		{ .type = VALUE_INT, .is.i = INT64_MAX },
	};
	enum { COUNT = sizeof(values) / sizeof(*values) };
	struct text rest;
	struct record_attribute a;
	struct value found;
	struct record r;

	for (int i = 0; i < COUNT; i++)
		assert_true(wire_put_attribute(
		    &pairs, (struct text){ &"abcdefg"[i], 1 }, &values[i]));
	r = event(COUNT);
	PASSES(r);
	rest = r.pairs;
	for (int i = 0; i < COUNT; i++) {
		assert_true(record_next_attribute(&rest, &a));
		assert_int_equal(a.key.at[0], 'a' + i);
		assert_int_equal(a.value.type, values[i].type);
		if (a.value.type == VALUE_TEXT)
			assert_true(
			    text_equal(a.value.is.text, values[i].is.text));
		else if (a.value.type == VALUE_BOOL)
			assert_true(a.value.is.boolean);
		else if (a.value.type != VALUE_NIL)
			assert_true(a.value.is.u == values[i].is.u);
	}
	assert_false(record_next_attribute(&rest, &a));
	assert_true(record_find_attribute(&r, text_of("d"), &found));
	assert_true(found.is.u == UINT64_MAX);
	assert_false(record_find_attribute(&r, text_of("h"), &found));
	assert_true(record_find_text(&r, "f", &rest));
	assert_true(text_equal(rest, text_of("text")));
	assert_false(record_find_text(&r, "g", &rest)); /* a number */
	assert_false(record_find_text(&r, "h", &rest));
	assert_true(text_equal(rest, text_of("text")));
}

static void
a_count_is_a_number_from_0_on(void **state)
{
	static const struct {
		struct value value;
		int64_t count;
	} cases[] = {
		{ { .type = VALUE_INT, .is.i = 0 }, 0 },
		{ { .type = VALUE_INT, .is.i = 7 }, 7 },
		{ { .type = VALUE_INT, .is.i = INT64_MAX }, INT64_MAX },
		{ { .type = VALUE_INT, .is.i = -1 }, 0 },
		{ { .type = VALUE_BOOL, .is.boolean = true }, 1 },
		{ { .type = VALUE_BOOL, .is.boolean = false }, 0 },
		{ { .type = VALUE_FLOAT, .is.f = 7 }, 0 },
		{ { .type = VALUE_NIL }, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct record r;

		begin(NULL);
		assert_true(
		    wire_put_attribute(&pairs, text_of("n"), &cases[i].value));
		r = event(1);
		assert_true(record_count(&r, "n") == cases[i].count);
		assert_true(record_count(&r, "m") == 0);
	}
}

static void
kinds_and_sessions_have_words(void **state)
{
	enum record_kind kind;
	struct session_id id, other;
	char text[33];

	for (int i = RECORD_EVENT; i < RECORD_KINDS; i++) {
		const char *word = record_kind_name((enum record_kind)i);

		assert_int_equal(record_kind_parse(text_of(word), &kind), 0);
		assert_int_equal(kind, i);
	}
	assert_int_equal(record_kind_parse(text_of("context"), &kind), -1);
	assert_int_equal(record_kind_parse(text_of("even"), &kind), -1);
	assert_string_equal(
	    record_kind_name((enum record_kind) - 1), "unknown");
	for (int i = 0; i < 16; i++)
		id.bytes[i] = (unsigned char)(i * 17);
	assert_string_equal(
	    session_text(text, &id), "00112233445566778899aabbccddeeff");
	session_random(&other);
	assert_false(session_equal(&id, &other));
	other = id;
	assert_true(session_equal(&id, &other));
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
	const struct CMUnitTest tests[] = {
		TEST(
		    names_are_1_to_255_bytes_of_text_without_control_characters),
		TEST(sentences_call_a_field_what_its_kind_calls_it),
		TEST(times_are_of_1900_to_2200),
		TEST(texts_have_the_limit_of_their_kind),
		TEST(attributes_are_at_most_64_and_all_of_them_are_looked_at),
		TEST(an_attribute_is_no_container),
		TEST(values_are_numbers_or_unknown_and_at_most_4096),
		TEST(an_id_is_16_bytes_or_none),
		TEST(attributes_come_back_in_order_with_their_types),
		TEST(a_count_is_a_number_from_0_on),
		TEST(kinds_and_sessions_have_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
