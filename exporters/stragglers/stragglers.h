/*
 * stragglers - the nodes that were slow in a start, how many seconds that cost,
 * and why.
 *
 * Who: who.h.  Why: why.h, from the samples of the node and of its peers, each
 * in its own time of the same phase.  There is no other definition of a slow
 * node or of its cause.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STRAGGLERS_STRAGGLERS_H
#define EXPORTERS_STRAGGLERS_STRAGGLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/phases/timeline.h"
#include "exporters/stragglers/straggler.h"

struct stragglers_query {
	struct text partition;
	const char *model;      /* NULL: the first one that has phases */
	int64_t from_ns, to_ns; /* in which the phases begin */
	int64_t start_ns;       /* the begin of the start; STRAGGLER_NO_NS: the
				   time is not that of one */
	uint32_t needed;        /* nodes that make it ready; 0: all */
	struct straggler_bounds bounds;
	bool without_causes; /* who, but not why: no samples are read */
};

struct stragglers {
	struct straggler *at; /* by drag, then by what they lost, most first */
	uint32_t count, room;
	uint32_t nodes;         /* that were looked at */
	uint64_t not_judged;    /* phases with too few to compare with */
	uint64_t not_explained; /* stragglers beyond STRAGGLERS_EXPLAINED */
	bool has_words;         /* does the model say what waits for what? */
	struct phases_timeline timeline;
	struct string_table texts; /* of the clauses */
};
enum { STRAGGLERS_EXPLAINED = 100 };

/* Clear it in any case. */
int stragglers_read(struct stragglers *stragglers, struct source *source,
    const struct stragglers_query *query, struct err *err);
void stragglers_clear(struct stragglers *stragglers);

#endif
