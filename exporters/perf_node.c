/*
 * perf_node - what the reports of one node add up to: eighteen numbers.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/perf_node.h"

#include <math.h>
#include <string.h>

#include "proto/rate.h"

const char *const perf_metric_names[PERF_METRICS] = {
	[PERF_MAX_CPU_AVG] = "max_t_(cpu_pct_per_cpu_avg)",
	[PERF_UTILIZATION] = "cpu_avg_utilization_pct",
	[PERF_AT100] = "cpu_avg_utilization_at100_pct",
	[PERF_OVER80] = "cpu_avg_utilization_over80_pct",
	[PERF_OVER40] = "cpu_avg_utilization_over40_pct",
	[PERF_OVER20] = "cpu_avg_utilization_over20_pct",
	[PERF_MAX_CPU_MIN] = "max_t_(cpu_pct_per_cpu_min)",
	[PERF_MAX_CPU_MAX] = "max_t_(cpu_pct_per_cpu_max)",
	[PERF_CPU_HOURS] = "node_cpu_hours",
	[PERF_UNUSED_CPU_HOURS] = "node_unused_cpu_hours",
	[PERF_MAX_MEM] = "max_t_(mem_percent)",
	[PERF_MAX_DISK] = "max_t_disk_usage_percent",
	[PERF_TOTAL_READ] = "total_disk_io_read_mb",
	[PERF_TOTAL_WRITE] = "total_disk_io_write_mb",
	[PERF_TOTAL_LO_SENT] = "total_net_io_lo_sent_mb",
	[PERF_TOTAL_EXT_SENT] = "total_net_io_ext_sent_mb",
	[PERF_TOTAL_LO_RECV] = "total_net_io_lo_recv_mb",
	[PERF_TOTAL_EXT_RECV] = "total_net_io_ext_recv_mb",
};

/* What to make of a total that went down, proto/rate.h says. */
static double
growth_from(double last, double value)
{
	struct rate_sample u = { .value = { VALUE_FLOAT, .is.f = last } };
	struct rate_sample v = { .value = { VALUE_FLOAT, .is.f = value } };

	return value >= last ? value - last : rate_between(&u, &v).increase;
}

static inline void
add_number(struct perf_node *node, int c, double value)
{
	if ((node->known >> c & 1) == 0) {
		node->known |= 1u << c;
		node->greatest[c] = value;
	} else if (c >= PERF_READ && c < PERF_REPORTED) {
		node->growth[c] += growth_from(node->last[c], value);
	}
	if (value > node->greatest[c])
		node->greatest[c] = value;
	node->last[c] = value;
}

void
perf_node_add(struct perf_node *node, int64_t time_ns,
    const double numbers[static PERF_COLUMNS])
{
	double average = numbers[PERF_CPU_AVG];

	if (node->reports++ == 0)
		node->first_ns = time_ns;
	node->last_ns = time_ns;
	for (int c = 0; c < PERF_COLUMNS; c++)
		if (!isnan(numbers[c]))
			add_number(node, c, numbers[c]);
	if (isnan(average))
		return;
	node->averages++;
	node->sum += average;
	node->over[0] += average >= 100;
	node->over[1] += average >= 80;
	node->over[2] += average >= 40;
	node->over[3] += average >= 20;
}

/* The operations in the order of the older tool: the same bits. */
static void
put_cpu(const struct perf_node *node, const struct perf_how *how,
    double to[static PERF_METRICS])
{
	double n = (double)node->averages, mean = node->sum / n;
	double now = perf_seconds(how->has_now ? how->now_ns : node->last_ns);
	double cpus = (double)how->cpu_count;

	to[PERF_UTILIZATION] = mean;
	for (int i = 0; i < 4; i++)
		to[PERF_AT100 + i] = (double)node->over[i] / n * 100.0;
	if (how->cpu_count == 0)
		cpus =
		    node->known >> PERF_CPUS & 1 ? node->last[PERF_CPUS] : NAN;
	to[PERF_CPU_HOURS] =
	    (now - perf_seconds(node->first_ns)) * cpus / 60 / 60;
	to[PERF_UNUSED_CPU_HOURS] = to[PERF_CPU_HOURS] * (100 - mean) / 100;
}

void
perf_node_metrics(const struct perf_node *node, const struct perf_how *how,
    double to[static PERF_METRICS])
{
	static const struct {
		enum perf_metric metric;
		enum perf_column column;
		bool total;
	} plain[] = {
		{ PERF_MAX_CPU_AVG, PERF_CPU_AVG, false },
		{ PERF_MAX_CPU_MIN, PERF_CPU_MIN, false },
		{ PERF_MAX_CPU_MAX, PERF_CPU_MAX, false },
		{ PERF_MAX_MEM, PERF_MEM, false },
		{ PERF_MAX_DISK, PERF_DISK, false },
		{ PERF_TOTAL_READ, PERF_READ, true },
		{ PERF_TOTAL_WRITE, PERF_WRITE, true },
		{ PERF_TOTAL_LO_SENT, PERF_LO_SENT, true },
		{ PERF_TOTAL_EXT_SENT, PERF_EXT_SENT, true },
		{ PERF_TOTAL_LO_RECV, PERF_LO_RECV, true },
		{ PERF_TOTAL_EXT_RECV, PERF_EXT_RECV, true },
	};

	put_cpu(node, how, to);
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
		enum perf_column c = plain[i].column;

		to[plain[i].metric] = (node->known >> c & 1) == 0 ? NAN
				      : plain[i].total && !how->since_boot
					  ? node->growth[c]
					  : node->greatest[c];
	}
}

static bool
is_taken(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("_-. /", c) != NULL);
}

const char *
perf_mlflow_name(
    char to[static PERF_MLFLOW_BYTES], const char *prefix, const char *name)
{
	size_t used = 0;

	for (const char *p = prefix; *p != '\0'; p++)
		if (used < PERF_MLFLOW_BYTES - 1 && is_taken(*p))
			to[used++] = *p;
	for (const char *p = name; *p != '\0'; p++)
		if (used < PERF_MLFLOW_BYTES - 1 && is_taken(*p))
			to[used++] = *p;
	to[used] = '\0';
	return to;
}
