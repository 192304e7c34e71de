/*
 * time_window - which nodes, which time, which job: the options that pictures
 * and tables made of samples share. SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_TIME_WINDOW_H
#define EXPORTERS_SAMPLES_TIME_WINDOW_H

#include "exporters/samples/job_intervals.h"
#include "exporters/samples/series.h"
#include "proto/config/opt.h"

/* --node, --job, --from, --to, --step. */
extern const struct opt time_window_options[];

struct time_window {
	struct text node;
	const char *job;                    /* NULL: whatever ran */
	struct job_intervals job_intervals; /* with a job: its intervals */
	int64_t from_ns, to_ns;
	int64_t step_ns; /* 0: not said */
};

/* What was given, for what needs no samples: TIME_MIN_NS and TIME_MAX_NS where
 * no time was. */
struct text time_window_node(void);
const char *time_window_job(void); /* NULL: none */
void time_window_times(int64_t *from_ns, int64_t *to_ns);

/* What the options say; times that they do not are those of the job, or of
 * what the partition has.  -1 also when that leaves nothing. */
int time_window_open(struct time_window *time_window, struct source *source,
    struct text partition, struct err *err);
/* The same of a window that the caller has filled in, all but its jobs. */
int time_window_fit(struct time_window *time_window, struct source *source,
    struct text partition, struct err *err);
void time_window_close(struct time_window *time_window);

/* For series_select; the metric is for the caller to fill in. */
struct series_query time_window_query(
    const struct time_window *time_window, int64_t step_ns);

#endif
