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
enum perf_column {
	PERF_CPU_AVG, /* mean of the CPUs' busy percentages */
	PERF_CPU_MIN,
	PERF_CPU_MAX,
	PERF_MEM,
	PERF_DISK,
	PERF_READ,
	PERF_WRITE,
	PERF_LO_SENT,
	PERF_LO_RECV,
	PERF_EXT_SENT,
	PERF_EXT_RECV,
	PERF_REPORTED, /* what stands before is in the older report */
	PERF_CPUS = PERF_REPORTED,
	PERF_COLUMNS
};

struct perf_column_name {
	const char *name, *unit;
};
extern const struct perf_column_name perf_columns[PERF_COLUMNS];

#endif
