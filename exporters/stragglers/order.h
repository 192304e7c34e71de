/*
 * stragglers_order - what the model says of the order of phases, and so what a
 * slow one cost the pool.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STRAGGLERS_ORDER_H
#define EXPORTERS_STRAGGLERS_ORDER_H

#include "exporters/critical/run.h"
#include "exporters/stragglers/place_waits.h"
#include "exporters/stragglers/who.h"

/* Without words of waiting (rules.any) only the rules are there. */
struct order {
	struct critical_rules rules;
	struct critical_waits waits;
	struct critical_run run;
	struct place_waits places;
};

/* `needed`: how many nodes make the pool ready; 0: all.  Clear it in any
 * case. */
int order_read(struct order *order, const struct phases_timeline *timeline,
    uint32_t needed, struct source *source, struct text partition,
    struct err *err);
void order_clear(struct order *order);

/* How much earlier the pool had been ready, had the phase taken, or the node
 * begun after, as long as usual; STRAGGLER_NO_NS: it is not known. */
int64_t order_drag(const struct order *order,
    const struct phases_timeline *timeline, const struct who_suspect *suspect);

#endif
