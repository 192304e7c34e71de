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

enum schedule_set {
	SCHEDULE_CPU,
	SCHEDULE_CPUS,
	SCHEDULE_MEMORY,
	SCHEDULE_LOAD,
	SCHEDULE_VMSTAT,
	SCHEDULE_PRESSURE,
	SCHEDULE_SCHEDSTAT,
	SCHEDULE_DISK,
	SCHEDULE_FILESYSTEM,
	SCHEDULE_NETWORK,
	SCHEDULE_CGROUP,
	SCHEDULE_PROCESS,
	SCHEDULE_GPU,
	SCHEDULE_PERF,
	SCHEDULE_SELF,
	SCHEDULE_SETS
};

struct schedule {
	int64_t period_ns[SCHEDULE_SETS]; /* 0: off */
	int64_t due_ns[SCHEDULE_SETS];    /* monotonic */
	uint32_t factor;                  /* thinning: of every period */
};

/* "cpu,memory,perf=10s": these sets, at `period_ns` (some are slower by
 * themselves) or at their own period.  "default" and "all" are lists, "-gpu"
 * takes a set away; a list that begins with that is the default one less
 * these.  NULL: the default. */
int schedule_parse(struct schedule *schedule, const char *sets,
    int64_t period_ns, struct err *err);

/* Set when each is due first: the next multiple of its period plus a phase
 * that follows from `node`. */
void schedule_start(struct schedule *schedule, struct text node,
    int64_t wall_ns, int64_t now_ns);

/* The bits (1 << set) of what is due, which is then set to its next time;
 * periods that were missed are skipped. */
uint32_t schedule_take(struct schedule *schedule, int64_t now_ns);

/* The same at the end: also what is due within half its period, so that no
 * sample is of a moment only. */
uint32_t schedule_take_early(struct schedule *schedule, int64_t now_ns);

/* When something is due next; INT64_MAX: never. */
int64_t schedule_next_ns(const struct schedule *schedule);

#endif
