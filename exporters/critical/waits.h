/*
 * critical_waits - what the phases of a start wait for.
 *
 * A model says which phases wait for the end of which (poolscope-model(5):
 * after, after_any, end_after), and of which only some run at once (places).
 * So each phase could have begun at the last of
 *
 *	the begin of its node,
 *	the end of each phase that it is after, on its node and of its key,
 *	the first end of a phase that it is after_any, on any node, of its key,
 *	the begin of the phase that ends after it and that it lies in,
 *	the moment when a place was free.
 *
 * Places are given in the order of begin, to each the one that is free first.
 * The pause from that moment to its begin is the phase's own, and so is that
 * from the end of the last phase inside to its own end.
 *
 * The order of phases is that of begin, place in the model and end; a phase
 * waits for earlier ones only, so that there are no circles, whatever a model
 * says.  Times are integers in nanoseconds, and nothing is estimated.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CRITICAL_WAITS_H
#define EXPORTERS_CRITICAL_WAITS_H

#include "exporters/critical/rules.h"

#define CRITICAL_NONE UINT32_MAX

/* What an end is looked for by: phases of one node; of one node and key; of one
 * key. */
enum critical_group { CRITICAL_NODE, CRITICAL_NODE_KEY, CRITICAL_KEY };
enum { CRITICAL_GROUPS = 3 };

struct critical_item {
	int64_t begin_ns, end_ns;
	int64_t node_ns; /* when its node began */
	uint32_t node, phase, key;
	uint32_t outer; /* the one that it lies in, and that ends after it */
	bool is_final;  /* its node was ready when all of these had ended */
	uint32_t group[CRITICAL_GROUPS]; /* which one it is of */
	uint32_t deps, dep_count;        /* in critical_waits.dep */
};

struct critical_dep {
	uint32_t group; /* CRITICAL_KEY: the first of them, else the last */
	enum critical_group by;
};

/* The complete phases of a window, in their order. */
struct critical_waits {
	const struct critical_rules *rules;
	struct critical_item *at;
	uint32_t count, nodes;
	uint32_t needed; /* how many nodes make it ready; 0: all */
	uint32_t *ends;  /* numbers, in the order of end */
	uint32_t groups[CRITICAL_GROUPS];
	uint32_t *places; /* by group of CRITICAL_KEY; 0: any number */
	struct critical_dep *dep;
	uint32_t dep_count, dep_room;
};

/* `rules` must outlive it.  Clear it in any case. */
void critical_waits_find(struct critical_waits *waits,
    const struct phases_read *phases, const struct critical_rules *rules);
void critical_waits_clear(struct critical_waits *waits);

/* The end of a phase: where starts wait for it (is_required), the time of the
 * event, else that of what was measured. */
int64_t critical_waits_end(const struct critical_rules *rules, uint32_t phase,
    int64_t end_ns, int64_t ended_ns);

/* The number of a phase of this begin, end, node, name and key; CRITICAL_NONE:
 * there is none. */
uint32_t critical_waits_number(
    const struct critical_waits *waits, const struct critical_item *like);

#endif
