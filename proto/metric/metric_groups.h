/*
 * metric_groups - the built-in metric groups, those of the agent's sampler:
 * names, units, kinds.
 *
 * Names are those of OpenTelemetry's semantic conventions (system metrics),
 * with the value of the attribute as last part: system.cpu.time{state=user} is
 * system.cpu.time.user.  Units are UCUM's; a counter only grows, until the
 * host restarts.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_METRIC_METRIC_GROUPS_H
#define PROTO_METRIC_METRIC_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/wire/wire.h"

struct metric_group_column {
	const char *name, *unit;
	bool counter;
};

struct metric_group {
	const struct metric_group_column *columns;
	uint32_t count;
};

enum { METRIC_GROUP_COLUMNS_MAX = 32 };

extern const struct metric_group metric_group_cpu;
extern const struct metric_group metric_group_cpus; /* cpu/N */
extern const struct metric_group metric_group_memory;
extern const struct metric_group metric_group_load;
extern const struct metric_group metric_group_vmstat;
extern const struct metric_group metric_group_pressure;
extern const struct metric_group metric_group_schedstat;
extern const struct metric_group metric_group_disk;       /* disk/NAME */
extern const struct metric_group metric_group_filesystem; /* filesystem/MOUNT */
extern const struct metric_group metric_group_network; /* network/INTERFACE */
extern const struct metric_group metric_group_cgroup;  /* cgroup/PATH */
extern const struct metric_group metric_group_process; /* process/NAME */
extern const struct metric_group metric_group_gpu;     /* gpu/NAME */
extern const struct metric_group metric_group_perf;
extern const struct metric_group metric_group_self;  /* the agent itself */
extern const struct metric_group metric_group_clock; /* the clock offset */

/* The built-in group that samples of this name belong to; NULL: none. */
const struct metric_group *metric_group_find(struct text name);

/* Is its first column the boot that its counters belong to? */
bool metric_group_has_boot(const struct metric_group *metric_group);

/* Append the entity that describes the columns of metric group `name`.  False
 * if it does not fit; then nothing is appended. */
bool metric_group_define(struct wire_writer *w,
    const struct metric_group *metric_group, struct text name);

#endif
