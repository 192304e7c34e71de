/*
 * tracks - numbers, names and order of what a viewer shows.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline/tracks.h"

#include <inttypes.h>

#include "exporters/trace/timeline/tracks_order.h"
#include "tests/unit/check.h"

static char said[4096];

static void
on_process(void *arg, int64_t pid, struct text name, int64_t place)
{
	size_t used = strlen(said);

	(void)arg;
	(void)pid;
	snprintf(said + used, sizeof(said) - used, "%" PRId64 " %.*s\n", place,
	    (int)name.bytes, name.at);
}

static void
on_thread(void *arg, int64_t pid, int64_t tid, struct text name, int64_t place)
{
	size_t used = strlen(said);

	(void)arg;
	assert_true(pid != tid);
	snprintf(said + used, sizeof(said) - used, "  %" PRId64 " %.*s\n",
	    place, (int)name.bytes, name.at);
}

static void
assert_described(
    const struct rows *rows, const struct intern *first, const char *wanted)
{
	struct row_names names = { NULL, on_process, on_thread };

	said[0] = '\0';
	rows_describe(rows, first, &names);
	assert_string_equal(said, wanted);
}

static void
draw(struct rows *rows, const char *node, enum row_section section,
    const char *track, int64_t begin, int64_t end)
{
	uint32_t row = rows_find(rows, text_of(node), section, text_of(track));
	int64_t pid, tid;

	assert_true(row != UINT32_MAX);
	rows_begin(rows, row, begin);
	assert_true(rows_place(rows, row, begin, end, &pid, &tid));
}

static void
names_are_in_the_order_of_people(void **state)
{
	static const char *const sorted[] = { "", "a", "a0", "a00", "a1",
		"a01b", "a2", "a10", "a10b1", "a10b02", "ab", "b",
		"node99999999999999999999", "node100000000000000000000" };
	enum { NAMES = sizeof(sorted) / sizeof(*sorted) };

	(void)state;
	for (int i = 0; i < NAMES; i++)
		for (int k = 0; k < NAMES; k++) {
			int order = rows_compare_names(
			    text_of(sorted[i]), text_of(sorted[k]));

			assert_int_equal(
			    (order > 0) - (order < 0), (i > k) - (i < k));
		}
}

static void
jobs_phases_spans_and_events_come_in_this_order(void **state)
{
	struct rows rows;

	(void)state;
	rows_init(&rows);
	draw(&rows, "n10", ROW_EVENTS, "a", 1, 1);
	draw(&rows, "n10", ROW_SPANS, "t10", 1, 2);
	draw(&rows, "n10", ROW_SPANS, "t9", 1, 2);
	draw(&rows, "n10", ROW_PHASES, "a", 20, 30);
	draw(&rows, "n10", ROW_PHASES, "b", 10, 30);
	draw(&rows, "n10", ROW_JOBS, "jobs", 50, 60);
	draw(&rows, "n9", ROW_SPANS, "t", 1, 2);
	assert_described(&rows, NULL,
	    "1 n9\n  1 t\n2 n10\n  1 jobs\n  2 b\n  3 a\n  4 t9\n  5 t10\n"
	    "  6 a\n");
	rows_clear(&rows);
}

static void
a_phase_stands_at_the_same_place_in_every_node(void **state)
{
	struct rows rows;

	(void)state;
	rows_init(&rows);
	draw(&rows, "a", ROW_PHASES, "pull", 5, 6);
	draw(&rows, "b", ROW_PHASES, "boot", 3, 4);
	draw(&rows, "c", ROW_PHASES, "boot", 9, 10);
	draw(&rows, "c", ROW_PHASES, "pull", 7, 8);
	assert_described(&rows, NULL,
	    "1 a\n  1 pull\n2 b\n  1 boot\n3 c\n  1 boot\n  2 pull\n");
	rows_clear(&rows);
}

static void
what_overlaps_in_part_gets_another_row_of_its_track(void **state)
{
	struct rows rows;

	(void)state;
	rows_init(&rows);
	draw(&rows, "n", ROW_SPANS, "t", 0, 5);
	draw(&rows, "n", ROW_SPANS, "t", 1, 6);
	draw(&rows, "n", ROW_SPANS, "u", 1, 6);
	draw(&rows, "n", ROW_SPANS, "t", 2, 7);
	assert_described(
	    &rows, NULL, "1 n\n  1 t\n  2 t (2)\n  3 t (3)\n  4 u\n");
	rows_clear(&rows);
}

static void
the_worst_nodes_come_first(void **state)
{
	struct intern worst;
	struct rows rows;

	(void)state;
	rows_init(&rows);
	intern_init(&worst);
	draw(&rows, "a", ROW_SPANS, "t", 0, 1);
	draw(&rows, "b", ROW_SPANS, "t", 0, 1);
	draw(&rows, "c", ROW_SPANS, "t", 0, 1);
	(void)intern_add(&worst, text_of("c"));
	(void)intern_add(&worst, text_of("a"));
	assert_described(&rows, &worst, "1 c\n  1 t\n2 a\n  1 t\n3 b\n  1 t\n");
	intern_clear(&worst);
	rows_clear(&rows);
}

static void
a_track_of_the_same_name_is_another_in_another_section(void **state)
{
	struct rows rows;
	uint32_t a, b;

	(void)state;
	rows_init(&rows);
	a = rows_find(&rows, text_of("n"), ROW_SPANS, text_of("t"));
	b = rows_find(&rows, text_of("n"), ROW_EVENTS, text_of("t"));
	assert_true(a != b);
	assert_true(
	    a == rows_find(&rows, text_of("n"), ROW_SPANS, text_of("t")));
	assert_true(rows_process(&rows, text_of("n")) > 0);
	assert_true(rows_process(&rows, text_of("n")) !=
		    rows_process(&rows, text_of("m")));
	rows_clear(&rows);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_in_the_order_of_people),
		cmocka_unit_test(
		    jobs_phases_spans_and_events_come_in_this_order),
		cmocka_unit_test(
		    a_phase_stands_at_the_same_place_in_every_node),
		cmocka_unit_test(
		    what_overlaps_in_part_gets_another_row_of_its_track),
		cmocka_unit_test(the_worst_nodes_come_first),
		cmocka_unit_test(
		    a_track_of_the_same_name_is_another_in_another_section),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
