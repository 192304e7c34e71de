/*
 * job_intervals - the nodes and times on which jobs ran.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/job_intervals.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
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
take(struct job_intervals *job_intervals, const struct record *record)
{
	struct job_interval *interval;

	job_intervals->at = memory_grow(job_intervals->at, &job_intervals->room,
	    job_intervals->count, sizeof(*job_intervals->at));
	interval = &job_intervals->at[job_intervals->count++];
	*interval = (struct job_interval){
		string_table_text(&job_intervals->texts, record->node),
		string_table_text(&job_intervals->texts, record->key),
		record->time_ns, record->has_end ? record->end_ns : TIME_MAX_NS
	};
	if (interval->from_ns < job_intervals->from_ns)
		job_intervals->from_ns = interval->from_ns;
	if (interval->to_ns > job_intervals->to_ns)
		job_intervals->to_ns = interval->to_ns;
}

int
job_intervals_read(struct job_intervals *job_intervals, struct source *source,
    struct text partition, const char *job, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_PHASE);
	struct record record;
	int rc;

	*job_intervals = (struct job_intervals){ .from_ns = TIME_MAX_NS,
		.to_ns = TIME_MIN_NS };
	string_table_init(&job_intervals->texts);
	query.name = text_of("job:run");
	if (source_select(source, SOURCE_RECORDS, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0) {
		if (!record.has_time ||
		    (job != NULL && !text_equal(record.key, text_of(job))))
			continue;
		if (job_intervals->count == JOB_INTERVALS_MAX)
			return err_set(err,
			    "more than %d job intervals: name one job with "
			    "--job",
			    JOB_INTERVALS_MAX);
		take(job_intervals, &record);
	}
	if (rc == 0 && job != NULL && job_intervals->count == 0)
		return err_set(err, "no job '%.64s' in partition %.*s", job,
		    (int)partition.bytes, partition.at);
	if (job_intervals->count > 1)
		qsort(job_intervals->at, job_intervals->count,
		    sizeof(*job_intervals->at), by_node);
	return rc;
}

void
job_intervals_clear(struct job_intervals *job_intervals)
{
	free(job_intervals->at);
	string_table_clear(&job_intervals->texts);
	memset(job_intervals, 0, sizeof(*job_intervals));
}

const struct job_interval *
job_intervals_of(const struct job_intervals *job_intervals, struct text node,
    uint32_t *count)
{
	uint32_t low = 0, high = job_intervals->count, end;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (text_compare(job_intervals->at[middle].node, node) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < job_intervals->count; end++)
		if (!text_equal(job_intervals->at[end].node, node))
			break;
	*count = end - low;
	return *count > 0 ? &job_intervals->at[low] : NULL;
}

bool
job_intervals_cover(const struct job_intervals *job_intervals, struct text node,
    int64_t from_ns, int64_t to_ns)
{
	uint32_t count;
	const struct job_interval *at =
	    job_intervals_of(job_intervals, node, &count);

	for (; count > 0; count--, at++)
		if (at->from_ns < to_ns && at->to_ns > from_ns)
			return true;
	return false;
}
