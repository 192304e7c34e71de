/*
 * generate_testruns - made-up test runs keep their rules, and to the calendar.
 * That they are the right ones is for flow/045, which has another maker.
 * SPDX-License-Identifier: MIT
 */
#include "agents/generate/testruns.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agents/generate/testrun_rows.h"
#include "proto/os/clock.h"

static struct err err;

static void
every_step_is_as_long_as_it_may_be(void **state)
{
	/* From one event to the next. */
	static const struct {
		const char *name;
		int64_t least, most;
	} wanted[GENERATE_EVENTS] = {
		{ "request", 0, 20 }, /* from its place */
		{ "queue_start", 1, 2 },
		{ "queue_end", 1, 5 },
		{ "flash_start", 0, 0 },
		{ "flash_end", 10, 20 },
		{ "boot_start", 0, 0 },
		{ "boot_end", 5, 10 },
		{ "test_start", 0, 0 },
		{ "test_end", 20, 40 },
		{ "publish", 5, 5 },
	};
	int64_t least[GENERATE_EVENTS], most[GENERATE_EVENTS] = { 0 };
	struct generate_runs runs = { .seed = 7,
		.runs = 3000,
		.spacing_s = 60,
		.first = UINT64_MAX - 2999,
		.base_s = -1000 };
	struct generate_run run;
	uint64_t errors = 0;

	memset(least, 0x7F, sizeof(least));
	assert_int_equal(generate_runs_begin(&runs, &err), 0);
	for (uint64_t i = 0; generate_runs_next(&runs, &run); i++) {
		int64_t before = -1000 + (int64_t)i * 60;

		assert_true(
		    strtoull(run.id, NULL, 10) == UINT64_MAX - 2999 + i);
		errors += run.error != NULL;
		for (int k = 0; k < GENERATE_EVENTS; k++) {
			const struct generate_event *e = &run.event[k];
			int64_t step = e->emit_s - before;

			assert_string_equal(e->name, wanted[k].name);
			assert_true(e->receive_s - e->emit_s ==
				    (k != 1 && k != GENERATE_EVENTS - 1));
			least[k] = step < least[k] ? step : least[k];
			most[k] = step > most[k] ? step : most[k];
			before = e->emit_s;
		}
	}
	assert_true(runs.at == 3000 && errors == 60);
	for (int k = 0; k < GENERATE_EVENTS; k++) {
		assert_true(least[k] == wanted[k].least);
		assert_true(most[k] == wanted[k].most);
	}
}

static void
with_an_end_the_last_run_has_ended_just_before(void **state)
{
	struct generate_runs runs = { .runs = 60, .spacing_s = 100 };
	struct generate_run run;

	for (runs.seed = 0; runs.seed < 100; runs.seed++) {
		assert_int_equal(
		    generate_runs_base(&runs, 1700000000, &err), 0);
		assert_int_equal(generate_runs_begin(&runs, &err), 0);
		while (generate_runs_next(&runs, &run))
			;
		assert_in_range(run.event[GENERATE_EVENTS - 1].receive_s,
		    1700000000 - 61, 1700000000);
	}
}

static void
what_leaves_the_calendar_is_refused(void **state)
{
	const int64_t begin_s = TIME_MIN_NS / NS_PER_SECOND;
	const int64_t end_s = TIME_MAX_NS / NS_PER_SECOND;
	const uint64_t all_s = (uint64_t)(end_s - begin_s);
	const struct {
		struct generate_runs runs;
		bool is_good;
	} cases[] = {
		{ { .runs = 1, .base_s = begin_s }, true },
		{ { .runs = 1, .base_s = begin_s - 1 }, false },
		{ { .runs = 1, .base_s = end_s - 102 }, true },
		{ { .runs = 1, .base_s = end_s - 101 }, false },
		{ { .runs = 2, .base_s = begin_s, .spacing_s = all_s - 102 },
		    true },
		{ { .runs = 2, .base_s = begin_s, .spacing_s = all_s - 101 },
		    false },
		{ { .runs = 2, .spacing_s = UINT64_MAX }, false },
		{ { .runs = 1, .spacing_s = UINT64_MAX }, true },
		{ { .runs = UINT64_MAX, .spacing_s = 1 }, false },
		{ { .runs = UINT64_MAX }, true },
		{ { .runs = 1, .first = UINT64_MAX }, true },
		{ { .runs = 2, .first = UINT64_MAX }, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct generate_runs runs = cases[i].runs;
		struct generate_run run;

		err.text[0] = '\0';
		if ((generate_runs_begin(&runs, &err) == 0) != cases[i].is_good)
			fail_msg("case %zu: %s", i, err.text);
		if (cases[i].is_good)
			assert_true(generate_runs_next(&runs, &run) &&
				    run.event[9].receive_s <= end_s &&
				    run.event[0].emit_s >= begin_s);
		else
			assert_true(err.text[0] != '\0');
	}
	assert_int_equal(generate_runs_base(&(struct generate_runs){ .runs = 3,
						.spacing_s = all_s / 2 },
			     0, &err),
	    -1);
	assert_non_null(strstr(err.text, "1900 and 2200"));
}

static void
rows_come_again_the_same_and_are_named_by_what_makes_them(void **state)
{
	struct generate_runs runs = { .seed = 1, .runs = 3, .spacing_s = 9 };
	static struct import_row row;
	struct generate_rows rows, others;
	struct import_source source;
	int64_t seen[33] = { 0 };

	assert_int_equal(generate_runs_begin(&runs, &err), 0);
	assert_int_equal(
	    generate_rows_open(&rows, &runs, text_of("n"), &err), 0);
	source = generate_rows_source(&rows);
	assert_int_equal(source.bytes, 33);
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < 33; i++) {
			assert_int_equal(
			    source.next(source.arg, &row, &err), IMPORT_LINE);
			assert_int_equal(row.record.kind,
			    i % 11 == 0 ? RECORD_ENTITY : RECORD_EVENT);
			assert_int_equal(record_check(&row.record, &err), 0);
			assert_int_equal(source.offset(source.arg), i + 1);
			if (pass == 0)
				seen[i] = row.record.time_ns;
			assert_true(seen[i] == row.record.time_ns);
		}
		assert_int_equal(
		    source.next(source.arg, &row, &err), IMPORT_END);
		source.rewind(source.arg);
	}
	generate_rows_open(&others, &runs, text_of("n"), &err);
	assert_memory_equal(others.digest, rows.digest, IMPORT_DIGEST_BYTES);
	generate_rows_open(&others, &runs, text_of("m"), &err);
	assert_memory_not_equal(
	    others.digest, rows.digest, IMPORT_DIGEST_BYTES);
	runs.base_s++;
	generate_rows_open(&others, &runs, text_of("n"), &err);
	assert_memory_not_equal(
	    others.digest, rows.digest, IMPORT_DIGEST_BYTES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_step_is_as_long_as_it_may_be),
		cmocka_unit_test(
		    with_an_end_the_last_run_has_ended_just_before),
		cmocka_unit_test(what_leaves_the_calendar_is_refused),
		cmocka_unit_test(
		    rows_come_again_the_same_and_are_named_by_what_makes_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
