/*
 * perf_report - the report of the older resource monitor, value for value.
 *
 * Pure functions from the texts of /proc to numbers, as psutil 5.9 computes
 * them: percentages are rounded to one decimal, half to even on the double; a
 * counter that decreased has wrapped, and its old value is added from then on
 * (forgotten when the device goes).  Missing values (a container without
 * disks) count as zero.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SAMPLER_PERF_REPORT_H
#define AGENTS_SAMPLER_PERF_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "proto/metric/metric_groups.h"

/* By the columns of metric group perf, without the last. */
struct perf_report {
	double values[METRIC_PERF_CPUS];
	uint32_t processors;
};

/* statvfs of a file system. */
struct perf_report_space {
	uint64_t blocks, free, available, unit_bytes;
};

struct perf_reporter; /* opaque: the values of the last report */

void perf_report_new(struct perf_reporter **perf_reporter);
void perf_report_free(struct perf_reporter **perf_reporter);

/* Each fills its part of a report.  perf_report_cpu covers the time since its
 * last call: the first call gives zeros. */
void perf_report_cpu(struct perf_reporter *perf_reporter, struct text stat,
    struct perf_report *report);
void perf_report_memory(struct text meminfo, struct perf_report *report);
void perf_report_space(
    const struct perf_report_space *space, struct perf_report *report);
/* `is_disk`: is there a /sys/block/NAME?  Partitions are not counted. */
void perf_report_disks(struct perf_reporter *perf_reporter,
    struct text diskstats, bool (*is_disk)(void *arg, struct text name),
    void *arg, struct perf_report *report);
void perf_report_network(struct perf_reporter *perf_reporter,
    struct text net_dev, struct perf_report *report);

/* The result of Python's round(value, 1), for 0 <= value < 2^40. */
double perf_report_round(double value);

#endif
