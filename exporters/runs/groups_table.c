/*
 * runs_groups_table - statistics of a group of runs, for a terminal.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/groups_table.h"

#include <inttypes.h>

#include "proto/format/table.h"

enum {
	LINE_COLUMNS = 79,
	SHOWN = 10, /* length of a list */
};

void
runs_table_begin(const struct runs *runs, enum run_clock clock, FILE *file)
{
	static const char *const words[] = { "emitted", "received" };

	fputs("groups of runs of ", file);
	table_put_elided(file, runs->partition, 24);
	fprintf(file, ", by the times events were %s\n", words[clock]);
}

static void
put_heading(const struct runs_group *group, FILE *file)
{
	putc('\n', file);
	if (!group->known)
		fputs("runs without a description", file);
	else if (group->name.bytes == 0)
		fputs("runs without a group", file);
	else
		table_put_elided(file, group->name, LINE_COLUMNS);
	fprintf(file,
	    "\n%" PRId64 " runs: %" PRId64 " finished, %" PRId64
	    " ongoing, %" PRId64 " queued\n",
	    group->runs, group->state[RUN_FINISHED], group->state[RUN_ONGOING],
	    group->state[RUN_QUEUED]);
	if (group->errors > 0)
		fprintf(file,
		    "%" PRId64 " with an error: %.1f %% of the ended runs, "
		    "%.1f %% of all\n",
		    group->errors, runs_errors_of_ended(group),
		    runs_errors_of_all(group));
}

/* One row for the iterations and, if a run has several, one for their sums. */
static void
put_step(struct table *table, struct text name, const struct runs_stats *stats)
{
	table_text(table, name);
	table_count(table, (uint64_t)stats->count);
	table_number(table, stats->min);
	table_number(table, stats->p50);
	table_number(table, stats->p90);
	table_number(table, stats->p99);
	table_number(table, stats->max);
	table_number(table, stats->mean);
	table_number(table, stats->std_population);
}

static void
put_steps(const struct runs *runs, const struct runs_group *group,
    enum run_clock clock, FILE *file)
{
	static const struct table_column columns[] = {
		{ "SECONDS", 16, false },
		{ "COUNT", 7, true },
		{ "MIN", 7, true },
		{ "P50", 7, true },
		{ "P90", 7, true },
		{ "P99", 7, true },
		{ "MAX", 7, true },
		{ "MEAN", 7, true },
		{ "STD", 6, true },
		{ .title = NULL },
	};
	struct table table;

	putc('\n', file);
	table_begin(&table, file, columns);
	for (uint32_t i = 0; i < runs->step_count; i++) {
		const struct runs_stats *stats = group->stats[i][clock];

		if (stats[RUNS_OF_ITERATION].count == 0)
			continue;
		put_step(
		    &table, runs->steps[i].name, &stats[RUNS_OF_ITERATION]);
		if (stats[RUNS_OF_TOTAL].count !=
		    stats[RUNS_OF_ITERATION].count)
			put_step(&table, text_of("  added up"),
			    &stats[RUNS_OF_TOTAL]);
	}
}

static void
put_names(const struct runs_group *group, const char *title,
    enum run_state state, FILE *file)
{
	uint64_t shown = 0, more = 0;

	for (uint32_t i = 0; i < group->listed_count; i++) {
		if (state != RUN_STATES && group->listed[i].state != state)
			continue;
		if (shown == SHOWN) {
			more++;
			continue;
		}
		if (shown == 0)
			fprintf(file, "\n%s\n", title);
		fputs("  ", file);
		table_put_elided(file, group->listed[i].id, LINE_COLUMNS - 2);
		putc('\n', file);
		shown++;
	}
	if (more > 0)
		fprintf(file, "  and %" PRIu64 " more\n", more);
}

void
runs_table_put(const struct runs *runs, const struct runs_group *group,
    enum run_clock clock, FILE *file)
{
	uint32_t count = group->requestor_count, i;

	put_heading(group, file);
	put_steps(runs, group, clock, file);
	if (count > 0)
		fputs("\nrequested by\n", file);
	for (i = 0; i < count && i < SHOWN; i++) {
		fprintf(file, "%9" PRId64 "  ", group->requestors[i].runs);
		table_put_elided(
		    file, group->requestors[i].name, LINE_COLUMNS - 11);
		putc('\n', file);
	}
	if (count > SHOWN)
		fprintf(file, "           and %u more\n", count - SHOWN);
	if (group->known) {
		put_names(group, "ongoing", RUN_ONGOING, file);
		put_names(group, "queued", RUN_QUEUED, file);
	} else {
		put_names(group, "unknown", RUN_STATES, file);
	}
}
