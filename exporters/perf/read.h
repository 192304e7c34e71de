/*
 * perf_read - the reports of a pool: sums by node, or one node's list.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PERF_READ_H
#define EXPORTERS_PERF_READ_H

#include "exporters/perf/node_summary.h"
#include "exporters/samples/job_intervals.h"
#include "exporters/source/source.h"
#include "proto/hash/string_table.h"

/* What is wanted of which pool. */
struct perf_select {
	struct source *source;
	struct text partition;
	struct text node; /* pattern; empty: all */
	int64_t from_ns, to_ns;
	const struct job_intervals
	    *jobs; /* only where and while they ran; NULL: all */
};

struct perf_pool {
	struct string_table names;
	struct perf_node *nodes; /* by number */
	uint32_t *order;         /* numbers, sorted by name */
	uint32_t room;
	bool numbered; /* every name is a whole number */
};

/* Read them all.  Nodes without a report are there too: those of the jobs, or
 * when whoever imported them said so.  Zeroed by the caller; clear it in any
 * case. */
int perf_read(
    struct perf_pool *pool, const struct perf_select *select, struct err *err);
void perf_pool_clear(struct perf_pool *pool);

/* The number that the older tool calls a node by, its step: the name where
 * all are numbers, else its place in the order. */
int64_t perf_step(const struct perf_pool *pool, uint32_t place);

/* Every report of the node called `node`, in the order of their time. */
int perf_read_node(const struct perf_select *select, struct text node,
    void (*on_report)(void *arg, const struct perf_report *report), void *arg,
    struct err *err);

#endif
