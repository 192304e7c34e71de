/*
 * perf_group - the metric group "perf": each sample is one report of an older
 * sampler.
 *
 * Percentages hold for the time of the report.  Megabytes (2^20) count from the
 * boot, as psutil counts them; they are gauges, because psutil has already
 * removed wraps.  The time of the sample is the report's `timestamp`.  An
 * unknown column is nil.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_PERF_GROUP_H
#define PROTO_RECORD_PERF_GROUP_H

/* The order of the values in a sample: never change it; append new columns. */
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
	PERF_GROUP_REPORTED, /* the older report has only the columns above */
	PERF_GROUP_CPUS = PERF_GROUP_REPORTED,
	PERF_GROUP_COLUMNS
};

struct perf_group_column_name {
	const char *name, *unit;
};
extern const struct perf_group_column_name
    perf_group_columns[PERF_GROUP_COLUMNS];

#endif
