/*
 * coverage - which numbers of a stream are accounted for, as intervals.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SPOOL_VIEW_COVERAGE_H
#define AGENTS_SPOOL_VIEW_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

enum { COVERAGE_INTERVALS_MAX = 65536 };

/* Initialize with zeros. */
struct coverage {
	struct coverage_interval {
		uint64_t first, last;
	} * at; /* sorted, with a number between each two */
	uint32_t count, room;
};

/* Add first .. last (last >= first).  False: there are too many intervals. */
bool coverage_add(struct coverage *coverage, uint64_t first, uint64_t last);

/* The first interval of numbers from `from` up to `to` that are not covered;
 * false: there is none. */
bool coverage_next_hole(const struct coverage *coverage, uint64_t from,
    uint64_t to, struct coverage_interval *hole);

void coverage_clear(struct coverage *coverage);

#endif
