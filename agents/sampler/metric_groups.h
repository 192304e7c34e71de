/*
 * sampler_metric_sets - the metric sets of the host sampler: names, units,
 * kinds.
 *
 * Names are those of OpenTelemetry's semantic conventions (system metrics),
 * with the value of the attribute as last part: system.cpu.time{state=user}
 * is system.cpu.time.user.  Units are UCUM's; a counter only grows, until the
 * host restarts.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SAMPLER_METRIC_GROUPS_H
#define AGENTS_SAMPLER_METRIC_GROUPS_H

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
extern const struct metric_group metric_group_self; /* the agent itself */
extern const struct metric_group
    metric_group_clock; /* and what it knows of its clock */

/* Does it begin with which boot its counters are of? */
bool metric_group_has_boot(const struct metric_group *metric_group);

/* Append the entity that says what the numbers of samples of set `name` are.
 * False, and nothing is there, when it does not fit. */
bool metric_group_define(struct wire_writer *w,
    const struct metric_group *metric_group, struct text name);

#endif
