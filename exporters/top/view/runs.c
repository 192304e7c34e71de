/*
 * top_runs - the view of the newest runs, with the durations of their steps.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "exporters/top/view/view.h"
#include "proto/os/clock.h"

enum { RUN, GROUP, STATE, AGE, STEPS };

static const struct newest_runs *
runs_of(const struct top_snapshot *snapshot)
{
	static const struct newest_runs none;

	return snapshot->runs == NULL ? &none : &snapshot->runs->runs;
}

static const struct newest_run *
run_of(const struct top_snapshot *snapshot, uint32_t row)
{
	return &runs_of(snapshot)->at[row];
}

static uint32_t
count_runs(const struct top_snapshot *snapshot)
{
	return runs_of(snapshot)->count;
}

/* Columns that the longest one takes, of which there are at least `least`. */
static unsigned
widest(const struct newest_runs *runs, bool is_group, unsigned least)
{
	for (uint32_t i = 0; i < runs->count; i++) {
		unsigned width = cell_width(
		    is_group ? runs->at[i].group : runs->at[i].id, false);

		if (width > least)
			least = width;
	}
	return least;
}

static unsigned
smaller(unsigned one, unsigned other)
{
	return one < other ? one : other;
}

static uint32_t
columns(const struct top_snapshot *snapshot,
    struct view_column to[static VIEW_COLUMNS_MAX])
{
	const struct newest_runs *runs = runs_of(snapshot);
	uint32_t count = STEPS;
	unsigned id = widest(runs, false, 4), group = widest(runs, true, 6);

	to[RUN] = (struct view_column){ "RUN", smaller(id, 8), smaller(id, 40),
		0, false, true, false };
	to[GROUP] = (struct view_column){ "GROUP", 6, smaller(group, 30), 3,
		false, true, false };
	to[STATE] =
	    (struct view_column){ "STATE", 8, 8, 1, false, false, false };
	to[AGE] = (struct view_column){ "BEGAN", 5, 6, 2, true, false, false };
	for (uint32_t i = 0; i < runs->step_count; i++) {
		struct view_column *column = &to[count++];

		*column =
		    (struct view_column){ "", 7, 8, 4 + i, true, false, false };
		table_elide(
		    column->title, sizeof(column->title), runs->steps[i], 7);
		for (char *at = column->title; *at != '\0'; at++)
			if (*at >= 'a' && *at <= 'z')
				*at = (char)(*at - 'a' + 'A');
	}
	return count;
}

static struct text
name_of(const struct top_snapshot *snapshot, uint32_t row)
{
	return run_of(snapshot, row)->id;
}

static struct text
group_of(const struct top_snapshot *snapshot, uint32_t row)
{
	return run_of(snapshot, row)->group;
}

/* NaN: it has no events. */
static double
age_of(const struct top_snapshot *snapshot, const struct newest_run *run)
{
	int64_t ns = snapshot->taken_ns - run->begin_ns;

	return run->begin_ns == INT64_MIN ? NAN : ns < 0 ? 0 : (double)ns / 1e9;
}

static struct order_key
key(const struct top_snapshot *snapshot, uint32_t row, int column)
{
	const struct newest_run *run = run_of(snapshot, row);

	return (struct order_key){ .is_text = column <= GROUP,
		.text = column == GROUP ? run->group : run->id,
		.number = column == STATE
			      ? 4 * run->is_error - (double)run->state
			  : column == AGE   ? age_of(snapshot, run)
			  : column >= STEPS ? run->steps[column - STEPS]
					    : 0 };
}

static const char *
state_words(const struct newest_run *run)
{
	static const char *const words[RUN_STATES] = { "queued", "ongoing",
		"finished" };

	return run->is_error ? "error" : words[run->state];
}

static struct text
cell(const struct top_snapshot *snapshot, uint32_t row, uint32_t column,
    char to[static VIEW_TEXT_BYTES])
{
	const struct newest_run *run = run_of(snapshot, row);

	switch (column) {
	case RUN: return run->id;
	case GROUP: return run->group;
	case STATE: return text_of(state_words(run));
	case AGE: return text_of(cell_time(to, age_of(snapshot, run)));
	default: return text_of(cell_number(to, run->steps[column - STEPS]));
	}
}

static enum view_look
look(const struct top_snapshot *snapshot, uint32_t row)
{
	const struct newest_run *run = run_of(snapshot, row);

	return run->is_error                ? VIEW_BAD
	       : run->state == RUN_FINISHED ? VIEW_PLAIN
					    : VIEW_GOOD;
}

static void
detail(const struct top_snapshot *snapshot, uint32_t row, FILE *file)
{
	const struct newest_runs *runs = runs_of(snapshot);
	const struct newest_run *run = run_of(snapshot, row);
	char text[CLOCK_TEXT_BYTES], number[CELL_NUMBER_BYTES];

	fprintf(file, "%-12s%.*s\n", "run", (int)run->id.bytes, run->id.at);
	fprintf(
	    file, "%-12s%.*s\n", "group", (int)run->group.bytes, run->group.at);
	fprintf(file, "%-12s%s\n", "state", state_words(run));
	fprintf(file, "%-12s%s\n", "began",
	    run->begin_ns == INT64_MIN ? "-"
				       : clock_text(text, run->begin_ns, 0));
	fputs("\nsteps, in seconds:\n", file);
	for (uint32_t i = 0; i < runs->step_count; i++)
		fprintf(file, "  %8s  %.*s\n",
		    cell_number(number, run->steps[i]),
		    (int)runs->steps[i].bytes, runs->steps[i].at);
}

const struct view view_runs = {
	.name = "runs",
	.columns = columns,
	.count = count_runs,
	.name_of = name_of,
	.other_of = group_of,
	.key = key,
	.cell = cell,
	.look = look,
	.detail = detail,
	.column = -1,
	.is_sorted = true,
	.none = "this pool has no runs",
};
