/*
 * clock_map - offsets between estimates, beyond them, and where clocks stepped.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/clock_map.h"

#include <inttypes.h>
#include <math.h>

#include "proto/os/clock.h"
#include "proto/wire/wire.h"
#include "tests/unit/check.h"

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)
#define T0 (INT64_C(1700000000) * S)

static struct clock_map *map;

static int
set_up(void **state)
{
	clock_map_new(&map);
	return 0;
}

static int
tear_down(void **state)
{
	clock_map_free(&map);
	assert_null(map);
	return 0;
}

/* A sample of set clock; the drift in ns/s. */
struct printed {
	const char *node;
	int64_t time, offset, error, drift, drift_error, generation, begin;
	int64_t received;
};

static bool
add(const struct printed *printed)
{
	const int64_t numbers[] = { printed->offset, printed->error,
		printed->drift, printed->drift_error, 1000, printed->generation,
		printed->begin };
	unsigned char bytes[100];
	struct wire_writer w;
	struct record record = {
		.kind = RECORD_SAMPLE,
		.node = text_of(printed->node),
		.time_ns = printed->time,
		.receive_ns = printed->received,
		.source = text_of("clock"),
		.values = 7,
	};

	if (record.receive_ns == 0 && printed->offset < INT64_MAX / 4)
		record.receive_ns = printed->time + printed->offset;
	wire_writer_init(&w, bytes, sizeof(bytes));
	for (size_t i = 0; i < 7; i++)
		wire_put_value(
		    &w, &(struct value){ VALUE_INT, { .i = numbers[i] } });
	record.value_bytes =
	    (struct text){ (const char *)bytes, (uint32_t)w.bytes };
	return clock_map_add(map, &record);
}

static struct clock_map_offset
at(const char *node, int64_t time)
{
	struct clock_map_offset offset;

	assert_true(clock_map_at(map, text_of(node), time, &offset));
	return offset;
}

static bool
is_known(const char *node, int64_t time)
{
	struct clock_map_offset offset;

	return clock_map_at(map, text_of(node), time, &offset);
}

/* Ten seconds apart, a second off, to a millisecond; drift to 100 ppm. */
static const struct printed first = { .node = "a",
	.time = T0,
	.offset = S,
	.error = MS,
	.drift_error = 100000,
	.generation = 65536,
	.begin = T0 - 60 * S };

static void
between_two_estimates_the_offset_is_on_the_line(void **state)
{
	struct printed second = first;

	second.time += 10 * S;
	second.offset += 500000;
	assert_true(add(&second));
	assert_true(add(&first)); /* in any order */
	clock_map_finish(map);
	assert_int_equal(at("a", T0).offset_ns, S);
	assert_int_equal(at("a", T0 + 5 * S).offset_ns, S + 250000);
	assert_int_equal(at("a", T0 + 10 * S).offset_ns, S + 500000);
	assert_true(at("a", T0 + 5 * S).matters);
	/* What both allow: the second from above, the first from below. */
	assert_true(at("a", T0 + 5 * S).error_ns <= MS + 500000);
	assert_true(at("a", T0 + 5 * S).error_ns >= MS);
}

static void
beyond_the_last_the_error_grows_with_the_drift(void **state)
{
	add(&first);
	clock_map_finish(map);
	assert_int_equal(at("a", T0).error_ns, MS);
	assert_int_equal(at("a", T0 + 100 * S).error_ns, MS + 10 * MS);
	assert_int_equal(at("a", T0 - 50 * S).error_ns, MS + 5 * MS);
	assert_int_equal(at("a", T0 + 100 * S).offset_ns, S);
}

/* As one that a program publishes which has the aggregator's clock. */
static void
an_estimate_may_be_exact(void **state)
{
	struct printed exact = first;

	exact.error = exact.drift_error = 0;
	assert_true(add(&exact));
	clock_map_finish(map);
	assert_int_equal(at("a", T0).offset_ns, S);
	assert_int_equal(at("a", T0 + 100 * S).error_ns, 0);
}

static void
the_drift_goes_on(void **state)
{
	struct printed printed = first;

	printed.drift = 50000;
	add(&printed);
	clock_map_finish(map);
	assert_int_equal(at("a", T0 + 100 * S).offset_ns, S + 5 * MS);
	assert_int_equal(at("a", T0 - 10 * S).offset_ns, S - 500000);
}

static void
before_its_generation_nothing_is_known(void **state)
{
	add(&first);
	clock_map_finish(map);
	assert_true(is_known("a", first.begin));
	assert_false(is_known("a", first.begin - 1));
	assert_false(is_known("b", T0));
	assert_false(is_known("", T0));
}

static void
across_a_step_forwards_each_side_has_its_own(void **state)
{
	struct printed last = first, next = first;

	last.time += 10 * S;
	next.time += 3610 * S;
	next.begin = T0 + 3605 * S;
	next.offset -= 3600 * S;
	next.generation++;
	next.received = T0 + 20 * S;
	add(&first);
	add(&last);
	add(&next);
	clock_map_finish(map);
	assert_int_equal(at("a", T0 + 10 * S).offset_ns, S);
	assert_false(is_known("a", T0 + 10 * S + 1));
	assert_false(is_known("a", T0 + 3605 * S - 1));
	assert_int_equal(at("a", T0 + 3605 * S).offset_ns, -3599 * S);
	assert_true(is_known("a", T0 + 99999 * S));
}

static void
where_a_clock_was_set_back_the_error_covers_both(void **state)
{
	struct printed last = first, next = first;
	struct clock_map_offset both;

	last.time += 100 * S;
	next.time += 60 * S;
	next.begin = T0 + 50 * S;
	next.offset += 50 * S;
	next.generation++;
	next.received = T0 + 120 * S;
	add(&first);
	add(&last);
	add(&next);
	clock_map_finish(map);
	assert_int_equal(at("a", T0 + 49 * S).offset_ns, S);
	both = at("a", T0 + 70 * S);
	assert_true(both.offset_ns - both.error_ns <= S);
	assert_true(both.offset_ns + both.error_ns >= 51 * S);
	assert_true(both.error_ns < 26 * S);
	assert_int_equal(at("a", T0 + 101 * S).offset_ns, 51 * S);
}

static void
after_an_agent_that_was_killed_little_more_is_known(void **state)
{
	struct printed next = first;

	next.time += 7200 * S;
	next.begin = T0 + 7000 * S;
	next.generation = 2 << 16;
	add(&first);
	add(&next);
	clock_map_finish(map);
	assert_true(is_known("a", T0 + 60 * S));
	assert_false(is_known("a", T0 + 200 * S));
	assert_true(is_known("a", T0 + 7000 * S));
}

static void
what_is_no_further_off_than_the_error_does_not_matter(void **state)
{
	struct printed printed = first;

	printed.offset = MS / 2;
	add(&printed);
	clock_map_finish(map);
	assert_false(at("a", T0).matters);
}

static void
only_estimates_are_taken_in(void **state)
{
	struct printed printed = first;
	struct record record = { .kind = RECORD_SAMPLE,
		.source = text_of("clock") };
	int64_t from = TIME_MIN_NS, to = TIME_MAX_NS;

	assert_false(clock_map_add(map, &record));
	printed.error = -1;
	assert_false(add(&printed));
	printed = first;
	printed.offset = INT64_MAX;
	assert_false(add(&printed));
	printed = first;
	printed.drift = INT64_MIN;
	assert_false(add(&printed));
	printed = first;
	printed.drift_error = -1;
	assert_false(add(&printed));
	assert_true(clock_map_is_empty(map));
	clock_map_finish(map);
	clock_map_widen(map, &from, &to);
	assert_true(from == TIME_MIN_NS && to == TIME_MAX_NS);
	assert_false(is_known("a", T0));
}

/* A node whose clock wanders, reported of now and then. */
static void
the_truth_is_within_the_error(void **state)
{
	uint64_t random = check_seed();
	double period = 1e12, height = 5e7; /* 50 ms, at most 314 ppm */

	for (int64_t time = 0; time < 3600 * S;
	     time += (int64_t)(check_random(&random) % (90 * S))) {
		struct printed printed = first;
		double phase = 2 * M_PI * (double)time / period;
		int64_t wrong =
		    (int64_t)(check_random(&random) % (2 * MS)) - MS;

		printed.time = T0 + time;
		printed.offset = S + (int64_t)(height * sin(phase)) + wrong;
		printed.drift =
		    llround(height * 2 * M_PI / period * cos(phase) * 1e9);
		/* How fast the drift itself changes, over two minutes. */
		printed.drift_error = 250000;
		add(&printed);
	}
	clock_map_finish(map);
	for (int i = 0; i < 100000; i++) {
		int64_t time = (int64_t)(check_random(&random) % (3600 * S));
		double phase = 2 * M_PI * (double)time / period;
		struct clock_map_offset offset = at("a", T0 + time);
		int64_t truth = S + (int64_t)(height * sin(phase));

		if (llabs(offset.offset_ns - truth) > offset.error_ns)
			fail_msg("at %" PRId64 ": %" PRId64 " +- %" PRId64
				 ", is %" PRId64,
			    time, offset.offset_ns, offset.error_ns, truth);
	}
}

static void
a_window_becomes_wide_enough(void **state)
{
	struct printed behind = first, ahead = first;
	int64_t from = T0, to = T0 + 10 * S;

	ahead.node = "b";
	ahead.offset = -3 * S;
	add(&behind);
	add(&ahead);
	clock_map_finish(map);
	clock_map_widen(map, &from, &to);
	assert_true(from <= T0 - S);
	assert_true(to >= T0 + 13 * S);
	assert_true(from > T0 - 10 * S && to < T0 + 20 * S);
}

static void
more_than_fits_in_memory_is_thinned(void **state)
{
	struct printed printed = first;

	for (int i = 0; i < CLOCK_MAP_POINTS_MAX + 1000; i++) {
		printed.time += S / 100;
		add(&printed);
	}
	clock_map_finish(map);
	assert_int_equal(at("a", T0 + 1000 * S).offset_ns, S);
	assert_true(at("a", T0 + 1000 * S).error_ns < 2 * MS);
}

int
main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(between_two_estimates_the_offset_is_on_the_line),
		CASE(an_estimate_may_be_exact),
		CASE(beyond_the_last_the_error_grows_with_the_drift),
		CASE(the_drift_goes_on),
		CASE(before_its_generation_nothing_is_known),
		CASE(across_a_step_forwards_each_side_has_its_own),
		CASE(where_a_clock_was_set_back_the_error_covers_both),
		CASE(after_an_agent_that_was_killed_little_more_is_known),
		CASE(what_is_no_further_off_than_the_error_does_not_matter),
		CASE(only_estimates_are_taken_in),
		CASE(the_truth_is_within_the_error),
		CASE(a_window_becomes_wide_enough),
		CASE(more_than_fits_in_memory_is_thinned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
