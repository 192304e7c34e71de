/*
 * node_usage - what the nodes of a partition used in the last minutes.
 *
 * Of a gauge its last value, of a counter its mean rate in the window; a node
 * that has no sample in it has none of them.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_NOW_NODE_USAGE_H
#define EXPORTERS_NOW_NODE_USAGE_H

#include "exporters/source/source.h"
#include "proto/hash/string_table.h"

enum node_usage_number {
	/* Shares: of the processors those that were not idle, and that waited
	 * for I/O; of the time that in which a process waited for a processor,
	 * for memory, for I/O. */
	USAGE_CPU,
	USAGE_IOWAIT,
	USAGE_CPU_PRESSURE,
	USAGE_MEMORY_PRESSURE,
	USAGE_IO_PRESSURE,
	USAGE_LOAD, /* threads, mean of a minute */
	/* Bytes. */
	USAGE_MEMORY_LIMIT,
	USAGE_MEMORY_USED,
	USAGE_MEMORY_AVAILABLE,
	USAGE_PAGING_USED,
	USAGE_NUMBERS
};

/* The window. */
#define NODE_USAGE_NS (300 * INT64_C(1000000000))

struct node_usage {
	double numbers[USAGE_NUMBERS]; /* NaN: unknown */
};

struct node_usages {
	struct string_table nodes;
	struct node_usage *at; /* by number of the node */
	uint32_t room;
};

/* Read them as of `now_ns`.  Clear it in any case. */
int node_usage_read(struct node_usages *usages, struct source *source,
    struct text partition, int64_t now_ns, struct err *err);
void node_usage_clear(struct node_usages *usages);

/* NULL: the node has none. */
const struct node_usage *node_usage_of(
    const struct node_usages *usages, struct text node);

#endif
