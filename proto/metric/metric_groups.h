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
	uint32_t values; /* without the boot that its counters belong to */
};

enum { METRIC_GROUP_COLUMNS_MAX = 32 };

/* metric_group_cpu, and METRIC_CPU_USER for the number of a column among the
 * values of a sample: those after poolscope.boot. */
#define GROUP(group, prefix)                                                   \
	extern const struct metric_group metric_group_##group;                 \
	enum {
#define BOOT
#define COUNTER(column, name, unit) METRIC_##column,
#define GAUGE(column, name, unit)   METRIC_##column,
#define END(group, GROUP)                                                      \
	METRIC_##GROUP##_VALUES                                                \
	}                                                                      \
	;
#include "proto/metric/metric_groups.def"

/* The built-in group that samples of this name belong to; NULL: none. */
const struct metric_group *metric_group_find(struct text name);

/* Append the entity that describes the columns of metric group `name`.  False
 * if it does not fit; then nothing is appended. */
bool metric_group_define(struct wire_writer *w,
    const struct metric_group *metric_group, struct text name);

#endif
