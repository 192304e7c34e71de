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
 * Records have no job label: what the nodes of a job did is found by joining
 * its intervals with the records.  One belongs to a job if it is of a node of
 * the job and its time lies in an interval of it there, [from_ns, to_ns): the
 * begin of a span or phase.  All that selects by job does it with this file.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_JOB_INTERVALS_H
#define EXPORTERS_SAMPLES_JOB_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/source/source.h"
#include "proto/config/opt.h"
#include "proto/hash/string_table.h"

/* Which jobs: all of whom both are right.  A user is attribute `user` of the
 * event that starts a job; a start that names none, as those of further nodes,
 * is of the user that another start of the job names. */
struct job_options {
	const char *job, *user; /* NULL: any */
	struct text node;       /* only on these nodes; empty: on all */
};

/* Two rows of a table of options, bound to a struct with a struct job_options.
 */
#define JOB_OPTIONS(type, member)                                              \
	{ "job", 0, OPT_TEXT, OPT_TO(type, member.job), "ID",                  \
		"select what belongs to this job: to its nodes, from its "     \
		"begin to its end there" },                                    \
	{                                                                      \
		"user", 0, OPT_TEXT, OPT_TO(type, member.user), "NAME",        \
		    "select what belongs to jobs of this user: attribute "     \
		    "user of their start"                                      \
	}

static inline bool
job_options_given(const struct job_options *options)
{
	return options->job != NULL || options->user != NULL;
}

enum { JOB_INTERVALS_BYTES_MAX = 256 << 20 };

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
	size_t texts_bytes;
	const struct job_options *options;
	struct string_table of_user; /* the jobs of which a start names it */
};

/* Read the intervals of these jobs.  -1 also when there are none of those that
 * the options name, or when they need more than JOB_INTERVALS_BYTES_MAX.  Clear
 * them in any case. */
int job_intervals_read(struct job_intervals *job_intervals,
    struct source *source, struct text partition,
    const struct job_options *options, struct err *err);
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
/* The same of the last of all jobs that run there. */
int64_t job_intervals_last_end(const struct job_intervals *job_intervals,
    struct text node, int64_t from_ns);

/* Did any of them run on the node between the two times? */
bool job_intervals_cover(const struct job_intervals *job_intervals,
    struct text node, int64_t from_ns, int64_t to_ns);
/* For how long? */
int64_t job_intervals_covered_ns(const struct job_intervals *job_intervals,
    struct text node, int64_t from_ns, int64_t to_ns);

/* Does the record belong to any of them?  A gap does if it overlaps an
 * interval; an entity, which has no time, if it is of a node of them. */
bool job_intervals_has(
    const struct job_intervals *job_intervals, const struct record *record);
/* From now on the source gives only records that do; NULL: all. */
void job_intervals_limit(
    const struct job_intervals *job_intervals, struct source *source);
/* The part of the window of the query in which there may be some. */
void job_intervals_narrow(
    const struct job_intervals *job_intervals, struct wire_query *query);

#endif
