/*
 * job_intervals - where and when jobs ran: the intervals of phase job:run.
 *
 * A job is no label on samples: what a job's nodes did is read by joining its
 * intervals with them.
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
	int64_t from_ns, to_ns; /* to: TIME_MAX_NS when it has not ended */
};

struct job_intervals {
	struct job_interval *at; /* by node, from_ns */
	uint32_t count, room;
	int64_t from_ns, to_ns; /* of all of them */
	struct string_table texts;
};

/* All jobs, or one.  -1 also when the one is not there; what lacks its start
 * is passed over. */
int job_intervals_read(struct job_intervals *job_intervals,
    struct source *source, struct text partition, const char *job,
    struct err *err);
void job_intervals_clear(struct job_intervals *job_intervals);

/* The intervals of a node: the first, and how many. */
const struct job_interval *job_intervals_of(
    const struct job_intervals *job_intervals, struct text node,
    uint32_t *count);

/* Was one of them at work on the node between the two times? */
bool job_intervals_cover(const struct job_intervals *job_intervals,
    struct text node, int64_t from_ns, int64_t to_ns);

#endif
