/*
 * top_view - layout, filter and order of the rows of a view.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/view.h"

#include "tests/unit/exporters/top/made.h"

#include <stdlib.h>

static const struct view_column three[] = {
	{ "NAME", 4, 10, 0, false, true, false },
	{ "NUMBER", 6, 8, 2, true, false, false },
	{ "STATE", 5, 5, 1, false, false, false },
};

static void
columns_that_do_not_fit_are_left_out_by_rank(void **state)
{
	unsigned widths[VIEW_COLUMNS_MAX];

	/* 4 + 6 + 5 and two blanks. */
	assert_int_equal(view_layout(three, 3, 17, widths), 17);
	assert_int_equal(widths[0], 4);
	/* Without NUMBER: 4 + 5 + 1 = 10, and NAME grows by 6. */
	assert_int_equal(view_layout(three, 3, 16, widths), 16);
	assert_int_equal(widths[0], 10);
	assert_int_equal(widths[1], 0);
	assert_int_equal(widths[2], 5);
	/* The name alone. */
	assert_int_equal(view_layout(three, 3, 9, widths), 9);
	assert_int_equal(widths[0], 9);
	assert_int_equal(widths[2], 0);
	/* Cut. */
	assert_int_equal(view_layout(three, 3, 2, widths), 2);
	assert_int_equal(widths[0], 2);
}

static void
texts_grow_before_numbers(void **state)
{
	unsigned widths[VIEW_COLUMNS_MAX];

	assert_int_equal(view_layout(three, 3, 24, widths), 24);
	assert_int_equal(widths[0], 10);
	assert_int_equal(widths[1], 7);
	/* All have what they take at most: 10 + 8 + 5 + 2. */
	assert_int_equal(view_layout(three, 3, 200, widths), 25);
}

static void
a_filter_is_a_part_or_a_pattern(void **state)
{
	assert_true(view_matches(text_of("DE-1"), text_of("node-17")));
	assert_true(view_matches(text_of(""), text_of("")));
	assert_false(view_matches(text_of("node-17x"), text_of("node-17")));
	assert_false(view_matches(text_of("a"), text_of("")));
	assert_true(view_matches(text_of("n*7"), text_of("node-17")));
	assert_false(view_matches(text_of("o*7"), text_of("node-17")));
	assert_true(view_matches(text_of("node-1?"), text_of("node-17")));
}

static uint32_t *rows, room;

static uint32_t
select_rows(const struct top_snapshot *snapshot, const char *filter, int column,
    bool is_reversed)
{
	return view_select(&view_nodes, snapshot, text_of(filter), column,
	    is_reversed, &rows, &room);
}

static void
the_worst_come_first(void **state)
{
	struct top_snapshot *snapshot = made_snapshot(1, 6);

	snapshot->nodes[4].condition = NODE_SILENT;
	snapshot->nodes[4].attention = 1u << ATTENTION_SILENT;
	snapshot->nodes[2].attention = 1u << ATTENTION_CLOCK;
	snapshot->nodes[5].condition = NODE_LATE;
	snapshot->nodes[1].attention = 1u << ATTENTION_SPOOL;
	assert_int_equal(
	    select_rows(snapshot, "", view_nodes.column, false), 6);
	assert_int_equal(rows[0], 4);
	assert_int_equal(rows[1], 1);
	assert_int_equal(rows[2], 2);
	assert_int_equal(rows[3], 5);
	/* The others in the order of their names. */
	assert_int_equal(rows[4], 0);
	assert_int_equal(rows[5], 3);
	assert_int_equal(select_rows(snapshot, "", view_nodes.column, true), 6);
	assert_int_equal(rows[5], 4);
	top_snapshot_drop(&snapshot);
}

/* What hangs or is not heard is red, what else is wrong yellow. */
static void
what_is_wrong_has_a_colour(void **state)
{
	struct top_snapshot *snapshot = made_snapshot(1, 1);
	static const enum view_look looks[] = { [ATTENTION_SILENT] = VIEW_BAD,
		[ATTENTION_GONE] = VIEW_BAD,
		[ATTENTION_PHASE] = VIEW_BAD,
		[ATTENTION_START] = VIEW_WARNING,
		[ATTENTION_LOST] = VIEW_WARNING,
		[ATTENTION_SPOOL] = VIEW_WARNING,
		[ATTENTION_CLOCK] = VIEW_WARNING };

	assert_int_equal(view_nodes.look(snapshot, 0), VIEW_PLAIN);
	for (size_t i = 0; i < sizeof(looks) / sizeof(*looks); i++) {
		snapshot->nodes[0].attention = (uint8_t)(1u << i);
		assert_int_equal(view_nodes.look(snapshot, 0), looks[i]);
	}
	snapshot->nodes[0].attention = 0;
	snapshot->nodes[0].condition = NODE_LATE;
	assert_int_equal(view_nodes.look(snapshot, 0), VIEW_WARNING);
	top_snapshot_drop(&snapshot);
}

/* The number of the column with this title. */
static int
column_of(const struct top_snapshot *snapshot, const char *title)
{
	struct view_column columns[VIEW_COLUMNS_MAX];
	uint32_t count = view_nodes.columns(snapshot, columns), at = 0;

	while (at < count && strcmp(columns[at].title, title) != 0)
		at++;
	assert_true(at < count);
	return (int)at;
}

static void
unknown_numbers_come_last(void **state)
{
	struct top_snapshot *snapshot = made_snapshot(1, 4);
	int cpu = column_of(snapshot, "CPU");

	snapshot->nodes[1].cpu = 0.5F;
	snapshot->nodes[3].cpu = 0.75F;
	assert_int_equal(select_rows(snapshot, "", cpu, false), 4);
	assert_int_equal(rows[0], 3);
	assert_int_equal(rows[1], 1);
	assert_int_equal(rows[2], 0);
	assert_int_equal(rows[3], 2);
	top_snapshot_drop(&snapshot);
}

static void
a_filter_finds_names_and_phases(void **state)
{
	struct top_snapshot *snapshot = made_snapshot(1, 30);

	top_texts_add(snapshot->labels, text_of("pull tf:1.3"));
	snapshot->nodes[4].phase = 0;
	/* n2, n12, n20 to n29 */
	assert_int_equal(select_rows(snapshot, "2", -1, false), 12);
	assert_int_equal(select_rows(snapshot, "TF", -1, false), 1);
	assert_int_equal(rows[0], 4);
	assert_int_equal(select_rows(snapshot, "n?", -1, false), 10);
	assert_int_equal(select_rows(snapshot, "x", -1, false), 0);
	top_snapshot_drop(&snapshot);
}

static const char *
cell_of(const struct top_snapshot *snapshot, uint32_t row, const char *title,
    char to[static VIEW_TEXT_BYTES])
{
	char own[VIEW_TEXT_BYTES];
	struct text text = view_nodes.cell(
	    snapshot, row, (uint32_t)column_of(snapshot, title), own);

	snprintf(to, VIEW_TEXT_BYTES, "%.*s", (int)text.bytes, text.at);
	return to;
}

/* A clock is off to either side; a negative one is ahead. */
static void
clocks_are_off_to_either_side(void **state)
{
	struct top_snapshot *snapshot = made_snapshot(1, 3);
	char to[VIEW_TEXT_BYTES], *text;
	size_t bytes;

	snapshot->nodes[0].clock = 5;
	snapshot->nodes[1].clock = -90;
	snapshot->nodes[2].clock = 7200;
	assert_int_equal(
	    select_rows(snapshot, "", column_of(snapshot, "CLOCK"), false), 3);
	assert_int_equal(rows[0], 2);
	assert_int_equal(rows[1], 1);
	assert_int_equal(rows[2], 0);
	assert_string_equal(cell_of(snapshot, 1, "CLOCK", to), "-90s");
	for (uint32_t i = 0; i < 3; i++) {
		static const char *const wanted[] = {
			"\nclock       5.0s behind the aggregator's\n",
			"\nclock       90s ahead of the aggregator's\n",
			"\nclock       2.0h behind the aggregator's\n"
		};
		FILE *file = memory_stream(&text, &bytes);

		view_nodes.detail(snapshot, i, file);
		memory_stream_end(&file);
		assert_non_null(strstr(text, wanted[i]));
		free(text);
	}
	top_snapshot_drop(&snapshot);
}

/* Of twelve agents 3 are live, 1 is late, 2 are silent, 4 gone, 2 stopped. */
static void
the_pipeline_counts_all_agents(void **state)
{
	struct top_snapshot *snapshot = made_snapshot(1, 12);
	const struct status_facts facts = { .aggregator = SERVICE_SILENT };
	char to[VIEW_TEXT_BYTES];
	bool found = false;

	snapshot->lines = top_lines_new(&facts);
	snapshot->conditions[NODE_LIVE] = 3;
	snapshot->conditions[NODE_LATE] = 1;
	snapshot->conditions[NODE_SILENT] = 2;
	snapshot->conditions[NODE_GONE] = 4;
	snapshot->conditions[NODE_STOPPED] = 2;
	for (uint32_t i = 0; i < view_pipeline.count(snapshot); i++)
		found |= text_equal(view_pipeline.cell(snapshot, i, 0, to),
		    text_of("agents      3 heard, 7 not heard, 2 stopped; 0B "
			    "not sent yet"));
	assert_true(found);
	top_snapshot_drop(&snapshot);
}

/* Of a column that is shown at all, whatever the width. */
static void
a_state_is_not_cut(void **state)
{
	struct top_snapshot *snapshot = made_snapshot(1, 1);
	struct view_column columns[VIEW_COLUMNS_MAX];
	uint32_t count = view_nodes.columns(snapshot, columns), at = 0;

	while (at < count && strcmp(columns[at].title, "STATE") != 0)
		at++;
	assert_int_not_equal(at, count);
	for (int i = 0; i < NODE_CONDITIONS; i++)
		assert_true(
		    strlen(node_condition_words[i]) <= columns[at].least);
	top_snapshot_drop(&snapshot);
}

/* n0 never began; n1 is ready for 12 min and uses 3 GiB of 12; how much n2 has
 * is not known. */
static void
what_is_not_known_is_a_dash(void **state)
{
	struct top_snapshot *snapshot = made_snapshot(1, 3);
	char to[VIEW_TEXT_BYTES];

	snapshot->nodes[1].phase = TOP_READY;
	snapshot->nodes[1].phase_age = 720;
	snapshot->nodes[1].memory_limit = 12;
	snapshot->nodes[1].memory = 3;
	snapshot->nodes[2].memory = 3;
	assert_string_equal(cell_of(snapshot, 0, "PHASE", to), "-");
	assert_string_equal(cell_of(snapshot, 0, "FOR", to), "-");
	assert_string_equal(cell_of(snapshot, 1, "PHASE", to), "ready");
	assert_string_equal(cell_of(snapshot, 1, "FOR", to), "12min");
	assert_string_equal(cell_of(snapshot, 0, "MEM", to), "-");
	assert_string_equal(cell_of(snapshot, 1, "MEM", to), "25%");
	assert_string_equal(cell_of(snapshot, 2, "MEM", to), "-");
	assert_string_equal(cell_of(snapshot, 1, "GPU", to), "-");
	assert_int_equal(select_rows(snapshot, "ready", -1, false), 1);
	assert_int_equal(rows[0], 1);
	top_snapshot_drop(&snapshot);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_that_do_not_fit_are_left_out_by_rank),
		cmocka_unit_test(texts_grow_before_numbers),
		cmocka_unit_test(a_filter_is_a_part_or_a_pattern),
		cmocka_unit_test(the_worst_come_first),
		cmocka_unit_test(what_is_wrong_has_a_colour),
		cmocka_unit_test(unknown_numbers_come_last),
		cmocka_unit_test(clocks_are_off_to_either_side),
		cmocka_unit_test(the_pipeline_counts_all_agents),
		cmocka_unit_test(a_filter_finds_names_and_phases),
		cmocka_unit_test(a_state_is_not_cut),
		cmocka_unit_test(what_is_not_known_is_a_dash),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(rows);
	return failed;
}
