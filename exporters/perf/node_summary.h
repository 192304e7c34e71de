/*
 * perf_node_summary - summarize the reports of a node in eighteen numbers.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PERF_NODE_SUMMARY_H
#define EXPORTERS_PERF_NODE_SUMMARY_H

#include "exporters/perf/report.h"
#include "proto/wire/columns.h"

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
