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

struct row {
	int64_t start, start_us;
	double percent, before, after;
};

static const struct answer_column columns[] = {
	{ "start", "FROM", ANSWER_AT_TIME(struct row, start), NULL,
	    "from which start on the level is another", false, NULL },
	{ "start_us", NULL, ANSWER_AT_WHOLE(struct row, start_us), "us",
	    "the same since the epoch", false, NULL },
	{ "percent", "PERCENT", ANSWER_AT_NUMBER(struct row, percent), "%",
	    "by how much it is another", false, NULL },
	{ "before", "BEFORE", ANSWER_AT_NUMBER(struct row, before), "s",
	    "the median of the timings before, since the last change", false,
	    NULL },
	{ "after", "AFTER", ANSWER_AT_NUMBER(struct row, after), "s",
	    "the median from then on, until the next change", false, NULL },
	{ .key = NULL },
};
const struct answer_table result_changes_tables[] = { { "changes", columns },
	{ .name = NULL } };

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
	result_query_note(query, &range);
	reverse(points);
	return rc < 0 ? -1 : 0;
}

/* A level is the median of the timings between two changes. */
static void
put_levels(const struct result_plot *plot, const struct result_query *query)
{
	for (uint32_t i = 1; i < plot->level_count; i++) {
		const struct result_level *level = &plot->levels[i];
		int64_t us = (int64_t)llround(level->from * 1e6);
		const struct row row = { result_time(us), us, level->percent,
			level[-1].median, level->median };

		answer_row(query->answer, &row, NULL);
	}
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
