/*
 * job_intervals - the nodes and times on which jobs ran: intervals of phase
 * job:run.
 *
 * A job runs on a node from its first start until as many ends have come as
 * starts: tasks that overlap are one interval, which counts once.  An end
 * without a start is ignored.
 *
 * Of what has not ended by then, a start that no attribute distinguishes from
 * the one that runs is the same start reported again; and it ends with the last
 * sample before its node booted, which the counters of processors show.  A
 * start after that sample is one of after the boot if the next sample is
 * nearer.
 *
 * Samples have no job label: what the nodes of a job did is found by joining
 * its intervals with the samples.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_JOB_INTERVALS_H
#define EXPORTERS_SAMPLES_JOB_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/source/source.h"
#include "proto/hash/string_table.h"

struct job_interval {
	struct text node, job;
	int64_t from_ns, to_ns; /* to: TIME_MAX_NS: no end is known */
	int64_t reach_ns;       /* the latest end up to this one, on the node */
};

struct job_intervals {
	struct job_interval *at; /* sorted by node, from_ns; those of one job
				    on one node do not overlap */
	uint32_t count, room;
	int64_t from_ns, to_ns; /* the range of all intervals */
	struct string_table texts;
};

/* Read the intervals of all jobs, or of one.  -1 also when that job does not
 * exist. */
int job_intervals_read(struct job_intervals *job_intervals,
    struct source *source, struct text partition, const char *job,
    struct err *err);
void job_intervals_clear(struct job_intervals *job_intervals);

/* The next interval of the node that overlaps [from_ns, to_ns), the latest
 * first; NULL: there is none.  `place` is UINT32_MAX before the first call. */
const struct job_interval *job_intervals_next(
    const struct job_intervals *job_intervals, struct text node,
    int64_t from_ns, int64_t to_ns, uint32_t *place);

/* When the job that runs on the node at this time ends there: TIME_MAX_NS if
 * that is not known, the time itself if it does not run. */
int64_t job_intervals_end(const struct job_intervals *job_intervals,
    struct text node, struct text job, int64_t from_ns);

/* Did any of them run on the node between the two times? */
bool job_intervals_cover(const struct job_intervals *job_intervals,
    struct text node, int64_t from_ns, int64_t to_ns);

#endif
