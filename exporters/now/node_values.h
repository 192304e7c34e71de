/*
 * node_values - the last values of a few metrics of each node.
 *
 * Of a counter it is the rate between its last two samples.  Only samples of
 * the last NODE_VALUES_NS count, by the clock of the node: a node that is not
 * heard has no values.
 *
 * Memory: 100 bytes for each node, while they are read 300 more.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_NOW_NODE_VALUES_H
#define EXPORTERS_NOW_NODE_VALUES_H

#include <stdint.h>

#include "exporters/source/source.h"
#include "proto/hash/string_table.h"

#define NODE_VALUES_NS (120 * INT64_C(1000000000))

/* NaN: unknown. */
struct node_values_of {
	float cpu;      /* fraction of all processors that did something */
	float iowait;   /* fraction that waited for a disk */
	float receive;  /* bytes a second, of all interfaces */
	float pressure; /* fraction of time in which a task waited for a disk */
};

struct node_values {
	struct string_table nodes;
	struct node_values_of *at; /* by the number of the node */
	uint32_t room;
};

/* Read them as of `now_ns`.  The clock of the source is CLOCK_RAW meanwhile.
 * Clear it in any case. */
int node_values_read(struct node_values *values, struct source *source,
    struct text partition, int64_t now_ns, struct err *err);
void node_values_init(struct node_values *values);
void node_values_clear(struct node_values *values);

/* All are unknown of a node without samples. */
struct node_values_of node_values_find(
    const struct node_values *values, struct text node);

#endif
