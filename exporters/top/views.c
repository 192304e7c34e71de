/*
 * top_views - the views of runs, of pools and of the pipeline.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>

#include "exporters/top/view.h"
#include "proto/os/clock.h"

/* ---- the newest runs, with the durations of their steps ---- */

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
runs_columns(const struct top_snapshot *snapshot,
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
run_name_of(const struct top_snapshot *snapshot, uint32_t row)
{
	return run_of(snapshot, row)->id;
}

static struct text
run_group_of(const struct top_snapshot *snapshot, uint32_t row)
{
	return run_of(snapshot, row)->group;
}

/* NaN: it has no events. */
static double
run_age_of(const struct top_snapshot *snapshot, const struct newest_run *run)
{
	int64_t ns = snapshot->taken_ns - run->begin_ns;

	return run->begin_ns == INT64_MIN ? NAN : ns < 0 ? 0 : (double)ns / 1e9;
}

static struct order_key
run_key(const struct top_snapshot *snapshot, uint32_t row, int column)
{
	const struct newest_run *run = run_of(snapshot, row);

	return (struct order_key){ .is_text = column <= GROUP,
		.text = column == GROUP ? run->group : run->id,
		.number = column == STATE
			      ? 4 * run->is_error - (double)run->state
			  : column == AGE   ? run_age_of(snapshot, run)
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
run_cell(const struct top_snapshot *snapshot, uint32_t row, uint32_t column,
    char to[static VIEW_TEXT_BYTES])
{
	const struct newest_run *run = run_of(snapshot, row);

	switch (column) {
	case RUN: return run->id;
	case GROUP: return run->group;
	case STATE: return text_of(state_words(run));
	case AGE: return text_of(cell_time(to, run_age_of(snapshot, run)));
	default: return text_of(cell_number(to, run->steps[column - STEPS]));
	}
}

static enum view_look
run_look(const struct top_snapshot *snapshot, uint32_t row)
{
	const struct newest_run *run = run_of(snapshot, row);

	return run->is_error                ? VIEW_BAD
	       : run->state == RUN_FINISHED ? VIEW_PLAIN
					    : VIEW_GOOD;
}

static void
run_detail(const struct top_snapshot *snapshot, uint32_t row, FILE *file)
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
	.columns = runs_columns,
	.count = count_runs,
	.name_of = run_name_of,
	.other_of = run_group_of,
	.key = run_key,
	.cell = run_cell,
	.look = run_look,
	.detail = run_detail,
	.column = -1,
	.none = "this pool has no runs",
};

/* ---- all pools ---- */

enum {
	POOL,
	NODES,
	LIVE,
	LATE,
	SILENT,
	GONE,
	RECORDS,
	NEWEST,
	TREND,
	POOL_COLUMNS
};

static const struct pools *
pools_of(const struct top_snapshot *snapshot)
{
	static const struct pools none;

	return snapshot->pools == NULL ? &none : &snapshot->pools->pools;
}

static const struct pool *
pool_of(const struct top_snapshot *snapshot, uint32_t row)
{
	return &pools_of(snapshot)->at[row];
}

static uint32_t
count_pools(const struct top_snapshot *snapshot)
{
	return pools_of(snapshot)->count;
}

static uint32_t
pools_columns(const struct top_snapshot *snapshot,
    struct view_column to[static VIEW_COLUMNS_MAX])
{
	static const struct view_column all[POOL_COLUMNS] = {
		[POOL] = { "POOL", 12, 60, 0, false, true, false },
		[NODES] = { "NODES", 6, 8, 5, true, false, false },
		[LIVE] = { "LIVE", 6, 8, 3, true, false, false },
		[LATE] = { "LATE", 6, 8, 4, true, false, false },
		[SILENT] = { "SILENT", 6, 8, 2, true, false, false },
		[GONE] = { "GONE", 6, 8, 6, true, false, false },
		[RECORDS] = { "RECORDS", 7, 9, 7, true, false, false },
		[NEWEST] = { "NEWEST", 6, 8, 1, true, false, false },
		[TREND] = { "NEW", 8, 8, 8, false, false, true },
	};

	memcpy(to, all, sizeof(all));
	to[POOL].most = to[POOL].least;
	for (uint32_t i = 0; i < pools_of(snapshot)->count; i++) {
		unsigned wide =
		    cell_width(pool_of(snapshot, i)->partition.name, false);

		if (wide > to[POOL].most)
			to[POOL].most = wide;
	}
	if (to[POOL].most > all[POOL].most)
		to[POOL].most = all[POOL].most;
	return POOL_COLUMNS;
}

static struct text
pool_name_of(const struct top_snapshot *snapshot, uint32_t row)
{
	return pool_of(snapshot, row)->partition.name;
}

/* NaN: it has no records. */
static double
pool_age_of(const struct pool *pool)
{
	return pool->age_ns < 0 ? NAN : (double)pool->age_ns / 1e9;
}

static struct order_key
pool_key(const struct top_snapshot *snapshot, uint32_t row, int column)
{
	const struct pool *pool = pool_of(snapshot, row);
	const double numbers[POOL_COLUMNS] = { 0, (double)pool->partition.nodes,
		pool->conditions[NODE_LIVE], pool->conditions[NODE_LATE],
		pool->conditions[NODE_SILENT], pool->conditions[NODE_GONE],
		(double)pool->partition.records, pool_age_of(pool),
		(double)pool->partition.records };

	return (struct order_key){ .is_text = column == POOL,
		.text = pool->partition.name,
		.number = numbers[column] };
}

static struct text
pool_cell(const struct top_snapshot *snapshot, uint32_t row, uint32_t column,
    char to[static VIEW_TEXT_BYTES])
{
	const struct pool *pool = pool_of(snapshot, row);

	if (column == POOL)
		return pool->partition.name;
	if (column == NEWEST)
		return text_of(cell_time(to, pool_age_of(pool)));
	return text_of(
	    cell_count(to, pool_key(snapshot, row, (int)column).number));
}

static enum view_look
pool_look(const struct top_snapshot *snapshot, uint32_t row)
{
	const struct pool *pool = pool_of(snapshot, row);

	return pool->conditions[NODE_SILENT] > 0 ? VIEW_BAD
	       : pool->conditions[NODE_LATE] > 0 ? VIEW_WARNING
						 : VIEW_PLAIN;
}

static double
pool_trend(const struct top_snapshot *snapshot, uint32_t row, int64_t *at_ns)
{
	*at_ns = snapshot->pools->read_ns;
	return (double)pool_of(snapshot, row)->partition.records;
}

static bool
pool_find(const struct top_snapshot *snapshot, const struct top_snapshot *other,
    uint32_t like, uint32_t *row)
{
	struct text name = pool_name_of(other, like);

	for (*row = 0; *row < count_pools(snapshot); ++*row)
		if (text_equal(pool_name_of(snapshot, *row), name))
			return true;
	return false;
}

const struct view view_pools = {
	.name = "pools",
	.columns = pools_columns,
	.count = count_pools,
	.name_of = pool_name_of,
	.key = pool_key,
	.cell = pool_cell,
	.look = pool_look,
	.trend = pool_trend,
	.find = pool_find,
	.column = POOL,
	.none = "no pool has records yet",
};

/* ---- the pipeline: what is wrong with it, what is known of its parts ---- */

/* Behind the lines: a blank one, and what is known of one pool. */
enum { LINE_BLANK, LINE_AGENTS, LINE_RECORDS, LINE_MORE };

static uint32_t
count_lines(const struct top_snapshot *snapshot)
{
	return snapshot->lines == NULL ? 0 : snapshot->lines->count + LINE_MORE;
}

static uint32_t
lines_columns(const struct top_snapshot *snapshot,
    struct view_column to[static VIEW_COLUMNS_MAX])
{
	(void)snapshot;
	to[0] = (struct view_column){ "PIPELINE", 1, CELL_COLUMNS_MAX, 0, false,
		false, false };
	return 1;
}

static struct text
line_of(const struct top_snapshot *snapshot, uint32_t row)
{
	return row < snapshot->lines->count ? snapshot->lines->at[row]
					    : (struct text){ NULL, 0 };
}

static const char *
line_of_pool(const struct top_snapshot *snapshot, uint32_t row,
    char to[static VIEW_TEXT_BYTES])
{
	const uint32_t *conditions = snapshot->conditions;
	char text[CELL_NUMBER_BYTES];

	if (row == LINE_BLANK)
		return "";
	if (row == LINE_AGENTS)
		snprintf(to, VIEW_TEXT_BYTES,
		    "agents      %" PRIu32 " heard, %" PRIu32
		    " not heard, %" PRIu32 " stopped; %s not sent yet",
		    conditions[NODE_LIVE],
		    conditions[NODE_LATE] + conditions[NODE_SILENT] +
			conditions[NODE_GONE],
		    conditions[NODE_STOPPED],
		    cell_bytes(text, snapshot->spool));
	else
		snprintf(to, VIEW_TEXT_BYTES,
		    "records     %s a second in this pool",
		    cell_count(text, snapshot->records_second));
	return to;
}

static struct text
line_cell(const struct top_snapshot *snapshot, uint32_t row, uint32_t column,
    char to[static VIEW_TEXT_BYTES])
{
	(void)column;
	return row < snapshot->lines->count
		   ? line_of(snapshot, row)
		   : text_of(line_of_pool(
			 snapshot, row - snapshot->lines->count, to));
}

static bool
begins(struct text line, const char *word)
{
	size_t bytes = strlen(word);

	return line.bytes >= bytes && memcmp(line.at, word, bytes) == 0;
}

static enum view_look
line_look(const struct top_snapshot *snapshot, uint32_t row)
{
	struct text line = line_of(snapshot, row);

	return begins(line, "critical:")  ? VIEW_BAD
	       : begins(line, "warning:") ? VIEW_WARNING
	       : begins(line, "ok:")      ? VIEW_GOOD
					  : VIEW_PLAIN;
}

const struct view view_pipeline = {
	.name = "pipeline",
	.columns = lines_columns,
	.count = count_lines,
	.name_of = line_of,
	.cell = line_cell,
	.look = line_look,
	.column = -1,
	.none = "the state of the pipeline is not known yet",
};
