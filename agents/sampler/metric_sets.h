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
#ifndef AGENTS_SAMPLER_METRIC_SETS_H
#define AGENTS_SAMPLER_METRIC_SETS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/wire/wire.h"

struct metric_set_column {
	const char *name, *unit;
	bool counter;
};

struct metric_set {
	const struct metric_set_column *columns;
	uint32_t count;
};

enum { METRIC_SET_COLUMNS_MAX = 32 };

extern const struct metric_set metric_set_cpu;
extern const struct metric_set metric_set_cpus; /* cpu/N */
extern const struct metric_set metric_set_memory;
extern const struct metric_set metric_set_load;
extern const struct metric_set metric_set_vmstat;
extern const struct metric_set metric_set_pressure;
extern const struct metric_set metric_set_schedstat;
extern const struct metric_set metric_set_disk;       /* disk/NAME */
extern const struct metric_set metric_set_filesystem; /* filesystem/MOUNT */
extern const struct metric_set metric_set_network;    /* network/INTERFACE */
extern const struct metric_set metric_set_cgroup;     /* cgroup/PATH */
extern const struct metric_set metric_set_process;    /* process/NAME */
extern const struct metric_set metric_set_gpu;        /* gpu/NAME */
extern const struct metric_set metric_set_perf;
extern const struct metric_set metric_set_self; /* the agent itself */
extern const struct metric_set
    metric_set_clock; /* and what it knows of its clock */

/* Does it begin with which boot its counters are of? */
bool metric_set_has_boot(const struct metric_set *metric_set);

/* Append the entity that says what the numbers of samples of set `name` are.
 * False, and nothing is there, when it does not fit. */
bool metric_set_define(struct wire_writer *w,
    const struct metric_set *metric_set, struct text name);

#endif
