/*
 * job_intervals - the nodes and times on which jobs ran.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/job_intervals.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"

enum { JOB_EDGES_MAX = 2 << 20 };

/* A job started or ended on a node. */
struct edge {
	struct text node, job;
	int64_t time_ns;
	bool end;
};

struct edges {
	struct edge *at;
	uint32_t count, room;
};

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

/* A start before an end of the same time. */
static int
by_job(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;
	int order = text_compare(a->node, b->node);

	if (order == 0)
		order = text_compare(a->job, b->job);
	if (order != 0)
		return order;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->end - b->end;
}

static void
add_edge(struct edges *edges, struct job_intervals *job_intervals,
    const struct record *record, int64_t time_ns, bool end)
{
	edges->at = memory_grow(
	    edges->at, &edges->room, edges->count, sizeof(*edges->at));
	edges->at[edges->count++] = (struct edge){
		string_table_text(&job_intervals->texts, record->node),
		string_table_text(&job_intervals->texts, record->key), time_ns,
		end
	};
}

static void
add_interval(
    struct job_intervals *job_intervals, const struct edge *edge, int64_t to_ns)
{
	job_intervals->at = memory_grow(job_intervals->at, &job_intervals->room,
	    job_intervals->count, sizeof(*job_intervals->at));
	job_intervals->at[job_intervals->count++] =
	    (struct job_interval){ edge->node, edge->job, edge->time_ns, to_ns,
		    0 };
	if (edge->time_ns < job_intervals->from_ns)
		job_intervals->from_ns = edge->time_ns;
	if (to_ns > job_intervals->to_ns)
		job_intervals->to_ns = to_ns;
}

/* The edges of one job on one node: it runs from the first start until as many
 * ends have come as starts, whichever of them are a pair. */
static void
add_job(struct job_intervals *job_intervals, const struct edge *edge,
    uint32_t count)
{
	const struct edge *first = NULL;
	uint32_t running = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!edge[i].end && running++ == 0)
			first = &edge[i];
		else if (edge[i].end && running > 0 && --running == 0)
			add_interval(job_intervals, first, edge[i].time_ns);
	}
	if (running > 0)
		add_interval(job_intervals, first, TIME_MAX_NS);
}

static void
add_jobs(struct job_intervals *job_intervals, struct edges *edges)
{
	struct edge *at = edges->at;
	uint32_t first = 0;

	if (edges->count > 1)
		qsort(at, edges->count, sizeof(*at), by_job);
	for (uint32_t i = 1; i <= edges->count; i++)
		if (i == edges->count ||
		    !text_equal(at[i].node, at[first].node) ||
		    !text_equal(at[i].job, at[first].job)) {
			add_job(job_intervals, &at[first], i - first);
			first = i;
		}
}

static void
finish(struct job_intervals *job_intervals)
{
	struct job_interval *at = job_intervals->at;

	if (job_intervals->count > 1)
		qsort(at, job_intervals->count, sizeof(*at), by_node);
	for (uint32_t i = 0; i < job_intervals->count; i++) {
		at[i].reach_ns = at[i].to_ns;
		if (i > 0 && text_equal(at[i].node, at[i - 1].node) &&
		    at[i].reach_ns < at[i - 1].reach_ns)
			at[i].reach_ns = at[i - 1].reach_ns;
	}
}

static int
read_edges(struct job_intervals *job_intervals, struct edges *edges,
    struct source *source, struct text partition, const char *job,
    struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_PHASE);
	struct record record;
	int rc;

	query.name = text_of("job:run");
	if (source_select(source, SOURCE_RECORDS, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0) {
		if (job != NULL && !text_equal(record.key, text_of(job)))
			continue;
		if (edges->count + 2 > JOB_EDGES_MAX)
			return err_set(err,
			    "more than %d job intervals: name one job with "
			    "--job",
			    JOB_EDGES_MAX / 2);
		if (record.has_time)
			add_edge(edges, job_intervals, &record, record.time_ns,
			    false);
		if (record.has_end)
			add_edge(
			    edges, job_intervals, &record, record.end_ns, true);
	}
	return rc;
}

int
job_intervals_read(struct job_intervals *job_intervals, struct source *source,
    struct text partition, const char *job, struct err *err)
{
	struct edges edges = { .at = NULL };
	int rc;

	*job_intervals = (struct job_intervals){ .from_ns = TIME_MAX_NS,
		.to_ns = TIME_MIN_NS };
	string_table_init(&job_intervals->texts);
	rc = read_edges(job_intervals, &edges, source, partition, job, err);
	add_jobs(job_intervals, &edges);
	free(edges.at);
	if (rc == 0 && job != NULL && job_intervals->count == 0)
		return err_set(err, "no job '%.64s' in partition %.*s", job,
		    (int)partition.bytes, partition.at);
	finish(job_intervals);
	return rc;
}

void
job_intervals_clear(struct job_intervals *job_intervals)
{
	free(job_intervals->at);
	string_table_clear(&job_intervals->texts);
	memset(job_intervals, 0, sizeof(*job_intervals));
}

/* The number of intervals of nodes before `node`, and of those of `node` that
 * begin before `to_ns`. */
static uint32_t
count_before(
    const struct job_intervals *job_intervals, struct text node, int64_t to_ns)
{
	uint32_t low = 0, high = job_intervals->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct job_interval *at = &job_intervals->at[middle];
		int order = text_compare(at->node, node);

		if (order < 0 || (order == 0 && at->from_ns < to_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct job_interval *
job_intervals_next(const struct job_intervals *job_intervals, struct text node,
    int64_t from_ns, int64_t to_ns, uint32_t *place)
{
	if (*place == UINT32_MAX)
		*place = count_before(job_intervals, node, to_ns);
	while (*place > 0) {
		const struct job_interval *at = &job_intervals->at[--*place];

		if (!text_equal(at->node, node) || at->reach_ns <= from_ns)
			break;
		if (at->to_ns > from_ns)
			return at;
	}
	return NULL;
}

bool
job_intervals_cover(const struct job_intervals *job_intervals, struct text node,
    int64_t from_ns, int64_t to_ns)
{
	uint32_t place = UINT32_MAX;

	return job_intervals_next(
		   job_intervals, node, from_ns, to_ns, &place) != NULL;
}
