/*
 * perf_node_summary - summarize the reports of a node in eighteen numbers.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PERF_NODE_SUMMARY_H
#define EXPORTERS_PERF_NODE_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/json/json.h"
#include "proto/record/perf_group.h"
#include "proto/record/record.h"
#include "proto/wire/columns.h"

/* Convert a sample of metric group "perf" to a report of the older sampler. */

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

/* Initialize to zero. */
struct perf_node {
	uint64_t reports;
	uint64_t averages; /* reports with a CPU average */
	uint64_t over[4];  /* number of averages of at least 100, 80, 40, 20 */
	double sum;        /* sum of the averages */
	int64_t first_ns, last_ns;
	uint32_t known; /* columns that occurred in any report */
	double greatest[PERF_GROUP_COLUMNS], last[PERF_GROUP_COLUMNS];
	double growth[PERF_GROUP_COLUMNS]; /* growth of totals between
					      consecutive reports */
};

/* Add a report.  Reports are in order of time; NaN is an unknown number. */
void perf_node_add(struct perf_node *node, int64_t time_ns,
    const double numbers[static PERF_GROUP_COLUMNS]);

/* Add many reports at once. */
void perf_node_add_columns(
    struct perf_node *node, const struct wire_columns *columns);

/* In the order of the older tool's output. */
enum perf_metric {
	PERF_MAX_CPU_AVG,
	PERF_UTILIZATION,
	PERF_AT100,
	PERF_OVER80,
	PERF_OVER40,
	PERF_OVER20,
	PERF_MAX_CPU_MIN,
	PERF_MAX_CPU_MAX,
	PERF_CPU_HOURS,
	PERF_UNUSED_CPU_HOURS,
	PERF_MAX_MEM,
	PERF_MAX_DISK,
	PERF_TOTAL_READ,
	PERF_TOTAL_WRITE,
	PERF_TOTAL_LO_SENT,
	PERF_TOTAL_EXT_SENT,
	PERF_TOTAL_LO_RECV,
	PERF_TOTAL_EXT_RECV,
	PERF_METRICS
};
extern const char *const perf_metric_names[PERF_METRICS];

struct perf_how {
	bool has_now;
	int64_t now_ns; /* end of the CPU hours; without has_now the node's last
			   report */
	uint64_t cpu_count; /* CPUs per node; 0: as in its last report */
	bool since_boot; /* totals are maxima, not the growth during the reports
			  */
};

/* NaN: unknown. */
void perf_node_metrics(const struct perf_node *node, const struct perf_how *how,
    double to[static PERF_METRICS]);

/* The name of a metric for MLflow: `prefix`, then the name, with only letters,
 * digits and "_-. /", truncated to 50 characters. */
enum { PERF_MLFLOW_BYTES = 51 };
const char *perf_mlflow_name(
    char to[static PERF_MLFLOW_BYTES], const char *prefix, const char *name);

/* The names of all metrics.  Where a long prefix makes names equal, the later
 * ones end in "-2", "-3" ... */
void perf_mlflow_names(
    char to[static PERF_METRICS][PERF_MLFLOW_BYTES], const char *prefix);

/* Does MLflow allow this character in a name? */
bool perf_mlflow_takes(char c);

#endif
