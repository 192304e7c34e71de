/*
 * pairing - which end belongs to which start.
 *
 * In the order of time, an end belongs to the nearest start before it that has
 * no end: a start that is followed by another start, and an end without a
 * start, are alone.  With `fifo` an end belongs to the oldest start before it
 * that has no end, so that spans may overlap.  Of events of one time, ends come
 * first while a start is open, otherwise starts: one span may end when the next
 * one starts, and a span may last no time at all.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_PAIRING_H
#define PROTO_RECORD_PAIRING_H

#include <stdbool.h>
#include <stdint.h>

#define PAIRING_ALONE UINT32_MAX

struct pairing {
	int64_t time_ns;
	uint32_t partner; /* result: an index, or PAIRING_ALONE */
	bool is_end;
};

/* The events are sorted by time; their order within one time decides nothing
 * but which of several equal starts, or ends, is taken. */
void pairing_find(struct pairing *at, uint32_t count, bool fifo);

#endif
