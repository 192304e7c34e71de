/*
 * client_encode - whatever a program gives, the agent takes what comes of it.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "agents/client/client_private.h"
#include "proto/os/clock.h"
#include "tests/unit/check.h"

static unsigned char body[64 << 10];
static struct wire_writer writer;
static struct wire_room room;

static void
begin(void)
{
	strcpy(client.program, "prog");
	fast_clock_is_counter = false;
	wire_writer_init(&writer, body, sizeof(body));
}

/* The one record of the body, checked as the agent checks it. */
static struct record
result(void)
{
	struct text bytes = { (const char *)body, (uint32_t)writer.bytes };
	struct wire_header header = {
		.type = WIRE_PUT,
		.node = text_of("node"),
		.records = writer.records,
		.body_bytes = bytes.bytes,
	};
	struct wire_cursor cursor;
	struct record record;
	struct err err = { 0 };
	struct text plain;

	assert_int_equal(wire_body(&header, bytes, &room, &plain), WIRE_OK);
	wire_cursor_init(&cursor, &header, plain);
	assert_true(wire_next(&cursor, &record));
	assert_int_equal(record_check(&record, &err), 0);
	return record;
}

static void
check_text(struct text text, const char *wanted)
{
	assert_int_equal(text.bytes, strlen(wanted));
	assert_memory_equal(text.at, wanted, text.bytes);
}

static struct value
find(const struct record *record, const char *key)
{
	struct value value = { .type = VALUE_NIL };

	record_find_attribute(record, text_of(key), &value);
	return value;
}

/* A record as it lies in a ring. */
static const struct client_record *
make(struct client_record head, const char *source, const char *name,
    const struct poolscope_attribute *attributes, size_t count)
{
	static _Alignas(8) unsigned char memory[16 << 10];
	struct client_record *record = (struct client_record *)(void *)memory;
	size_t trace = head.parts & CLIENT_HAS_TRACE ? TRACE_CONTEXT_BYTES : 0;
	unsigned char *p = memory + sizeof(head) + trace;
	struct wire_writer w;

	head.source_bytes = (uint8_t)strlen(source);
	head.name_bytes = (uint8_t)strlen(name);
	memset(memory + sizeof(head), 0xab, trace);
	p = (unsigned char *)stpcpy((char *)p, source);
	p = (unsigned char *)stpcpy((char *)p, name);
	wire_writer_init(&w, p, POOLSCOPE_EVENT_BYTES);
	for (size_t i = 0; i < count; i++)
		head.count += client_put_attribute(&w, &attributes[i]);
	head.pair_bytes = (uint16_t)w.bytes;
	*record = head;
	return record;
}

static void
a_span_says_all_that_was_recorded(void **state)
{
	const struct poolscope_attribute attributes[] = {
		poolscope_int("i", -5),
		poolscope_float("f", 0.25),
		poolscope_bool("b", 1),
		poolscope_text("t", "text"),
		poolscope_text("none", NULL),
		poolscope_int("i", 6),
		poolscope_int(NULL, 6),
		poolscope_int("trace.id", 6),
	};
	struct fast_clock ticks = { .wall_less_monotonic = 1000 };
	struct client_track track = { .name = "worker" };
	struct record record;

	begin();
	assert_true(client_encode(&writer, &ticks, &track,
	    make((struct client_record){ .begin = 5,
		     .end = 9,
		     .id = 0x1f,
		     .parent = 2,
		     .kind = CLIENT_SPAN,
		     .parts = CLIENT_HAS_TRACE,
		     .cut = 3 },
		"cat", "name", attributes, 8)));
	record = result();
	assert_int_equal(record.kind, RECORD_SPAN);
	assert_int_equal(record.time_ns, 1005);
	assert_int_equal(record.end_ns, 1009);
	check_text(record.source, "prog/worker");
	check_text(record.name, "name");
	check_text(record.key, "cat");
	assert_int_equal(find(&record, "i").is.i, 6);
	assert_true(find(&record, "f").is.f == 0.25);
	assert_true(find(&record, "b").is.boolean);
	check_text(find(&record, "t").is.text, "text");
	check_text(find(&record, "none").is.text, "");
	check_text(find(&record, "trace.id").is.text,
	    "abababababababababababababababab");
	check_text(find(&record, "span.id").is.text, "000000000000001f");
	check_text(find(&record, "parent.id").is.text, "0000000000000002");
	assert_int_equal(find(&record, "attributes.dropped").is.i, 3);
	/* Five of the program's, and ours. */
	assert_int_equal(record.attributes, 5 + 5);
}

static void
names_are_repaired_and_attributes_too(void **state)
{
	const struct poolscope_attribute attributes[] = {
		poolscope_text("\xff key", "\xe2\x82 cut \xf0\x9f\x98\x80"),
		poolscope_text("", "a\nb"),
	};
	struct fast_clock ticks = { 0 };
	struct client_track track = { .number = 3 };
	struct record record;

	begin();
	assert_true(client_encode(&writer, &ticks, &track,
	    make((struct client_record){ .kind = CLIENT_EVENT }, "a\tb\xc2\x85",
		"", attributes, 2)));
	record = result();
	assert_int_equal(record.kind, RECORD_EVENT);
	check_text(record.source, "a?b??");
	check_text(record.name, "?");
	check_text(find(&record, "? key").is.text, "?? cut \xf0\x9f\x98\x80");
	check_text(find(&record, "?").is.text, "a\nb");
}

static void
a_part_of_a_track_is_short_and_has_no_slash(void **state)
{
	char part[CLIENT_PART_BYTES_MAX + 1];
	char given[300];

	client_take_part(part, text_of("a/b/"));
	assert_string_equal(part, "a_b_");
	client_take_part(part, text_of(""));
	assert_string_equal(part, "?");
	/* Cut in the middle of a character. */
	memset(given, 'x', sizeof(given));
	memcpy(given + CLIENT_PART_BYTES_MAX - 1, "\xc3\xa4", 2);
	client_take_part(part, (struct text){ given, sizeof(given) });
	assert_int_equal(strlen(part), CLIENT_PART_BYTES_MAX);
	assert_int_equal(part[CLIENT_PART_BYTES_MAX - 1], '?');
}

static void
a_track_of_a_node_with_a_long_name_has_an_id_of_its_own(void **state)
{
	struct client_track track = { .number = 3 };
	char node[NAME_BYTES_MAX], first[NAME_BYTES_MAX];
	struct text long_node = { node, sizeof(node) };
	struct record record;

	begin();
	assert_true(client_encode_track(&writer, &track, text_of("n1")));
	record = result();
	check_text(record.source, "track");
	check_text(record.name, "n1/prog/3");
	check_text(find(&record, "process").is.text, "prog");
	assert_int_equal(find(&record, "sort").is.i, 3);
	memset(node, 'n', sizeof(node));
	begin();
	assert_true(client_encode_track(&writer, &track, long_node));
	record = result();
	assert_int_equal(record.name.bytes, NAME_BYTES_MAX);
	memcpy(first, record.name.at, NAME_BYTES_MAX);
	track.number = 4;
	begin();
	assert_true(client_encode_track(&writer, &track, long_node));
	record = result();
	assert_memory_not_equal(record.name.at, first, NAME_BYTES_MAX);
}

static void
what_does_not_fit_leaves_nothing_behind(void **state)
{
	struct fast_clock ticks = { 0 };
	struct client_track track = { .number = 3 };
	const struct client_record *record =
	    make((struct client_record){ .kind = CLIENT_SPAN }, "cat", "name",
		NULL, 0);

	begin();
	wire_writer_init(&writer, body, 40);
	assert_false(client_encode(&writer, &ticks, &track, record));
	assert_int_equal(writer.bytes, 0);
	assert_int_equal(writer.records, 0);
}

static void
counters_are_words_and_bounded(void **state)
{
	char name[32];

	assert_null(poolscope_get_counter(NULL, "1"));
	assert_null(poolscope_get_counter("", "1"));
	assert_null(poolscope_get_counter("two words", "1"));
	for (int i = 0; i < POOLSCOPE_COUNTERS; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		assert_non_null(poolscope_get_counter(name, "By"));
	}
	assert_null(poolscope_get_counter("one too many", "1"));
	assert_ptr_equal(poolscope_get_counter("c7", "1"),
	    poolscope_get_counter("c7", NULL));
	poolscope_add(NULL, 1);
	poolscope_put(NULL, 1);
}

static void
a_counter_only_grows(void **state)
{
	struct poolscope_counter *counter = poolscope_get_counter("c5", "By"),
				 *gauge = poolscope_get_gauge("c6", "By");

	assert_ptr_equal(gauge, poolscope_get_counter("c6", "By"));
	gauge->gauge = true; /* the test before it took all names */
	poolscope_put(counter, 2);
	poolscope_add(counter, 0.5);
	poolscope_add(counter, -1);
	poolscope_put(counter, 1);
	poolscope_put(counter, NAN);
	poolscope_add(counter, NAN);
	assert_true(client_counter_value(counter) == 2.5);
	poolscope_put(gauge, 2);
	poolscope_add(gauge, -3);
	assert_true(client_counter_value(gauge) == -1);
}

static void
a_count_is_a_sample_of_one_number(void **state)
{
	static struct client_sample sample;
	double values[2];

	assert_true(client_make_count(
	    &sample, poolscope_get_counter("c5", "By"), 2.5, NS_PER_SECOND));
	assert_int_equal(sample.group.sample.time_ns, NS_PER_SECOND);
	record_get_numbers(&sample.group.sample, values, 2);
	assert_true(values[1] == 2.5);
	client_forget_process();
}

static void
the_unit_of_a_counter_is_unknown_unless_it_is_said(void **state)
{
	const struct counter_case {
		const char *name, *said, *unit;
	} cases[] = { { "c0", "By", "By" }, { "c1", "1", "1" },
		{ "c2", NULL, "" }, { "c3", "a b", "" } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		static struct client_sample sample;
		struct text unit = { NULL, 0 };

		assert_true(client_make_count(&sample,
		    poolscope_get_gauge(cases[i].name, cases[i].said), 1, 1));
		record_find_text(&sample.group.definition, "units", &unit);
		check_text(unit, cases[i].unit);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_span_says_all_that_was_recorded),
		cmocka_unit_test(names_are_repaired_and_attributes_too),
		cmocka_unit_test(a_part_of_a_track_is_short_and_has_no_slash),
		cmocka_unit_test(
		    a_track_of_a_node_with_a_long_name_has_an_id_of_its_own),
		cmocka_unit_test(what_does_not_fit_leaves_nothing_behind),
		cmocka_unit_test(
		    the_unit_of_a_counter_is_unknown_unless_it_is_said),
		cmocka_unit_test(counters_are_words_and_bounded),
		cmocka_unit_test(a_counter_only_grows),
		cmocka_unit_test(a_count_is_a_sample_of_one_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
