/*
 * size_limit - what of a timeline fits so many bytes.
 *
 * A pass that writes nowhere counts the bytes of each stretch of time and, of
 * chosen nodes, of each node.  What is kept is the beginning of the time; of
 * chosen nodes all of the time of the first of them, as many as fit.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_TIMELINE_SIZE_LIMIT_H
#define EXPORTERS_TRACE_TIMELINE_SIZE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

enum { SIZE_LIMIT_STRETCHES = 4096 };

struct size_limit {
	int64_t from_ns, to_ns;
	uint64_t bytes[SIZE_LIMIT_STRETCHES]; /* of what begins in each */
	uint64_t *rank_bytes;                 /* of chosen nodes */
	uint32_t ranks;
};

void size_limit_init(
    struct size_limit *limit, int64_t from_ns, int64_t to_ns, uint32_t ranks);
void size_limit_clear(struct size_limit *limit);
/* `rank` is that of a chosen node. */
void size_limit_add(
    struct size_limit *limit, int64_t time_ns, uint32_t rank, uint64_t bytes);

/* How many of the first ranks fit, of `total` bytes in all, of which what was
 * not added belongs to every trace; 0: not one. */
uint32_t size_limit_ranks(
    const struct size_limit *limit, uint64_t total, uint64_t max);
/* Up to when the time fits; less than all of it, and more than nothing.  When
 * not even the first stretch fits, its end. */
int64_t size_limit_time(
    const struct size_limit *limit, uint64_t total, uint64_t max);

#endif
