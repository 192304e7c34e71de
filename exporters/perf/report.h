/*
 * perf_report - a sample of set "perf" as the older sampler's report.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PERF_REPORT_H
#define EXPORTERS_PERF_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/format/json.h"
#include "proto/record/perf_group.h"
#include "proto/record/record.h"

struct perf_report {
	int64_t time_ns;
	uint32_t known; /* bit (1 << enum perf_group_column) */
	uint32_t whole; /* same: `i`, not `f` */
	union {
		int64_t i;
		double f;
	} at[PERF_GROUP_COLUMNS];
};

/* Is it one?  False: something else. */
bool perf_report_is(const struct record *record);
/* The same, and take it. */
bool perf_report_get(struct perf_report *report, const struct record *record);

/* NaN when it is not known. */
double perf_report_number(
    const struct perf_report *report, enum perf_group_column column);

/* The timestamp: the double that became time_ns, again. */
double perf_seconds(int64_t time_ns);

/* Its members, in the order of the older sampler. */
void perf_report_put(struct json *json, const struct perf_report *report);

#endif
