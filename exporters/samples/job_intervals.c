/*
 * job_intervals - where and when jobs ran.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/job_intervals.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/array.h"
#include "proto/os/clock.h"

enum { JOB_INTERVALS_MAX = 1 << 20 };

static int
by_node(const void *left, const void *right)
{
	const struct job_interval *a = left, *b = right;
	int order = text_compare(a->node, b->node);

	if (order != 0)
		return order;
	if (a->from_ns != b->from_ns)
		return a->from_ns < b->from_ns ? -1 : 1;
	return text_compare(a->job, b->job);
}

static void
take(struct jobs *jobs, const struct record *record)
{
	struct job_interval *interval;

	jobs->at = grow(jobs->at, &jobs->room, jobs->count, sizeof(*jobs->at));
	interval = &jobs->at[jobs->count++];
	*interval =
	    (struct job_interval){ intern_text(&jobs->texts, record->node),
		    intern_text(&jobs->texts, record->key), record->time_ns,
		    record->has_end ? record->end_ns : TIME_MAX_NS };
	if (interval->from_ns < jobs->from_ns)
		jobs->from_ns = interval->from_ns;
	if (interval->to_ns > jobs->to_ns)
		jobs->to_ns = interval->to_ns;
}

int
jobs_read(struct jobs *jobs, struct source *source, struct text partition,
    const char *job, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_PHASE);
	struct record record;
	int rc;

	*jobs = (struct jobs){ .from_ns = TIME_MAX_NS, .to_ns = TIME_MIN_NS };
	intern_init(&jobs->texts);
	query.name = text_of("job:run");
	if (source_select(source, SOURCE_RECORDS, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0) {
		if (!record.has_time ||
		    (job != NULL && !text_equal(record.key, text_of(job))))
			continue;
		if (jobs->count == JOB_INTERVALS_MAX)
			return err_set(err,
			    "more than %d jobs and nodes: name one with --job",
			    JOB_INTERVALS_MAX);
		take(jobs, &record);
	}
	if (rc == 0 && job != NULL && jobs->count == 0)
		return err_set(err, "no job '%.64s' in partition %.*s", job,
		    (int)partition.bytes, partition.at);
	if (jobs->count > 1)
		qsort(jobs->at, jobs->count, sizeof(*jobs->at), by_node);
	return rc;
}

void
jobs_clear(struct jobs *jobs)
{
	free(jobs->at);
	intern_clear(&jobs->texts);
	memset(jobs, 0, sizeof(*jobs));
}

const struct job_interval *
jobs_of(const struct jobs *jobs, struct text node, uint32_t *count)
{
	uint32_t low = 0, high = jobs->count, end;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (text_compare(jobs->at[middle].node, node) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < jobs->count; end++)
		if (!text_equal(jobs->at[end].node, node))
			break;
	*count = end - low;
	return *count > 0 ? &jobs->at[low] : NULL;
}

bool
jobs_cover(
    const struct jobs *jobs, struct text node, int64_t from_ns, int64_t to_ns)
{
	uint32_t count;
	const struct job_interval *at = jobs_of(jobs, node, &count);

	for (; count > 0; count--, at++)
		if (at->from_ns < to_ns && at->to_ns > from_ns)
			return true;
	return false;
}
