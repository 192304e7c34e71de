/*
 * timeline_records - the records of a timeline: phases with jobs, spans, events
 * and samples, each kind in one pass.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_TIMELINE_RECORDS_H
#define EXPORTERS_TRACE_TIMELINE_RECORDS_H

#include "exporters/samples/time_window.h"
#include "exporters/trace/trace_writer.h"
#include "exporters/trace/tracks.h"
#include "proto/os/progress.h"

struct timeline {
	struct source *source;
	struct text partition;
	const struct opt_list *metrics; /* patterns; none: all */
	uint32_t kind_bits;             /* bits of enum record_kind */
	struct time_window time_window;
	int64_t from_ns; /* time 0 of the trace */
	int64_t end_ns;  /* end of intervals without an end */
	struct job_intervals
	    jobs;          /* when jobs ended whose end was not reported */
	int64_t cut_ns;    /* intervals are cut here */
	bool without_path; /* the critical path does not fit --max-size */
	int64_t gap_ns;    /* between two starts, as in starts_query */
	/* For --nodes and --max-size: the nodes that are drawn, the worst one
	 * first. */
	bool chosen_only;
	struct string_table chosen;
	uint32_t nodes; /* number of nodes they were chosen from */

	struct tracks tracks;
	struct trace_writer sink;
	struct size_limit *limit; /* NULL: bytes are not counted */
	uint64_t written;         /* intervals, points, values */
	uint64_t crowded;         /* left out: no lane was free */
	uint64_t rowless;         /* left out: too many tracks */

	bool has_terminal, has_shown;
	const char *what; /* being read, for the progress bar */
	struct progress progress;
	uint64_t spans, events; /* records in the partition */
};

/* Query the records of one kind from `from_ns` to the end of the window. */
int timeline_select(struct timeline *timeline, enum record_kind kind,
    int64_t from_ns, struct err *err);
/* Is the record part of the trace? */
bool timeline_wants(const struct timeline *timeline, struct text node,
    int64_t begin_ns, int64_t end_ns);

bool timeline_is_job(const struct record *phase);
/* The phases whose unmatched events their model ignores, and the number of
 * all pairs. */
int timeline_read_ignored(struct timeline *t, struct string_table *ignored,
    uint64_t *count, struct err *err);
/* Is it an unmatched event of such a phase? */
bool timeline_is_ignored(
    const struct string_table *ignored, const struct record *record);

/* Progress: start with what is read and how many records there are, one step,
 * and the end.  timeline_count queries the number of spans and events. */
int timeline_count(struct timeline *timeline, struct err *err);
void timeline_shows_nothing(struct timeline *timeline);

int timeline_path(struct timeline *timeline, struct err *err);
int timeline_phases(struct timeline *timeline, struct err *err);
int timeline_spans(struct timeline *timeline, struct err *err);
int timeline_events(struct timeline *timeline, struct err *err);
int timeline_samples(struct timeline *timeline, struct err *err);

#endif
