/*
 * perf_node_summary - what the reports of one node add up to: eighteen numbers.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PERF_NODE_SUMMARY_H
#define EXPORTERS_PERF_NODE_SUMMARY_H

#include "exporters/perf/report.h"
#include "proto/wire/columns.h"

/* All zero to begin with. */
struct perf_node {
	uint64_t reports;
	uint64_t averages; /* of them with a CPU average */
	uint64_t over[4];  /* averages of at least 100, 80, 40, 20 */
	double sum;        /* of averages */
	int64_t first_ns, last_ns;
	uint32_t known; /* columns that any report had */
	double greatest[PERF_GROUP_COLUMNS], last[PERF_GROUP_COLUMNS];
	double
	    growth[PERF_GROUP_COLUMNS]; /* of totals, from report to report */
};

/* Reports in the order of their time; NaN is a number that is not known. */
void perf_node_add(struct perf_node *node, int64_t time_ns,
    const double numbers[static PERF_GROUP_COLUMNS]);

/* The same of many reports at once. */
void perf_node_add_columns(
    struct perf_node *node, const struct wire_columns *columns);

/* The order in which the older tool gives them. */
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
	int64_t now_ns;     /* else the node's last report's time */
	uint64_t cpu_count; /* 0: that of its last report */
	bool since_boot;    /* totals are the greatest numbers, not growth */
};

/* NaN: not known. */
void perf_node_metrics(const struct perf_node *node, const struct perf_how *how,
    double to[static PERF_METRICS]);

/* A metric's name as MLflow gets it: `prefix` in front, no characters but
 * letters, digits and "_-. /", cut to 50. */
enum { PERF_MLFLOW_BYTES = 51 };
const char *perf_mlflow_name(
    char to[static PERF_MLFLOW_BYTES], const char *prefix, const char *name);

/* Those of all metrics.  Where a long prefix would make two the same, the later
 * one ends in "-2", "-3" ... */
void perf_mlflow_names(
    char to[static PERF_METRICS][PERF_MLFLOW_BYTES], const char *prefix);

/* May the character stand in a name of MLflow's? */
bool perf_mlflow_takes(char c);

#endif
