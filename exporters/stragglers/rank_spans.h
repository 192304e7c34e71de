/*
 * stragglers_rank_spans - the ranks of a parallel job from its spans: who comes
 * last to the collectives (ranks.h), and why its node is slow (why.h).
 *
 * A rank is what attribute `rank` of its spans says, else their track, on a
 * node.  It arrives when its work span ends; the wait span that follows ends
 * with the collective.  The steps of the ranks are matched by attribute `step`
 * if each work span has it, else by time: a work span whose middle lies behind
 * the end of a wait of a step is of the next step, as long as clocks are off by
 * less than half a step.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STRAGGLERS_RANK_SPANS_H
#define EXPORTERS_STRAGGLERS_RANK_SPANS_H

#include <stdbool.h>

#include "exporters/source/source.h"
#include "exporters/stragglers/ranks.h"
#include "exporters/stragglers/straggler.h"
#include "proto/hash/string_table.h"

struct rank_spans_query {
	struct wire_query spans; /* the window, and the nodes */
	struct text partition;
	const char *work, *wait; /* patterns of names */
	int64_t error_ns; /* of clocks without an estimate; 0: not known */
};

struct rank_spans {
	struct ranks ranks;
	struct string_table nodes; /* by the number of ranks_rank.node */
	struct string_table names; /* of ranks: the node, a newline, the rank */
	struct straggler *at;      /* the late ranks, in the order of `ranks` */
	uint32_t count;
	bool by_step;       /* matched by the attribute */
	uint64_t no_wait;   /* work spans without a wait */
	uint32_t no_clocks; /* nodes whose clock is not known */
	struct string_table texts;
};

/* What a rank is called on its node. */
struct text rank_spans_name(const struct rank_spans *of, uint32_t rank);

/* Clear it in any case.  -1 also where there are no such spans. */
int rank_spans_read(struct rank_spans *to, struct source *source,
    const struct rank_spans_query *query, struct err *err);
void rank_spans_clear(struct rank_spans *of);

#endif
