/*
 * critical_run - a start, as it was or as it would have been.
 *
 * The phases are gone through in their order, and each begins when what it
 * waits for allows it and its own pause has passed (waits.h).  Without a change
 * the times are those that were recorded, to the nanosecond.  With one they are
 * what would have been, if all else is as it was: who got a place before
 * another, the pauses, and how long phases took.
 *
 * Method: Ousterhout et al., "Making Sense of Performance in Data Analytics
 * Frameworks" (NSDI 2015), replay a job without a resource.  As the order of
 * places is kept, more of them, and shorter phases, make nothing later; where
 * others go first then, it can be (Graham, "Bounds on multiprocessing timing
 * anomalies", 1969).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CRITICAL_RUN_H
#define EXPORTERS_CRITICAL_RUN_H

#include "exporters/critical/waits.h"

enum critical_cause {
	CRITICAL_BY_NODE,  /* the node began; there is no `by` */
	CRITICAL_BY_PHASE, /* the end of phase `by`: after or after_any */
	CRITICAL_BY_OUTER, /* the begin of `by`, which it lies in */
	CRITICAL_BY_PLACE, /* the end of `by`, which had the place */
};

struct critical_times {
	int64_t begin_ns, end_ns;
	int64_t could_ns; /* from when on it could have begun */
	int64_t asked_ns; /* the same, had there been a place */
	uint32_t by;
	enum critical_cause cause;
	uint32_t inner;  /* the last one inside that its end waited for */
	uint32_t bound;  /* how many of its deps had ended */
	bool is_missing; /* it did not come, or what it waits for did not */
};

/* What is not as it was; NULL: all is. */
struct critical_change {
	const int64_t *length_ns; /* by phase: how long it takes */
	const int64_t *shift_ns;  /* by node: how much later it begins */
	const bool *without;      /* by node: it does not begin */
	const uint32_t *places;   /* by group of CRITICAL_KEY */
	uint32_t needed;          /* 0: as many nodes as did */
};

struct critical_run {
	struct critical_times *at; /* as in critical_waits */
	/* When the last node that it needs was ready, or the last one at all if
	 * fewer were; INT64_MIN: none. */
	int64_t ready_ns;
	uint32_t last;    /* whose end that was */
	uint64_t over;    /* began though no place was free */
	uint32_t *places; /* by group of CRITICAL_KEY: as many as were had */
	uint64_t missing; /* phases that a node waits for in vain */
};

/* As it was. */
void critical_run_recorded(
    struct critical_run *run, const struct critical_waits *waits);
/* As it would have been; `recorded` is what critical_run_recorded found. */
void critical_run_changed(struct critical_run *run,
    const struct critical_waits *waits, const struct critical_run *recorded,
    const struct critical_change *change);
void critical_run_clear(struct critical_run *run);

/* How much longer each phase could at least have been before the pool were
 * ready later (PERT's slack): as if places were passed on as they were, and
 * nobody but the first gave what others are after_any of.  INT64_MAX: nothing
 * waits for it. */
int64_t *critical_run_slack(
    const struct critical_run *run, const struct critical_waits *waits);

#endif
