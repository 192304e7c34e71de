/*
 * size_limit - choose the part of a timeline that fits a size.
 *
 * A pass without output counts the bytes of each node and of each section of
 * a time.  Of the nodes as many fit as possible, in a given order; of one node
 * that is too large the beginning of its time.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_SIZE_LIMIT_H
#define EXPORTERS_TRACE_SIZE_LIMIT_H

#include <stdint.h>

#include "proto/hash/string_table.h"

enum { SIZE_LIMIT_SECTIONS = 4096 };

struct size_limit {
	int64_t from_ns, to_ns;
	uint64_t bytes[SIZE_LIMIT_SECTIONS]; /* bytes of the records that begin
						 in each section */
	struct string_table nodes;
	uint64_t *node_bytes; /* by the number of the node, names included */
	uint32_t node_room;
};

/* Begin to count; the sections divide the time from `from_ns` to `to_ns`. */
void size_limit_init(struct size_limit *limit, int64_t from_ns, int64_t to_ns);
void size_limit_clear(struct size_limit *limit);
void size_limit_add(struct size_limit *limit, int64_t time_ns, struct text node,
    uint64_t bytes);
/* Bytes of names: they belong to the node, whatever its time. */
void size_limit_add_name(
    struct size_limit *limit, struct text node, uint64_t bytes);

/* The nodes of `order` that fit: each one that still does, after those before
 * it.  Adds them to `fit`.  `total` is the number of all bytes; those that
 * were not added belong to every trace. */
void size_limit_nodes(const struct size_limit *limit,
    const struct string_table *order, uint64_t total, uint64_t max,
    struct string_table *fit);
/* The end of the time that fits: before the end of the sections and after
 * their start.  If not even the first section fits, the end of that section. */
int64_t size_limit_time(
    const struct size_limit *limit, uint64_t total, uint64_t max);

#endif
