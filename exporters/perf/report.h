/*
 * perf_report - convert a sample of metric group "perf" to a report of the
 * older sampler.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PERF_REPORT_H
#define EXPORTERS_PERF_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/json/json.h"
#include "proto/record/perf_group.h"
#include "proto/record/record.h"

struct perf_report {
	int64_t time_ns;
	uint32_t known; /* bit (1 << enum perf_group_column) */
	uint32_t whole; /* same bits: the value is in `i`, not in `f` */
	union {
		int64_t i;
		double f;
	} at[PERF_GROUP_COLUMNS];
};

/* Is the record a report? */
bool perf_report_is(const struct record *record);
/* If the record is a report, read it and return true. */
bool perf_report_get(struct perf_report *report, const struct record *record);

/* NaN if unknown. */
double perf_report_number(
    const struct perf_report *report, enum perf_group_column column);

/* The timestamp: the double from which time_ns was made. */
double perf_seconds(int64_t time_ns);

/* The order of the older sampler. */
extern const enum perf_group_column perf_report_order[PERF_GROUP_REPORTED];
/* Print its members in that order. */
void perf_report_put(struct json *json, const struct perf_report *report);

#endif
