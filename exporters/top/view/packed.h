/*
 * top_packed - the rows of nodes of a moment that is over, in half the memory.
 *
 * Numbers keep ten binary digits, the offsets of clocks all; what is the same
 * of all nodes is there once.  A row can be read without the others.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TOP_VIEW_PACKED_H
#define EXPORTERS_TOP_VIEW_PACKED_H

#include <stddef.h>
#include <stdint.h>

#define TOP_NO_PHASE UINT32_MAX

/* Times in seconds before the snapshot; NaN: unknown. */
struct top_node {
	float age, received, spool, clock;
	float cpu, iowait, receive, pressure;
	/* phase_usual: of one that is open for longer than usual. */
	float phase_age, phase_usual;
	uint32_t phase;               /* number of its label, or TOP_NO_PHASE */
	uint8_t condition, attention; /* bits, of nodes/attention.h */
};

struct top_packed; /* opaque */

/* Free it with free(3). */
struct top_packed *top_packed_new(const struct top_node *nodes, uint32_t count);
struct top_node top_packed_at(const struct top_packed *packed, uint32_t row);
size_t top_packed_bytes(const struct top_packed *packed);

#endif
