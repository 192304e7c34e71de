/*
 * schedule - which metric groups are sampled, how often, and when next.
 *
 * All groups of a node share a time grid that follows from the node's name:
 * groups whose periods divide each other share their wake-ups, and the nodes
 * of a pool do not wake up at the same moments.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SAMPLER_SCHEDULE_H
#define AGENTS_SAMPLER_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

enum schedule_group {
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
	SCHEDULE_GROUPS
};

struct schedule {
	int64_t period_ns[SCHEDULE_GROUPS]; /* 0: off */
	int64_t due_ns[SCHEDULE_GROUPS];    /* monotonic */
	uint32_t factor; /* throttling: multiplies every period */
};

/* "cpu,memory,perf=10s": sample these groups, at `period_ns` (slow groups less
 * often) or at their own period.  "default" and "all" are lists; "-gpu"
 * removes a group; a list that begins with a removal starts from the default.
 * NULL: the default. */
int schedule_parse(struct schedule *schedule, const char *groups,
    int64_t period_ns, struct err *err);

/* Set the first due time of each group: the next multiple of its period plus a
 * phase that follows from `node`. */
void schedule_start(struct schedule *schedule, struct text node,
    int64_t wall_ns, int64_t now_ns);

/* The bits (1 << group) of the groups that are due, which are then set to
 * their next time; missed periods are skipped. */
uint32_t schedule_take(struct schedule *schedule, int64_t now_ns);

/* The same at the end: includes groups due within half their period, so that
 * no sample covers only a moment. */
uint32_t schedule_take_early(struct schedule *schedule, int64_t now_ns);

/* When something is due next; INT64_MAX: never. */
int64_t schedule_next_ns(const struct schedule *schedule);

#endif
