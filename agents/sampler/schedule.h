/*
 * schedule - which sets are sampled, how often, and when next.
 *
 * All sets of a node are on one grid that follows from the node's name: sets
 * whose periods divide each other share their wake-ups, and the nodes of a
 * pool do not breathe in step.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SAMPLER_SCHEDULE_H
#define AGENTS_SAMPLER_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

enum plan_set {
	PLAN_CPU,
	PLAN_CPUS,
	PLAN_MEMORY,
	PLAN_LOAD,
	PLAN_VMSTAT,
	PLAN_PRESSURE,
	PLAN_SCHEDSTAT,
	PLAN_DISK,
	PLAN_FILESYSTEM,
	PLAN_NETWORK,
	PLAN_CGROUP,
	PLAN_PROCESS,
	PLAN_GPU,
	PLAN_PERF,
	PLAN_SELF,
	PLAN_SETS
};

struct plan {
	int64_t period_ns[PLAN_SETS]; /* 0: off */
	int64_t due_ns[PLAN_SETS];    /* monotonic */
	uint32_t factor;              /* thinning: of every period */
};

/* "cpu,memory,perf=10s": these sets, at `period_ns` (some are slower by
 * themselves) or at their own period.  "default" and "all" are lists, "-gpu"
 * takes a set away; a list that begins with that is the default one less
 * these.  NULL: the default. */
int plan_parse(
    struct plan *plan, const char *sets, int64_t period_ns, struct err *err);

/* Set when each is due first: the next multiple of its period plus a phase
 * that follows from `node`. */
void plan_start(
    struct plan *plan, struct text node, int64_t wall_ns, int64_t now_ns);

/* The bits (1 << set) of what is due, which is then set to its next time;
 * periods that were missed are skipped. */
uint32_t plan_take(struct plan *plan, int64_t now_ns);

/* The same at the end: also what is due within half its period, so that no
 * sample is of a moment only. */
uint32_t plan_take_early(struct plan *plan, int64_t now_ns);

/* When something is due next; INT64_MAX: never. */
int64_t plan_next_ns(const struct plan *plan);

#endif
