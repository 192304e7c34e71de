/*
 * job_intervals - the nodes and times on which jobs ran: intervals of phase
 * job:run.
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
	int64_t from_ns, to_ns; /* to: TIME_MAX_NS when it has not ended */
};

struct job_intervals {
	struct job_interval *at; /* sorted by node, from_ns */
	uint32_t count, room;
	int64_t from_ns, to_ns; /* the range of all intervals */
	struct string_table texts;
};

/* Read the intervals of all jobs, or of one.  -1 also when that job does not
 * exist; intervals without a start are ignored. */
int job_intervals_read(struct job_intervals *job_intervals,
    struct source *source, struct text partition, const char *job,
    struct err *err);
void job_intervals_clear(struct job_intervals *job_intervals);

/* The intervals of a node: returns the first, and their number. */
const struct job_interval *job_intervals_of(
    const struct job_intervals *job_intervals, struct text node,
    uint32_t *count);

/* Did any of them run on the node between the two times? */
bool job_intervals_cover(const struct job_intervals *job_intervals,
    struct text node, int64_t from_ns, int64_t to_ns);

#endif
