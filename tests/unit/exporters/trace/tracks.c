/*
 * tracks - numbers, names and order of what a viewer shows.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/tracks.h"

#include <inttypes.h>

#include "tests/unit/check.h"

static char printed[4096];

static void
on_process(
    void *arg, struct text node, int64_t pid, struct text name, int64_t place)
{
	size_t used = strlen(printed);

	assert_true(node.bytes <= name.bytes);
	snprintf(printed + used, sizeof(printed) - used, "%" PRId64 " %.*s\n",
	    place, (int)name.bytes, name.at);
}

static void
on_thread(void *arg, int64_t pid, int64_t tid, struct text name, int64_t place)
{
	size_t used = strlen(printed);

	assert_true(pid != tid);
	snprintf(printed + used, sizeof(printed) - used, "  %" PRId64 " %.*s\n",
	    place, (int)name.bytes, name.at);
}

static void
assert_described(const struct tracks *tracks, const struct string_table *first,
    const char *wanted)
{
	struct tracks_names names = { NULL, on_process, on_thread };

	printed[0] = '\0';
	tracks_describe(tracks, first, &names);
	assert_string_equal(printed, wanted);
}

static void
draw(struct tracks *tracks, const char *node, enum tracks_section section,
    const char *track, int64_t begin, int64_t end)
{
	uint32_t row =
	    tracks_find(tracks, text_of(node), section, text_of(track));
	int64_t pid, tid;

	assert_true(row != UINT32_MAX);
	tracks_begin(tracks, row, begin);
	assert_true(tracks_place(tracks, row, begin, end, &pid, &tid));
}

static void
names_are_in_the_order_of_people(void **state)
{
	static const char *const sorted[] = { "", "a", "a0", "a00", "a1",
		"a01b", "a2", "a10", "a10b1", "a10b02", "ab", "b",
		"node99999999999999999999", "node100000000000000000000" };
	enum { NAMES = sizeof(sorted) / sizeof(*sorted) };

	for (int i = 0; i < NAMES; i++)
		for (int k = 0; k < NAMES; k++) {
			int order = text_compare_natural(
			    text_of(sorted[i]), text_of(sorted[k]));

			assert_int_equal(
			    (order > 0) - (order < 0), (i > k) - (i < k));
		}
}

static void
jobs_phases_spans_and_events_come_in_this_order(void **state)
{
	struct tracks tracks;

	tracks_init(&tracks);
	draw(&tracks, "n10", TRACKS_EVENTS, "a", 1, 1);
	draw(&tracks, "n10", TRACKS_SPANS, "t10", 1, 2);
	draw(&tracks, "n10", TRACKS_SPANS, "t9", 1, 2);
	draw(&tracks, "n10", TRACKS_PHASES, "a", 20, 30);
	draw(&tracks, "n10", TRACKS_PHASES, "b", 10, 30);
	draw(&tracks, "n10", TRACKS_JOBS, "jobs", 50, 60);
	draw(&tracks, "n9", TRACKS_SPANS, "t", 1, 2);
	assert_described(&tracks, NULL,
	    "1 n9\n  1 t\n2 n10\n  1 jobs\n  2 b\n  3 a\n  4 t9\n  5 t10\n"
	    "  6 a\n");
	tracks_clear(&tracks);
}

static void
a_phase_stands_at_the_same_place_in_every_node(void **state)
{
	struct tracks tracks;

	tracks_init(&tracks);
	draw(&tracks, "a", TRACKS_PHASES, "pull", 5, 6);
	draw(&tracks, "b", TRACKS_PHASES, "boot", 3, 4);
	draw(&tracks, "c", TRACKS_PHASES, "boot", 9, 10);
	draw(&tracks, "c", TRACKS_PHASES, "pull", 7, 8);
	assert_described(&tracks, NULL,
	    "1 a\n  1 pull\n2 b\n  1 boot\n3 c\n  1 boot\n  2 pull\n");
	tracks_clear(&tracks);
}

static void
what_overlaps_in_part_gets_another_row_of_its_track(void **state)
{
	struct tracks tracks;

	tracks_init(&tracks);
	draw(&tracks, "n", TRACKS_SPANS, "t", 0, 5);
	draw(&tracks, "n", TRACKS_SPANS, "t", 1, 6);
	draw(&tracks, "n", TRACKS_SPANS, "u", 1, 6);
	draw(&tracks, "n", TRACKS_SPANS, "t", 2, 7);
	assert_described(
	    &tracks, NULL, "1 n\n  1 t\n  2 t (2)\n  3 t (3)\n  4 u\n");
	tracks_clear(&tracks);
}

static void
the_worst_nodes_come_first(void **state)
{
	struct string_table worst;
	struct tracks tracks;

	tracks_init(&tracks);
	string_table_init(&worst);
	draw(&tracks, "a", TRACKS_SPANS, "t", 0, 1);
	draw(&tracks, "b", TRACKS_SPANS, "t", 0, 1);
	draw(&tracks, "c", TRACKS_SPANS, "t", 0, 1);
	(void)string_table_add(&worst, text_of("c"));
	(void)string_table_add(&worst, text_of("a"));
	assert_described(
	    &tracks, &worst, "1 c\n  1 t\n2 a\n  1 t\n3 b\n  1 t\n");
	string_table_clear(&worst);
	tracks_clear(&tracks);
}

static void
a_track_of_the_same_name_is_another_in_another_section(void **state)
{
	struct tracks tracks;
	uint32_t a, b;

	tracks_init(&tracks);
	a = tracks_find(&tracks, text_of("n"), TRACKS_SPANS, text_of("t"));
	b = tracks_find(&tracks, text_of("n"), TRACKS_EVENTS, text_of("t"));
	assert_true(a != b);
	assert_true(a == tracks_find(&tracks, text_of("n"), TRACKS_SPANS,
			     text_of("t")));
	assert_true(tracks_process(&tracks, text_of("n")) > 0);
	assert_true(tracks_process(&tracks, text_of("n")) !=
		    tracks_process(&tracks, text_of("m")));
	tracks_clear(&tracks);
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
