/*
 * time_window - which nodes, which time, which job: the options that pictures
 * and tables made of samples share. SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_TIME_WINDOW_H
#define EXPORTERS_SAMPLES_TIME_WINDOW_H

#include "exporters/samples/job_intervals.h"
#include "exporters/samples/series.h"
#include "proto/config/opt.h"
#include "proto/os/clock.h"

/* As given; begins as TIME_WINDOW_ALL. */
struct time_window_options {
	const char *node, *job; /* NULL: all, whatever ran */
	int64_t from_ns, to_ns; /* TIME_MIN_NS, TIME_MAX_NS: not given */
	int64_t step_ns;        /* 0: not given */
};
#define TIME_WINDOW_ALL                                                        \
	{                                                                      \
		.from_ns = TIME_MIN_NS, .to_ns = TIME_MAX_NS                   \
	}

/* --node, --job, --from, --to, --step; bound to struct time_window_options. */
extern const struct opt time_window_options[];

struct time_window {
	struct text node;
	const char *job;                    /* NULL: whatever ran */
	struct job_intervals job_intervals; /* with a job: its intervals */
	int64_t from_ns, to_ns;
	int64_t step_ns; /* 0: not said */
};

/* What the options say; times that they do not are those of the job, or of
 * what the partition has.  -1 also when that leaves nothing. */
int time_window_open(struct time_window *time_window,
    const struct time_window_options *options, struct source *source,
    struct text partition, struct err *err);
/* The same of a window that the caller has filled in, all but its jobs. */
int time_window_fit(struct time_window *time_window, struct source *source,
    struct text partition, struct err *err);
void time_window_close(struct time_window *time_window);

/* For series_select; the metric is for the caller to fill in. */
struct series_query time_window_query(
    const struct time_window *time_window, int64_t step_ns);

#endif
