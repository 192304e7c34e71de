/*
 * perf_set - the set "perf": one report a sample, as an older sampler made
 * them.
 *
 * Percentages of one report; megabytes (2^20) since the boot, as psutil counts
 * them: a gauge, because wraps are already out of them.  The time of the
 * sample is the report's `timestamp`.  A column that is not known is nil.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_PERF_SET_H
#define PROTO_RECORD_PERF_SET_H

/* The order of the values of a sample: never change one, add behind. */
enum perf_set_column {
	PERF_SET_CPU_AVG, /* mean of the CPUs' busy percentages */
	PERF_SET_CPU_MIN,
	PERF_SET_CPU_MAX,
	PERF_SET_MEM,
	PERF_SET_DISK,
	PERF_SET_READ,
	PERF_SET_WRITE,
	PERF_SET_LO_SENT,
	PERF_SET_LO_RECV,
	PERF_SET_EXT_SENT,
	PERF_SET_EXT_RECV,
	PERF_SET_REPORTED, /* what stands before is in the older report */
	PERF_SET_CPUS = PERF_SET_REPORTED,
	PERF_SET_COLUMNS
};

struct perf_set_column_name {
	const char *name, *unit;
};
extern const struct perf_set_column_name perf_set_columns[PERF_SET_COLUMNS];

#endif
