/*
 * perf_read - read the reports of a pool: sums by node, or the list of a node.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PERF_READ_H
#define EXPORTERS_PERF_READ_H

#include "exporters/perf/node_summary.h"
#include "exporters/samples/job_intervals.h"
#include "exporters/source/source.h"
#include "proto/hash/string_table.h"

/* Which reports of which pool to read. */
struct perf_select {
	struct source *source;
	struct text partition;
	struct text node; /* pattern; empty: all */
	int64_t from_ns, to_ns;
	const struct job_intervals *
	    jobs; /* restrict to the nodes and times of these jobs; NULL: all */
};

struct perf_pool {
	struct string_table names;
	struct perf_node *nodes; /* indexed by node number */
	uint32_t *order;         /* node numbers, sorted by name */
	uint32_t room;
	bool numbered; /* every node name is a whole number */
};

/* Read all reports.  The result includes nodes without reports: the nodes of
 * the jobs, and nodes that an import declared.  The caller zeroes `pool` first
 * and clears it in any case. */
int perf_read(
    struct perf_pool *pool, const struct perf_select *select, struct err *err);
void perf_pool_clear(struct perf_pool *pool);

/* The number by which the older tool calls a node (its step): the name if all
 * names are numbers, otherwise the index in the sorted order. */
int64_t perf_step(const struct perf_pool *pool, uint32_t row);

/* Read every report of the node `node`, in order of time. */
int perf_read_node(const struct perf_select *select, struct text node,
    void (*on_report)(void *arg, const struct perf_report *report), void *arg,
    struct err *err);

#endif
