/*
 * timeline - write samples as counter tracks; counters as rates.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline/timeline_private.h"

#include <math.h>
#include <stdio.h>

#include "exporters/samples/unit.h"
#include "proto/record/counter_rate.h"

enum {
	STEPS = 1000, /* maximum of a track, without --step */
	NAME_BYTES = 2 * NAME_BYTES_MAX + 4,
	UNIT_BYTES = 32,
};

/* "By", for a counter "By/s". */
static struct text
rate_unit(char to[static UNIT_BYTES], struct text unit)
{
	int n = snprintf(to, UNIT_BYTES, "%.*s/s",
	    unit.bytes < UNIT_BYTES - 3 ? (int)unit.bytes : 0, unit.at);

	return (struct text){ to, (uint32_t)n };
}

static void
put_point(struct timeline *t, const struct series_point *point)
{
	char name[NAME_BYTES], unit[UNIT_BYTES];
	int64_t time_ns = point->begin_ns, pid;
	uint64_t before = trace_writer_bytes(&t->sink);
	struct text shown;
	double factor = unit_scale(point->unit, &shown);
	int n;

	pid = tracks_process(&t->tracks, point->node);
	if (pid < 0) {
		t->rowless++;
		return;
	}
	if (point->counter)
		shown = rate_unit(unit, shown);
	n = snprintf(name, sizeof(name), "%.*s %.*s", (int)point->group.bytes,
	    point->group.at, (int)point->metric.bytes, point->metric.at);
	trace_writer_counter(&t->sink, pid, (struct text){ name, (uint32_t)n },
	    shown, time_ns > t->from_ns ? time_ns - t->from_ns : 0,
	    point->mean * factor);
	timeline_account(t, point->node, time_ns, before);
}

static int
read_metric(struct timeline *t, struct series *series,
    const struct series_query *query, struct err *err)
{
	struct series_point point;
	int rc;

	if (series_select(series, query, err) != 0)
		return -1;
	timeline_shows(t, "samples",
	    (uint64_t)(t->time_window.to_ns - t->time_window.from_ns));
	while ((rc = series_next(series, &point, err)) > 0) {
		timeline_shows_step(
		    t, point.begin_ns > t->time_window.from_ns
			   ? (uint64_t)(point.begin_ns - t->time_window.from_ns)
			   : 0);
		if (isfinite(point.mean) &&
		    !text_equal(
			point.metric, text_of(COUNTER_RATE_BOOT_COLUMN)) &&
		    timeline_wants(t, point.node, point.begin_ns, point.end_ns))
			put_point(t, &point);
	}
	return rc;
}

int
timeline_samples(struct timeline *t, struct err *err)
{
	struct series_query query = time_window_query(&t->time_window,
	    t->time_window.step_ns > 0 ? series_fit_step(t->time_window.step_ns)
				       : series_step(t->time_window.from_ns,
					     t->time_window.to_ns, STEPS));
	struct series *series = NULL;
	uint32_t i = 0;
	int rc = series_open(&series, t->source, t->partition, err);

	do {
		if (i < t->metrics->count)
			query.metric = text_of(t->metrics->at[i]);
		if (rc == 0)
			rc = read_metric(t, series, &query, err);
	} while (++i < t->metrics->count);
	series_close(&series);
	return rc;
}
