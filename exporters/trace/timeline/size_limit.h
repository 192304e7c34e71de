/*
 * size_limit - choose the part of a timeline that fits a size.
 *
 * A pass without output counts the bytes of each section of the time and, with
 * chosen nodes, of each node.  The beginning of the time stays in the trace;
 * with chosen nodes, the whole time of as many of the first nodes as fit.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_TIMELINE_SIZE_LIMIT_H
#define EXPORTERS_TRACE_TIMELINE_SIZE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

enum { SIZE_LIMIT_SECTIONS = 4096 };

struct size_limit {
	int64_t from_ns, to_ns;
	uint64_t bytes[SIZE_LIMIT_SECTIONS]; /* bytes of the records that begin
						 in each section */
	uint64_t *rank_bytes;                /* bytes of each chosen node */
	uint32_t ranks;
};

void size_limit_init(
    struct size_limit *limit, int64_t from_ns, int64_t to_ns, uint32_t ranks);
void size_limit_clear(struct size_limit *limit);
/* `rank` is the rank of a chosen node. */
void size_limit_add(
    struct size_limit *limit, int64_t time_ns, uint32_t rank, uint64_t bytes);

/* How many of the first ranks fit.  `total` is the number of all bytes; those
 * that were not added belong to every trace.  0: not one fits. */
uint32_t size_limit_ranks(
    const struct size_limit *limit, uint64_t total, uint64_t max);
/* The end of the time that fits: before the end of the timeline and after its
 * start.  If not even the first section fits, the end of that section. */
int64_t size_limit_time(
    const struct size_limit *limit, uint64_t total, uint64_t max);

#endif
