/*
 * critical_waits - what the phases of a start waited for.
 *
 * A model says which phases wait for the end of which (poolscope-model(5):
 * after, after_any, end_after), and of which only some run at once (places).
 * So each phase has a moment from which it could have begun: the last of
 *
 *	the end of each phase that it is after, on its node and of its key,
 *	the first end of a phase that it is after_any, on any node, of its key,
 *	the begin of the phase that ends after it and that it lies in,
 *	the moment when a place was free.
 *
 * Who has places gets them in the order of begin, each the one that was freed
 * first.  The pause from that moment to its begin is the phase's own.
 *
 * The order of phases is that of begin, end and place in the model; a phase
 * waits for earlier ones only, so that there are no circles, whatever a model
 * says.  Times are integers in nanoseconds, and nothing is estimated.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CRITICAL_WAITS_H
#define EXPORTERS_CRITICAL_WAITS_H

#include "exporters/phases/read.h"

/* Which phase waits for which: [waiting][other], by number. */
struct critical_rules {
	uint32_t phases;
	uint8_t *waits;   /* bits of enum critical_wait */
	uint32_t *places; /* by phase; 0: any number */
	bool *is_required;
	bool any;         /* does the model say anything of this? */
};

enum critical_wait {
	CRITICAL_AFTER = 1,
	CRITICAL_AFTER_ANY = 2,
	CRITICAL_END_AFTER = 4,
};

int critical_rules_read(struct critical_rules *rules,
    const struct phases_names *names, struct source *source,
    struct text partition, struct err *err);
void critical_rules_clear(struct critical_rules *rules);

#define CRITICAL_NONE UINT32_MAX

enum critical_cause {
	CRITICAL_BY_NOTHING, /* the node itself began */
	CRITICAL_BY_PHASE,   /* its end: after or after_any */
	CRITICAL_BY_OUTER,   /* the begin of the one it lies in */
	CRITICAL_BY_PLACE,   /* the end of the one that had the place */
};

struct critical_item {
	int64_t begin_ns, end_ns;
	uint32_t node, phase, key;
	/* Why it did not begin before: which item, at which time. */
	enum critical_cause cause;
	uint32_t by;    /* CRITICAL_NONE: nothing */
	int64_t could_ns;
	uint32_t inner; /* the last one that its end waited for, or none */
	uint32_t outer; /* the one that it lies in and that waits for it */
};

/* The complete phases of a window, in their order. */
struct critical_waits {
	struct critical_item *at;
	uint32_t count;
	uint32_t key_of_none; /* number of the empty key */
	/* Orders: by node, phase and end; by node, phase, key and end; by
	 * phase, key and end. */
	uint32_t *by_node, *by_node_key, *by_key;
	uint64_t over; /* phases that began though no place was free */
};

/* Clear it in any case. */
void critical_waits_find(struct critical_waits *waits,
    const struct phases_read *phases, const struct critical_rules *rules);
void critical_waits_clear(struct critical_waits *waits);

#endif
