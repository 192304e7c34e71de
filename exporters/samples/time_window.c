/*
 * time_window - selection of nodes, time, job and metrics.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/time_window.h"

#include <string.h>

#include "exporters/samples/series.h"
#include "exporters/source/select_options.h"
#include "proto/os/clock.h"

const struct opt time_window_options[] = {
	NODE_OPTION(struct time_window_options, node),
	JOB_OPTIONS(struct time_window_options, jobs),
	TIME_OPTIONS(
	    struct time_window_options, from_ns, to_ns, "show only records"),
	{ "step", 0, OPT_DURATION, OPT_TO(struct time_window_options, step_ns),
	    "TIME", "combine the samples of this much time, such as 10s" },
	{ .name = NULL },
};

const struct opt metric_options[] = {
	{ "metric", 'm', OPT_LIST, OPT_TO(struct metric_options, metrics),
	    "PATTERN",
	    "samples: show metrics that match this pattern; may be repeated" },
	{ "metric-group", 0, OPT_TEXT, OPT_TO(struct metric_options, group),
	    "PATTERN",
	    "samples: show only metric groups that match this pattern, such as "
	    "disk/*" },
	{ .name = NULL },
};

#define HOUR_NS (3600 * NS_PER_SECOND)
#define DAY_NS  (24 * HOUR_NS)

/* Shown times may lie outside of the range of stored times. */
static int
shown_extent(const struct time_window *time_window, struct source *source,
    struct text partition, struct series_extent *extent, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_SAMPLE);

	query.node = time_window->node;
	query.from_ns = time_window->from_ns;
	query.to_ns = time_window->to_ns;
	source_ahead_clocks(source, partition, &query);
	series_ahead(source, partition);
	if (series_extent(source, partition, extent, err) != 0)
		return -1;
	if (source_load_clocks(source, partition, &query, err) != 0)
		return -1;
	source_clock_shown(
	    source_clock(source), &extent->first_ns, &extent->last_ns);
	return 0;
}

int
time_window_fit(struct time_window *time_window, struct source *source,
    struct text partition, struct err *err)
{
	int64_t first_ns, last_ns;
	struct series_extent shown;

	if (shown_extent(time_window, source, partition, &shown, err) != 0)
		return -1;
	first_ns = shown.first_ns;
	last_ns = shown.last_ns;
	if (time_window->node.bytes == 0)
		time_window->nodes = shown.nodes;
	if (job_options_given(&time_window->jobs)) {
		if (job_intervals_read(&time_window->job_intervals, source,
			partition, &time_window->jobs, err) != 0)
			return -1;
		time_window->of_jobs = &time_window->job_intervals;
		if (first_ns < time_window->job_intervals.from_ns)
			first_ns = time_window->job_intervals.from_ns;
		if (last_ns >= time_window->job_intervals.to_ns)
			last_ns = time_window->job_intervals.to_ns - 1;
	}
	if (time_window->from_ns < first_ns)
		time_window->from_ns = first_ns;
	/* The greatest time itself is shown when no end is asked for. */
	if (time_window->to_ns > last_ns || time_window->to_ns == TIME_MAX_NS)
		time_window->to_ns = last_ns + 1;
	time_window->has_first = time_window->from_ns == shown.first_ns;
	time_window->has_last = time_window->to_ns == shown.last_ns + 1;
	if (time_window->from_ns < time_window->to_ns)
		return 0;
	return err_set(err, "there are no records in that time");
}

int
time_window_narrow(struct time_window *time_window, struct source *source,
    struct text partition, struct err *err)
{
	struct series_query query = time_window_query(time_window, HOUR_NS);
	int64_t first_ns = TIME_MAX_NS, last_ns = TIME_MIN_NS;
	struct series *series = NULL;
	struct series_point point;
	int rc;

	if (!source_clock_moves(source_clock(source), DAY_NS))
		return 0;
	query.intervals = query.single = true;
	rc = series_open(&series, source, partition, err);
	if (rc == 0)
		rc = series_select(series, &query, err);
	while (rc == 0 && (rc = series_next(series, &point, err)) > 0) {
		rc = 0;
		if (point.first_ns < first_ns)
			first_ns = point.first_ns;
		if (point.last_ns > last_ns)
			last_ns = point.last_ns;
	}
	series_close(&series);
	if (rc == 0 && first_ns > time_window->from_ns && first_ns <= last_ns)
		time_window->from_ns = first_ns;
	if (rc == 0 && last_ns < time_window->to_ns && first_ns <= last_ns)
		time_window->to_ns = last_ns + 1;
	return rc;
}

int
time_window_open(struct time_window *time_window,
    const struct time_window_options *options, struct source *source,
    struct text partition, struct err *err)
{
	*time_window =
	    (struct time_window){ .node = text_of(options->node.list),
		    .jobs = options->jobs,
		    .from_ns = options->from_ns,
		    .to_ns = options->to_ns,
		    .step_ns = options->step_ns };
	return time_window_fit(time_window, source, partition, err);
}

void
time_window_close(struct time_window *time_window)
{
	job_intervals_clear(&time_window->job_intervals);
}

struct series_query
time_window_query(const struct time_window *time_window, int64_t step_ns)
{
	return (struct series_query){ .node = time_window->node,
		.from_ns = time_window->from_ns,
		.to_ns = time_window->to_ns,
		.step_ns = step_ns,
		.nothing_before = time_window->has_first,
		.nothing_behind = time_window->has_last };
}

int
time_window_find_hours(const struct time_window *time_window,
    struct series *series, const struct metric_options *options,
    struct err *err)
{
	struct series_query query = time_window_query(time_window, HOUR_NS);
	struct series_point point;
	uint32_t i = 0;
	int rc;

	query.group = text_of(options->group);
	do {
		if (options->metrics.count > 0)
			query.metric = text_of(options->metrics.at[i]);
		rc = series_select(series, &query, err);
		if (rc == 0)
			rc = series_next(series, &point, err);
	} while (rc == 0 && ++i < options->metrics.count);
	if (rc > 0)
		(void)err_set(err,
		    "the samples of these metrics were deleted, and only sums "
		    "of hours are left: poolscope stats series --step 1h has "
		    "these");
	return rc;
}
