/*
 * What the kernel says of who handed a put over is in its records, whatever
 * they say.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/submitter.h"

#include <unistd.h>

#include "tests/unit/check.h"

static struct submitter *submitter;
static unsigned char body[WIRE_PUT_BYTES_MAX], pairs[WIRE_PUT_BYTES_MAX];
static struct wire_writer writer;
static const struct wire_header header = { .node = { "here", 4 } };

static int
set_up(void **state)
{
	submitter_new(&submitter);
	wire_writer_init(&writer, body, sizeof(body));
	return 0;
}

static int
tear_down(void **state)
{
	submitter_free(&submitter);
	return 0;
}

static void
add_integer(struct wire_writer *w, const char *key, int64_t i)
{
	const struct value value = { .type = VALUE_INT, .is.i = i };

	assert_true(wire_put_attribute(w, text_of(key), &value));
}

/* An event with `attributes` attributes k0, k1 ... and, if asked for, a claim.
 */
static void
add(enum record_kind kind, unsigned attributes, bool claims)
{
	struct record record = { .kind = kind,
		.source = text_of("s"),
		.name = text_of("n"),
		.time_ns = 5,
		.end_ns = 6,
		.has_time = true,
		.has_end = true };
	struct wire_writer w;
	char key[16];

	wire_writer_init(&w, pairs, sizeof(pairs));
	for (unsigned i = 0; i < attributes; i++) {
		snprintf(key, sizeof(key), "k%u", i);
		add_integer(&w, key, i);
	}
	if (claims)
		add_integer(&w, RECORD_SUBMITTER_KEY, 0);
	record.attributes = attributes + claims;
	record.pairs = (struct text){ (const char *)pairs, (uint32_t)w.bytes };
	assert_true(wire_put_record(&writer, &record));
}

static struct text
written(void)
{
	return (struct text){ (const char *)body, (uint32_t)writer.bytes };
}

static void
another_users_events_spans_and_entities_say_who(void **state)
{
	struct text plain;
	struct wire_cursor cursor;
	struct record record;
	struct value value;
	static const uint32_t wanted[] = { 3, 1, 2, 0 };
	int seen = 0;

	add(RECORD_EVENT, 2, true);
	assert_true(wire_put_context(&writer, text_of("there")));
	add(RECORD_SPAN, 0, false);
	add(RECORD_ENTITY, 1, true);
	add(RECORD_SAMPLE, 0, false);
	plain = written();
	assert_true(submitter_put(submitter, geteuid() + 7, &header, &plain));
	wire_cursor_init(&cursor, &header, plain);
	while (wire_next(&cursor, &record)) {
		bool found = record_find_attribute(
		    &record, text_of(RECORD_SUBMITTER_KEY), &value);

		assert_int_equal(found, record.kind != RECORD_SAMPLE);
		assert_true(!found || value.is.i == geteuid() + 7);
		assert_int_equal(record.attributes, wanted[seen]);
		assert_true(text_equal(
		    record.node, text_of(seen == 0 ? "here" : "there")));
		seen++;
	}
	assert_int_equal(seen, 4);
}

static void
ones_own_are_as_they_were(void **state)
{
	struct text plain;

	add(RECORD_EVENT, 2, true);
	plain = written();
	assert_true(submitter_put(submitter, geteuid(), &header, &plain));
	assert_ptr_equal(plain.at, body);
	assert_int_equal(plain.bytes, writer.bytes);
}

static void
what_has_no_room_for_it_is_refused(void **state)
{
	struct text plain;

	add(RECORD_EVENT, RECORD_ATTRIBUTES_MAX - 1, true);
	plain = written();
	assert_true(submitter_put(submitter, geteuid() + 1, &header, &plain));
	wire_writer_init(&writer, body, sizeof(body));
	add(RECORD_EVENT, RECORD_ATTRIBUTES_MAX, false);
	plain = written();
	assert_false(submitter_put(submitter, geteuid() + 1, &header, &plain));
	/* As many as a put holds. */
	wire_writer_init(&writer, body, sizeof(body));
	while (writer.bytes < WIRE_PUT_BYTES_MAX - 1000)
		add(RECORD_EVENT, 0, false);
	plain = written();
	assert_false(submitter_put(submitter, geteuid() + 1, &header, &plain));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    another_users_events_spans_and_entities_say_who, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(
		    ones_own_are_as_they_were, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    what_has_no_room_for_it_is_refused, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
