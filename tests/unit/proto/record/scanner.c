/*
 * scanner - threads have the names, tracks and places of the older tool's
 * rows; sums are written and read to the last digit.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/scanner.h"

#include "tests/unit/check.h"

static const struct scanner_shape shape = { 2, 2, 4, 1 };

static void
assert_thread(enum scanner_role role, uint32_t position, uint32_t stage,
    const char *track, const char *name, uint32_t sort)
{
	const struct scanner_thread thread = { role, 0, position, stage,
		(int64_t)position };
	char got[SCANNER_NAME_BYTES];

	scanner_track(got, &thread, &shape);
	assert_string_equal(got, track);
	scanner_thread_name(got, &thread, &shape);
	assert_string_equal(got, name);
	assert_int_equal(scanner_thread_sort(&thread, &shape), sort);
}

static void
threads_have_tracks_names_and_places(void **state)
{
	assert_thread(SCANNER_IS_MASTER, 0, 0, "master/0", "EventLoop", 0);
	assert_thread(
	    SCANNER_PROCESS_JOB, 0, 0, "process_job/0", "EventLoop", 0);
	assert_thread(SCANNER_LOAD, 1, 0, "load/1", "Reader[1]", 2);
	assert_thread(
	    SCANNER_EVAL, 0, 0, "eval/0/pre", "Pipeline[0]:DecodeVideo", 3);
	assert_thread(
	    SCANNER_EVAL, 0, 1, "eval/0/eval/0", "Pipeline[0]:Ops[0]", 4);
	assert_thread(
	    SCANNER_EVAL, 0, 2, "eval/0/eval/1", "Pipeline[0]:Ops[1]", 5);
	assert_thread(
	    SCANNER_EVAL, 0, 3, "eval/0/post", "Pipeline[0]:EncodeVideo", 6);
	assert_thread(
	    SCANNER_EVAL, 1, 0, "eval/1/pre", "Pipeline[1]:DecodeVideo", 7);
	assert_thread(SCANNER_SAVE, 0, 0, "save/0", "Writer[0]", 11);
}

static void
the_longest_names_fit(void **state)
{
	const struct scanner_shape most = { 255, 255, 255, 255 };
	struct scanner_thread thread = { SCANNER_EVAL, 0, 254, 254, INT64_MIN };
	char got[SCANNER_NAME_BYTES];

	scanner_thread_name(got, &thread, &most);
	assert_string_equal(got, "Pipeline[-9223372036854775808]:EncodeVideo");
	thread.stage = 253;
	scanner_track(got, &thread, &most);
	assert_string_equal(got, "eval/254/eval/252");
	assert_int_equal(
	    scanner_thread_sort(&thread, &most), 1 + 255 + 254 * 255 + 253);
}

static void
assert_line(const struct scanner_sum *sum, const char *wanted)
{
	char line[SCANNER_LINE_BYTES];
	struct text rest = { line, scanner_put_sum(line, sum) };
	struct scanner_sum got;

	assert_true(text_equal(rest, text_of(wanted)));
	assert_true(scanner_next_sum(&rest, &got));
	assert_int_equal(rest.bytes, 0);
	assert_int_equal(got.is_counter, sum->is_counter);
	assert_true(got.count == sum->count && got.value == sum->value);
	assert_memory_equal(&got.sum_ns, &sum->sum_ns, sizeof(double));
	assert_true(text_equal(got.name, sum->name));
}

static void
sums_are_read_as_they_were_written(void **state)
{
	char name[NAME_BYTES_MAX];
	struct scanner_sum sum = { .count = 3,
		.sum_ns = 1500.0,
		.name = text_of("Wait on Input Queue") };
	char line[SCANNER_LINE_BYTES];

	assert_line(&sum, "i 3 1500.0 Wait on Input Queue\n");
	sum.sum_ns = -0.1;
	assert_line(&sum, "i 3 -0.1 Wait on Input Queue\n");
	sum = (struct scanner_sum){ .is_counter = true,
		.value = INT64_MIN,
		.name = text_of("\xc3\xa4 b") };
	assert_line(&sum, "c -9223372036854775808 \xc3\xa4 b\n");
	sum.value = INT64_MAX;
	assert_line(&sum, "c 9223372036854775807 \xc3\xa4 b\n");
	/* The longest that there can be. */
	memset(name, 'n', sizeof(name));
	sum = (struct scanner_sum){ .count = INT64_MAX,
		.sum_ns = -1.7976931348623157e308,
		.name = { name, sizeof(name) } };
	assert_in_range(scanner_put_sum(line, &sum), 1, SCANNER_LINE_BYTES);
}

static void
what_is_no_line_of_sums_is_left(void **state)
{
	static const char *const bad[] = { "c 1 x", "c x y\n", "c 1 \n",
		"d 1 x\n", "i 1 nan x\n", "i -1 1.0 x\n", "i 1 1e999 x\n", "\n",
		"c 9223372036854775808 x\n", "c 1 a\tb\n", "cc 1 x\n" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct text rest = text_of(bad[i]);
		struct scanner_sum sum;

		assert_false(scanner_next_sum(&rest, &sum));
		assert_true(text_equal(rest, text_of(bad[i])));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_have_tracks_names_and_places),
		cmocka_unit_test(the_longest_names_fit),
		cmocka_unit_test(sums_are_read_as_they_were_written),
		cmocka_unit_test(what_is_no_line_of_sums_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
