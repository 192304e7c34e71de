/*
 * time_window - selection of nodes, time, job and metrics: options shared by
 * pictures and tables of samples.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_TIME_WINDOW_H
#define EXPORTERS_SAMPLES_TIME_WINDOW_H

#include "exporters/samples/job_intervals.h"
#include "exporters/samples/series.h"
#include "exporters/source/select_options.h"
#include "proto/config/opt.h"
#include "proto/os/clock.h"

/* As given; initialize it with TIME_WINDOW_ALL. */
struct time_window_options {
	struct node_option node;
	struct job_options jobs;
	int64_t from_ns, to_ns; /* TIME_MIN_NS, TIME_MAX_NS: not given */
	int64_t step_ns;        /* 0: not given */
};
#define TIME_WINDOW_ALL                                                        \
	{                                                                      \
		.from_ns = TIME_MIN_NS, .to_ns = TIME_MAX_NS                   \
	}

/* --node, --job, --user, --from, --to, --step; bound to struct
 * time_window_options. */
extern const struct opt time_window_options[];

struct metric_options {
	struct opt_list metrics; /* patterns; none: all */
	const char *group;       /* pattern of metric groups; NULL: all */
};

/* --metric, --metric-group; bound to struct metric_options. */
extern const struct opt metric_options[];

struct time_window {
	bool is_of_two; /* a line of many nodes needs two metrics of each, and
			   so has half as many steps */
	struct text node;
	struct job_options jobs;
	/* Of jobs that were selected; NULL: all jobs and times. */
	const struct job_intervals *of_jobs;
	struct job_intervals job_intervals;
	int64_t from_ns, to_ns;
	bool has_first, has_last; /* of all records: nothing lies beyond */
	int64_t step_ns;          /* 0: not given */
	int64_t nodes;            /* that it is of; 0: unknown, or only some */
};

/* Apply the options.  Times that they do not set are taken from the job, or
 * from the records of the partition.  -1 also when the window is empty. */
int time_window_open(struct time_window *time_window,
    const struct time_window_options *options, struct source *source,
    struct text partition, struct err *err);
/* Complete a window in which the caller has set all but the jobs. */
int time_window_fit(struct time_window *time_window, struct source *source,
    struct text partition, struct err *err);
/* Of a window of samples: when it begins and ends at the first and the last of
 * all records, these were widened by what clocks are off.  Where that is more
 * than a day, cut the window to the samples that are shown in it. */
int time_window_narrow(struct time_window *time_window, struct source *source,
    struct text partition, struct err *err);
void time_window_close(struct time_window *time_window);

/* A query for series_select; the caller sets the metric. */
struct series_query time_window_query(
    const struct time_window *time_window, int64_t step_ns);
/* Where steps have no sample: are there sums of hours?  An archive may have
 * these alone.  1: `err` says which step works; 0; -1. */
int time_window_find_hours(const struct time_window *time_window,
    struct series *series, const struct metric_options *options,
    struct err *err);

#endif
