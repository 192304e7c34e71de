/*
 * phase_pairs - events of phases pair in the order of shown times.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/phase_pairs.h"

#include "proto/wire/wire.h"
#include "tests/unit/check.h"

static struct phase_pairs pairs;
static unsigned char room[65536];

static int
clear(void **state)
{
	phase_pairs_clear(&pairs);
	return 0;
}

/* `letters`: an attribute each, whose value is the node. */
static void
add(const char *node, const char *run, bool is_end, int64_t time_ns,
    int64_t raw_ns, const char *letters)
{
	struct record record = { .kind = RECORD_PHASE,
		.node = text_of(node),
		.source = text_of("model"),
		.name = text_of("phase"),
		.run = text_of(run),
		.has_time = !is_end,
		.has_end = is_end,
		.time_ns = is_end ? 0 : time_ns,
		.end_ns = is_end ? time_ns : 0 };
	struct source_correction clock = { .corrected = time_ns != raw_ns,
		.time_ns = is_end ? 0 : raw_ns,
		.end_ns = is_end ? raw_ns : 0,
		.offset_ns = time_ns - raw_ns,
		.error_ns = 3 };
	struct value value = { VALUE_TEXT, { .text = record.node } };
	struct wire_writer w;

	wire_writer_init(&w, room, sizeof(room));
	for (; *letters != '\0'; letters++) {
		wire_put_attribute(&w, (struct text){ letters, 1 }, &value);
		record.attributes++;
	}
	record.pairs = (struct text){ (char *)room, (uint32_t)w.bytes };
	assert_true(phase_pairs_fits(&pairs, &record));
	phase_pairs_add(&pairs, &record, &clock);
	memset(room, 'x', sizeof(room)); /* it was copied */
}

static void
ends_belong_to_starts_before_them(void **state)
{
	struct source_correction clock;
	struct record record;
	struct value value;

	/* As the aggregator sends them: by the clocks of the nodes. */
	add("b", "r", true, 8, -92, "yz");
	add("a", "r", false, 1, 1, "xy");
	add("b", "r", true, 20, -80, "");
	add("a", "r", false, 30, 30, "");
	assert_true(phase_pairs_end(&pairs));

	assert_true(phase_pairs_next(&pairs, &record, &clock));
	assert_true(record.has_time && record.has_end);
	assert_int_equal(record.time_ns, 1);
	assert_int_equal(record.end_ns, 8);
	/* From node to node: 8 - 1, not -92 - 1. */
	assert_true(record.has_duration && record.duration_ns == 7);
	assert_true(text_equal(record.node, text_of("a")));
	assert_true(clock.corrected);
	assert_int_equal(clock.time_ns, 1);
	assert_int_equal(clock.end_ns, -92);
	assert_int_equal(clock.offset_ns, 0);
	assert_int_equal(clock.error_ns, 3);
	/* An attribute that both have is that of the end. */
	assert_int_equal(record.attributes, 3);
	assert_true(record_find_attribute(&record, text_of("x"), &value));
	assert_true(text_equal(value.is.text, text_of("a")));
	assert_true(record_find_attribute(&record, text_of("y"), &value));
	assert_true(text_equal(value.is.text, text_of("b")));
	assert_true(record_find_attribute(&record, text_of("z"), &value));

	assert_true(phase_pairs_next(&pairs, &record, &clock));
	assert_true(!record.has_time && record.has_end);
	assert_int_equal(record.end_ns, 20);
	assert_int_equal(clock.end_ns, -80);
	assert_true(phase_pairs_next(&pairs, &record, &clock));
	assert_true(record.has_time && !record.has_end);
	assert_int_equal(record.time_ns, 30);
	assert_false(clock.corrected);
	assert_false(phase_pairs_next(&pairs, &record, &clock));
	assert_int_equal(pairs.count, 0);
}

/* The clock of `a` was put back by 3 between the events of the first pair; the
 * end of the second says 12. */
static void
the_end_says_how_long_it_took_else_the_own_clock(void **state)
{
	struct source_correction clock = { .corrected = false };
	struct record record;

	add("a", "r", false, 101, 1, "");
	add("a", "r", true, 108, 11, "");
	assert_true(phase_pairs_end(&pairs));
	assert_true(phase_pairs_next(&pairs, &record, &clock));
	assert_true(record.has_duration && record.duration_ns == 10);
	assert_int_equal(record.count, 0);
	assert_false(phase_pairs_next(&pairs, &record, &clock));

	add("a", "r", false, 30, 30, "");
	record = (struct record){ .kind = RECORD_PHASE,
		.node = text_of("b"),
		.source = text_of("model"),
		.name = text_of("phase"),
		.run = text_of("r"),
		.end_ns = 40,
		.has_end = true,
		.duration_ns = 12,
		.has_duration = true,
		.count = RECORD_PHASE_MEASURED };
	clock = (struct source_correction){ .corrected = false };
	phase_pairs_add(&pairs, &record, &clock);
	assert_true(phase_pairs_end(&pairs));
	assert_true(phase_pairs_next(&pairs, &record, &clock));
	assert_true(record.has_duration && record.duration_ns == 12);
	assert_int_equal(record.count, RECORD_PHASE_MEASURED);
	assert_false(phase_pairs_next(&pairs, &record, &clock));
}

static void
a_group_is_of_one_run_and_bounded(void **state)
{
	struct record other = { .kind = RECORD_PHASE,
		.source = text_of("model"),
		.name = text_of("phase"),
		.run = text_of("s") };
	struct source_correction clock;
	struct record record;
	uint32_t seen = 0;

	assert_false(phase_pairs_end(&pairs));
	assert_true(phase_pairs_fits(&pairs, &other));
	for (int64_t i = 0; i < PHASE_PAIRS_EVENTS_MAX - 1; i++)
		add("n", "r", i % 2, i, i, "");
	assert_false(phase_pairs_fits(&pairs, &other));
	other.run = text_of("r");
	assert_true(phase_pairs_fits(&pairs, &other));
	other.key = text_of("k");
	assert_false(phase_pairs_fits(&pairs, &other));
	other.key = text_of("");
	other.pairs = (struct text){ (char *)room, PHASE_PAIRS_BYTES_MAX };
	assert_false(phase_pairs_fits(&pairs, &other));
	add("n", "r", true, PHASE_PAIRS_EVENTS_MAX, PHASE_PAIRS_EVENTS_MAX, "");
	other.pairs.bytes = 0;
	assert_false(phase_pairs_fits(&pairs, &other));
	assert_true(phase_pairs_end(&pairs));
	while (phase_pairs_next(&pairs, &record, &clock))
		seen++;
	assert_int_equal(seen, PHASE_PAIRS_EVENTS_MAX / 2);
	assert_true(phase_pairs_fits(&pairs, &other));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(
		    ends_belong_to_starts_before_them, clear),
		cmocka_unit_test_teardown(
		    the_end_says_how_long_it_took_else_the_own_clock, clear),
		cmocka_unit_test_teardown(
		    a_group_is_of_one_run_and_bounded, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
