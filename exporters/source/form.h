/*
 * starts_form - the starts of a pool, from the required phases of its nodes.
 *
 * A node begins when the first required phase begins on it, and is ready at the
 * end of the last one: each ends for the first time before the node begins
 * again.  Nodes that begin with pauses of at most the gap belong to one start;
 * the pause is that since the last sign: the begin of a node of the start, or a
 * begin or end of its required phases until it was ready.  The order of arrival
 * does not matter.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_FORM_H
#define EXPORTERS_SOURCE_FORM_H

#include <stdint.h>

#define START_UNKNOWN INT64_MIN

/* A required phase on a node; a time that is not known is START_UNKNOWN. */
struct start_mark {
	int64_t begin_ns, end_ns;
	uint32_t node; /* number */
};

/* Those of one phase, in any order: they are sorted. */
struct start_marks {
	struct start_mark *at;
	uint32_t count, room;
};

struct start {
	int64_t begin_ns;      /* of its first node */
	int64_t last_begin_ns; /* of its last one */
	int64_t sign_ns;       /* the last sign of it */
	/* When its first and last node became ready for the first time. */
	int64_t first_ready_ns, last_ready_ns;
	uint32_t nodes, ready;
	uint32_t again; /* how often a node of it began once more */
};

/* Returns new starts in the order of time, and how many; `phases`: the required
 * ones of the model, in its order; `nodes`: above all numbers.  Of nodes that
 * begin at `to_ns` or later none is formed.  `ready_ns` (or NULL), by node:
 * when it became ready after its last begin; START_UNKNOWN: it is not;
 * START_NONE: it has not begun. */
#define START_NONE INT64_MAX
struct start *starts_form(struct start_marks *phases, uint32_t phase_count,
    uint32_t nodes, int64_t to_ns, int64_t gap_ns, uint32_t *count,
    int64_t *ready_ns);

#endif
