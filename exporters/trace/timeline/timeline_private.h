/*
 * timeline_private - shared by the parts of a timeline.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_TIMELINE_TIMELINE_PRIVATE_H
#define EXPORTERS_TRACE_TIMELINE_TIMELINE_PRIVATE_H

#include "exporters/samples/time_window.h"
#include "exporters/trace/format/trace_writer.h"
#include "exporters/trace/timeline/interval_sort.h"
#include "exporters/trace/timeline/size_limit.h"
#include "exporters/trace/timeline/tracks.h"
#include "exporters/trace/trace.h"
#include "proto/config/opt.h"
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
	    jobs;       /* when jobs ended whose end was not reported */
	int64_t cut_ns; /* intervals are cut here */
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

/* Choose the nodes with the longest phases, or, if there are no phases, with
 * the longest spans; at most `count`. */
int timeline_choose_worst(
    struct timeline *timeline, uint64_t count, struct err *err);

/* Write all records once to the stream; `bytes`: before compression. */
int timeline_write_pass(struct timeline *timeline,
    const struct trace_request *request, struct byte_stream *byte_stream,
    uint64_t *bytes, struct err *err);
/* For --max-size: leave out nodes, then time, until the rest fits; sets
 * `warning` to what is left out (empty: nothing). */
enum { TIMELINE_WARNING_BYTES = 4 * NAME_BYTES_MAX };
int timeline_make_fit(struct timeline *timeline,
    const struct trace_request *request,
    char warning[static TIMELINE_WARNING_BYTES], struct err *err);

void timeline_note(struct wire_writer *w, const char *what);
/* An interval that ends before it begins gets length 0 and a mark. */
void timeline_straighten(struct interval_sort_item *item);
/* Cut the interval to the time of the trace and add it to the buffer. */
void timeline_collect(const struct timeline *timeline,
    struct interval_sort *interval_sort, const struct interval_sort_item *item);
/* Write the intervals of the buffer, and empty it. */
void timeline_flush(
    struct timeline *timeline, struct interval_sort *interval_sort);
void timeline_point(
    struct timeline *timeline, const struct interval_sort_item *item);
enum { TIMELINE_POINT = 1, TIMELINE_BACKWARDS = 2 }; /* flags of intervals */

/* Count the bytes written since trace_writer_bytes was `before` for this node
 * and time. */
void timeline_account(struct timeline *timeline, struct text node,
    int64_t time_ns, uint64_t before);

/* Progress: start with what is read and how many records there are, one step,
 * and the end.  timeline_count queries the number of spans and events. */
int timeline_count(struct timeline *timeline, struct err *err);
void timeline_shows(
    struct timeline *timeline, const char *what, uint64_t total);
void timeline_shows_step(struct timeline *timeline, uint64_t done);
void timeline_shows_nothing(struct timeline *timeline);

int timeline_phases(struct timeline *timeline, struct err *err);
int timeline_spans(struct timeline *timeline, struct err *err);
int timeline_events(struct timeline *timeline, struct err *err);
int timeline_samples(struct timeline *timeline, struct err *err);

#endif
