/*
 * result_changes - the changes of the level of an entry's timings.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>

#include "exporters/results/plot.h"
#include "exporters/results/query.h"
#include "proto/base/memory.h"

enum { POINTS_MAX = 1000000 }; /* of one entry */

const char *const result_changes_columns[] = { "start_us", "percent", "before",
	"after", NULL };

static bool
get_number(const struct value *timing, double *number)
{
	if (timing->type == VALUE_INT)
		*number = (double)timing->is.i;
	else if (timing->type == VALUE_FLOAT)
		*number = timing->is.f;
	else
		return false;
	return isfinite(*number);
}

static void
reverse(struct result_points *points)
{
	for (uint32_t i = 0, k = points->count; i + 1 < k--; i++) {
		struct result_point point = points->at[i];

		points->at[i] = points->at[k];
		points->at[k] = point;
	}
}

int
result_query_points(const struct result_query *query,
    struct result_points *points, struct err *err)
{
	struct result_range range = result_query_range(query);
	struct result_row row;
	int rc;

	if (result_range_entries(
		&range, query->test, query->entry, query->limit, err) != 0)
		return -1;
	while ((rc = result_range_next(&range, &row, err)) > 0) {
		double number;

		if (!get_number(&row.timing, &number)) {
			points->left_out++;
			continue;
		}
		points->cut =
		    points->count == POINTS_MAX ||
		    (query->limit > 0 && points->count == query->limit);
		if (points->cut)
			break;
		points->at = memory_grow(points->at, &points->room,
		    points->count, sizeof(*points->at));
		points->at[points->count++] =
		    (struct result_point){ (double)row.start_us / 1e6, number };
	}
	result_query_warn(&range);
	reverse(points);
	return rc < 0 ? -1 : 0;
}

static void
put_number(struct report *report, double number)
{
	if (isnan(number))
		report_none(report);
	else
		report_value(report,
		    &(struct value){ .type = VALUE_FLOAT, .is.f = number });
}

/* A level is the median of the timings between two changes. */
static void
put_levels(const struct result_plot *plot, const struct result_query *query)
{
	static const struct table_column titles[] = {
		{ "FROM", 30, false },
		{ "PERCENT", 10, true },
		{ "BEFORE", 12, true },
		{ "AFTER", 12, true },
		{ .title = NULL },
	};
	struct report report;

	report_begin(&report, query->file, query->format,
	    result_changes_columns, titles);
	for (uint32_t i = 1; i < plot->level_count; i++) {
		const struct result_level *level = &plot->levels[i];

		report_time(&report, (int64_t)llround(level->from * 1e6));
		put_number(&report, level->percent);
		put_number(&report, level[-1].median);
		put_number(&report, level->median);
	}
	report_end(&report);
}

int
result_query_changes(const struct result_query *query, struct err *err)
{
	struct result_points points = { .at = NULL };
	struct result_plot plot = { .level_count = 0 };
	int rc = result_query_points(query, &points, err);

	if (rc == 0 && points.count == 0)
		rc = result_query_explain(query, err);
	if (rc == 0 && points.count > 0)
		result_plot_init(&plot, points.at, points.count);
	if (rc == 0)
		put_levels(&plot, query);
	result_plot_clear(&plot);
	free(points.at);
	return rc;
}
