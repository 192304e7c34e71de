/*
 * table_row - rows that the reader of the older tool's exports takes for the
 * events they were.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/azure_table.h"

#include <sodium.h>

#include "agents/import/formats/cascade.h"
#include "proto/os/clock.h"
#include "proto/wire/wire.h"
#include "tests/unit/check.h"

struct event {
	struct record record;
	unsigned char pairs[4096];
	struct wire_writer writer;
};

static void
init(struct event *e, int64_t time_ns, uint64_t seq)
{
	wire_writer_init(&e->writer, e->pairs, sizeof(e->pairs));
	e->record = (struct record){ .kind = RECORD_EVENT,
		.node = text_of("tvm-1_1"),
		.id = { .seq = seq },
		.time_ns = time_ns,
		.has_time = true,
		.source = text_of("cascade"),
		.name = text_of("pull-start") };
}

static void
put(struct event *e, const char *key, struct value value)
{
	assert_true(wire_put_attribute(&e->writer, text_of(key), &value));
	e->record.attributes++;
	e->record.pairs =
	    (struct text){ (char *)e->pairs, (uint32_t)e->writer.bytes };
}

static struct value
text(const char *string)
{
	return (struct value){ VALUE_TEXT, .is.text = text_of(string) };
}

/* The row as the importer of old exports reads it. */
static void
read_back(const struct event *e, const char *partition, struct import_row *row,
    char *line, size_t room)
{
	char message[TABLE_ROW_MESSAGE_BYTES_MAX];
	FILE *file = fmemopen(line, room, "w");
	struct err err = { 0 };
	struct json json;
	uint32_t left_out;

	json_init(&json, file, JSON_LINE);
	table_row_put(&json, text_of(partition), &e->record,
	    table_row_message(message, &e->record, &left_out));
	fclose(file);
	assert_int_equal(left_out, 0);
	if (import_cascade_parse(row, text_of(line), &err) != 0)
		fail_msg("%s: %s", err.text, line);
}

static void
a_row_is_the_event_that_it_was_to_the_nanosecond(void **state)
{
	static const int64_t times[] = { 0, 1, -1, 1508000063695798123,
		1508000063999999999, -1500000000, TIME_MIN_NS + 1,
		TIME_MAX_NS - 1 };
	static struct import_row row;
	char line[4096], event[600];

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		struct event e;

		init(&e, times[i], i);
		put(&e, "message", text("img=a\xC3\xA9:\"1\"\n,diff=1.5"));
		read_back(&e, "a'b$c", &row, line, sizeof(line));
		assert_true(row.record.time_ns == times[i]);
		assert_true(text_equal(row.partition, text_of("a'b$c")));
		assert_true(text_equal(row.record.node, e.record.node));
		snprintf(event, sizeof(event), "%.*s:%.*s",
		    (int)row.record.source.bytes, row.record.source.at,
		    (int)row.record.name.bytes, row.record.name.at);
		assert_string_equal(event, "cascade:pull-start");
		assert_int_equal(row.record.attributes, 1);
		assert_true(text_equal(row.record.pairs, e.record.pairs));
	}
	import_row_clear(&row);
}

static void
no_message_is_none(void **state)
{
	static struct import_row row;
	struct event e;
	char line[4096];

	init(&e, 5, 1);
	put(&e, "prefix", text("mine"));
	read_back(&e, "p", &row, line, sizeof(line));
	assert_null(strstr(line, "Message"));
	assert_int_equal(row.record.attributes, 0);
	import_row_clear(&row);
}

static void
other_attributes_stand_behind_the_message(void **state)
{
	char message[TABLE_ROW_MESSAGE_BYTES_MAX];
	struct event e;
	uint32_t left_out;
	struct text got;

	init(&e, 5, 1);
	put(&e, "img", text("redis:3"));
	put(&e, "size", (struct value){ VALUE_INT, .is.i = -7 });
	put(&e, "message", text("grtype=docker"));
	put(&e, "diff", (struct value){ VALUE_FLOAT, .is.f = 30 });
	got = table_row_message(message, &e.record, &left_out);
	assert_true(text_equal(
	    got, text_of("grtype=docker,img=redis:3,size=-7,diff=30.0")));
}

static void
what_does_not_fit_is_left_out_and_counted(void **state)
{
	static char longer[TABLE_ROW_MESSAGE_BYTES_MAX];
	static unsigned char pairs[2 * TABLE_ROW_MESSAGE_BYTES_MAX];
	char message[TABLE_ROW_MESSAGE_BYTES_MAX];
	struct value value = { VALUE_TEXT,
		.is.text = { longer, sizeof(longer) - 2 } };
	struct event e;
	uint32_t left_out;
	struct text got;

	memset(longer, 'x', sizeof(longer));
	init(&e, 5, 1);
	wire_writer_init(&e.writer, pairs, sizeof(pairs));
	assert_true(wire_put_attribute(&e.writer, text_of("message"), &value));
	value.is.text.bytes = 1;
	assert_true(wire_put_attribute(&e.writer, text_of("k"), &value));
	e.record.attributes = 2;
	e.record.pairs =
	    (struct text){ (char *)pairs, (uint32_t)e.writer.bytes };
	got = table_row_message(message, &e.record, &left_out);
	assert_int_equal(got.bytes, sizeof(longer) - 2);
	assert_int_equal(left_out, 1);
}

/* Python's float(), which the older tool reads a RowKey with, is strtod. */
static void
the_key_read_as_a_number_is_the_time(void **state)
{
	uint64_t random = check_seed();
	char key[TABLE_ROW_KEY_BYTES], plain[64];

	for (unsigned i = check_share(100000, 5000); i > 0; i--) {
		struct event e;
		int64_t us = (int64_t)(check_random(&random) %
				       UINT64_C(4000000000000000));

		init(&e, us * 1000, check_random(&random));
		table_row_key(key, &e.record);
		snprintf(plain, sizeof(plain), "%lld.%06lld",
		    (long long)(us / 1000000), (long long)(us % 1000000));
		assert_memory_equal(key, plain, strlen(plain));
		/* To the microsecond, which is what its times have. */
		assert_true((int64_t)(strtod(key, NULL) * 1e6 + 0.5) == us);
	}
}

static void
the_same_record_has_one_key_and_another_record_another(void **state)
{
	char one[TABLE_ROW_KEY_BYTES], other[TABLE_ROW_KEY_BYTES];
	struct event e;

	init(&e, 77, 3);
	table_row_key(one, &e.record);
	put(&e, "message", text("of no weight"));
	table_row_key(other, &e.record);
	assert_string_equal(one, other);
	e.record.id.index = 1;
	table_row_key(other, &e.record);
	assert_string_not_equal(one, other);
	e.record.id.index = 0;
	e.record.id.seq = 4;
	table_row_key(other, &e.record);
	assert_string_not_equal(one, other);
	e.record.id.seq = 3;
	e.record.id.session.bytes[15] = 1;
	table_row_key(other, &e.record);
	assert_string_not_equal(one, other);
}

static int
begin(void **state)
{
	return sodium_init() < 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_row_is_the_event_that_it_was_to_the_nanosecond),
		cmocka_unit_test(no_message_is_none),
		cmocka_unit_test(other_attributes_stand_behind_the_message),
		cmocka_unit_test(what_does_not_fit_is_left_out_and_counted),
		cmocka_unit_test(the_key_read_as_a_number_is_the_time),
		cmocka_unit_test(
		    the_same_record_has_one_key_and_another_record_another),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
