/*
 * perf_set - the set "perf": one report a sample, as an older sampler made
 * them.
 *
 * Percentages of one report; megabytes (2^20) since the boot, as psutil counts
 * them: a gauge, because wraps are already out of them.  The time of the
 * sample is the report's `timestamp`.  A column that is not known is nil.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_PERF_GROUP_H
#define PROTO_RECORD_PERF_GROUP_H

/* The order of the values of a sample: never change one, add behind. */
enum perf_group_column {
	PERF_GROUP_CPU_AVG, /* mean of the CPUs' busy percentages */
	PERF_GROUP_CPU_MIN,
	PERF_GROUP_CPU_MAX,
	PERF_GROUP_MEM,
	PERF_GROUP_DISK,
	PERF_GROUP_READ,
	PERF_GROUP_WRITE,
	PERF_GROUP_LO_SENT,
	PERF_GROUP_LO_RECV,
	PERF_GROUP_EXT_SENT,
	PERF_GROUP_EXT_RECV,
	PERF_GROUP_REPORTED, /* what stands before is in the older report */
	PERF_GROUP_CPUS = PERF_GROUP_REPORTED,
	PERF_GROUP_COLUMNS
};

struct perf_group_column_name {
	const char *name, *unit;
};
extern const struct perf_group_column_name
    perf_group_columns[PERF_GROUP_COLUMNS];

#endif
