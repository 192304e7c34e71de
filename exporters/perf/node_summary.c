/*
 * perf_node_summary - summarize the reports of a node in eighteen numbers.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/perf/node_summary.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "proto/os/clock.h"
#include "proto/record/counter_rate.h"

bool
perf_report_is(const struct record *record)
{
	return record->kind == RECORD_SAMPLE &&
	       text_equal(record->source, text_of("perf"));
}

bool
perf_report_get(struct perf_report *report, const struct record *record)
{
	struct text rest = record->value_bytes;
	struct value value;

	if (!perf_report_is(record))
		return false;
	report->time_ns = record->time_ns;
	report->known = report->whole = 0;
	for (unsigned i = 0; i < PERF_GROUP_COLUMNS; i++) {
		if (!record_next_value(&rest, &value))
			break;
		switch (value.type) {
		case VALUE_FLOAT: report->at[i].f = value.is.f; break;
		case VALUE_UINT: report->at[i].f = (double)value.is.u; break;
		case VALUE_INT:
			report->at[i].i = value.is.i;
			report->whole |= 1u << i;
			break;
		default: continue;
		}
		report->known |= 1u << i;
	}
	return true;
}

double
perf_report_number(
    const struct perf_report *report, enum perf_group_column column)
{
	if ((report->known >> column & 1) == 0)
		return NAN;
	return report->whole >> column & 1 ? (double)report->at[column].i
					   : report->at[column].f;
}

/* Correctly rounded with integers: a division of doubles would round the
 * nanoseconds first. */
double
perf_seconds(int64_t time_ns)
{
	uint64_t n = time_ns < 0 ? -(uint64_t)time_ns : (uint64_t)time_ns;
	unsigned __int128 scaled, quotient, low, half;
	unsigned shift, extra;
	uint64_t whole;
	double seconds;

	if (n == 0)
		return 0;
	shift = 32 + (unsigned)__builtin_clzll(n); /* scale to 96 bits */
	scaled = (unsigned __int128)n << shift;
	quotient = scaled / NS_PER_SECOND; /* drop to 53 of the 66 or 67 bits */
	extra = (quotient >> 66 != 0 ? 67 : 66) - DBL_MANT_DIG;
	whole = (uint64_t)(quotient >> extra);
	low = quotient - ((unsigned __int128)whole << extra);
	half = (unsigned __int128)1 << (extra - 1);
	if (low > half ||
	    (low == half && ((whole & 1) != 0 || scaled % NS_PER_SECOND != 0)))
		whole++;
	seconds = ldexp((double)whole, (int)extra - (int)shift);
	return time_ns < 0 ? -seconds : seconds;
}

const enum perf_group_column perf_report_order[PERF_GROUP_REPORTED] = {
	PERF_GROUP_CPU_AVG, PERF_GROUP_CPU_MIN, PERF_GROUP_CPU_MAX,
	PERF_GROUP_MEM, PERF_GROUP_DISK, PERF_GROUP_READ, PERF_GROUP_WRITE,
	PERF_GROUP_LO_SENT, PERF_GROUP_EXT_SENT, PERF_GROUP_LO_RECV,
	PERF_GROUP_EXT_RECV
};

void
perf_report_put(struct json *json, const struct perf_report *report)
{
	for (int i = 0; i < PERF_GROUP_REPORTED; i++) {
		enum perf_group_column c = perf_report_order[i];

		json_name(json, perf_group_columns[c].name);
		if ((report->known >> c & 1) == 0)
			json_null(json);
		else if (report->whole >> c & 1)
			json_int(json, report->at[c].i);
		else
			json_float(json, report->at[c].f);
	}
	json_add_float(json, "timestamp", perf_seconds(report->time_ns));
}

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

/* Handle a total that decreased, as proto/record/counter_rate.h does.  Not
 * inlined: it is rare, and preparing its two samples costs more than all other
 * work. */
__attribute__((noinline)) static double
growth_after_decrease(double last, double value)
{
	struct counter_rate_sample u = { .value = {
					     VALUE_FLOAT, .is.f = last } };
	struct counter_rate_sample v = { .value = {
					     VALUE_FLOAT, .is.f = value } };
	const struct counter_rate_column column = { .ticks = 0 };

	return counter_rate_between(&column, &u, &v).increase;
}

/* The state of a column. */
struct number {
	bool known;
	double greatest, last, growth;
};

static inline struct number
get_number(const struct perf_node *node, unsigned c)
{
	return (struct number){ (node->known >> c & 1) != 0, node->greatest[c],
		node->last[c], node->growth[c] };
}

static inline void
set_number(struct perf_node *node, unsigned c, const struct number *number)
{
	node->known |= (uint32_t)number->known << c;
	node->greatest[c] = number->greatest;
	node->last[c] = number->last;
	node->growth[c] = number->growth;
}

static inline bool
is_total(unsigned c)
{
	return c >= PERF_GROUP_READ && c < PERF_GROUP_REPORTED;
}

static inline void
add_number(struct number *number, bool total, double value)
{
	if (isnan(value))
		return;
	if (!number->known) {
		number->known = true;
		number->greatest = value;
	} else if (total) {
		number->growth +=
		    value >= number->last
			? value - number->last
			: growth_after_decrease(number->last, value);
	}
	if (value > number->greatest)
		number->greatest = value;
	number->last = value;
}

static inline void
add_average(struct perf_node *node, double average)
{
	if (isnan(average))
		return;
	node->averages++;
	node->sum += average;
	node->over[0] += average >= 100;
	node->over[1] += average >= 80;
	node->over[2] += average >= 40;
	node->over[3] += average >= 20;
}

void
perf_node_add(struct perf_node *node, int64_t time_ns,
    const double numbers[static PERF_GROUP_COLUMNS])
{
	if (node->reports++ == 0)
		node->first_ns = time_ns;
	node->last_ns = time_ns;
	for (unsigned c = 0; c < PERF_GROUP_COLUMNS; c++) {
		struct number number = get_number(node, c);

		add_number(&number, is_total(c), numbers[c]);
		set_number(node, c, &number);
	}
	add_average(node, numbers[PERF_GROUP_CPU_AVG]);
}

/* `total` is constant at each call, so that the compiler removes the test from
 * the loop. */
__attribute__((always_inline)) static inline void
add_column(struct perf_node *node, const struct wire_columns *columns,
    unsigned c, bool total)
{
	struct number number = get_number(node, c);

	for (uint32_t i = 0; i < columns->samples; i++)
		add_number(&number, total, wire_column_number(columns, c, i));
	set_number(node, c, &number);
}

static void
add_averages(struct perf_node *node, const struct wire_columns *columns)
{
	struct perf_node sums = { .sum = node->sum };

	for (uint32_t i = 0; i < columns->samples; i++)
		add_average(
		    &sums, wire_column_number(columns, PERF_GROUP_CPU_AVG, i));
	node->sum = sums.sum;
	node->averages += sums.averages;
	for (int i = 0; i < 4; i++)
		node->over[i] += sums.over[i];
}

void
perf_node_add_columns(
    struct perf_node *node, const struct wire_columns *columns)
{
	uint32_t count = columns->samples;

	if (node->reports == 0)
		node->first_ns = wire_column_time(columns, 0);
	node->reports += count;
	node->last_ns = wire_column_time(columns, count - 1);
	for (unsigned c = 0; c < PERF_GROUP_COLUMNS && c < columns->columns;
	     c++) {
		if (is_total(c))
			add_column(node, columns, c, true);
		else
			add_column(node, columns, c, false);
	}
	if (columns->columns > PERF_GROUP_CPU_AVG)
		add_averages(node, columns);
}

/* Operations are in the order of the older tool, to produce identical bits. */
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
		cpus = node->known >> PERF_GROUP_CPUS & 1
			   ? node->last[PERF_GROUP_CPUS]
			   : NAN;
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
		enum perf_group_column column;
		bool total;
	} plain[] = {
		{ PERF_MAX_CPU_AVG, PERF_GROUP_CPU_AVG, false },
		{ PERF_MAX_CPU_MIN, PERF_GROUP_CPU_MIN, false },
		{ PERF_MAX_CPU_MAX, PERF_GROUP_CPU_MAX, false },
		{ PERF_MAX_MEM, PERF_GROUP_MEM, false },
		{ PERF_MAX_DISK, PERF_GROUP_DISK, false },
		{ PERF_TOTAL_READ, PERF_GROUP_READ, true },
		{ PERF_TOTAL_WRITE, PERF_GROUP_WRITE, true },
		{ PERF_TOTAL_LO_SENT, PERF_GROUP_LO_SENT, true },
		{ PERF_TOTAL_EXT_SENT, PERF_GROUP_EXT_SENT, true },
		{ PERF_TOTAL_LO_RECV, PERF_GROUP_LO_RECV, true },
		{ PERF_TOTAL_EXT_RECV, PERF_GROUP_EXT_RECV, true },
	};

	put_cpu(node, how, to);
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
		enum perf_group_column c = plain[i].column;

		to[plain[i].metric] = (node->known >> c & 1) == 0 ? NAN
				      : plain[i].total && !how->since_boot
					  ? node->growth[c]
					  : node->greatest[c];
	}
}

bool
perf_mlflow_takes(char c)
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
		if (used < PERF_MLFLOW_BYTES - 1 && perf_mlflow_takes(*p))
			to[used++] = *p;
	for (const char *p = name; *p != '\0'; p++)
		if (used < PERF_MLFLOW_BYTES - 1 && perf_mlflow_takes(*p))
			to[used++] = *p;
	to[used] = '\0';
	return to;
}

static bool
is_there(char names[][PERF_MLFLOW_BYTES], int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

void
perf_mlflow_names(
    char to[static PERF_METRICS][PERF_MLFLOW_BYTES], const char *prefix)
{
	for (int m = 0; m < PERF_METRICS; m++) {
		char whole[PERF_MLFLOW_BYTES], end[8] = "";

		perf_mlflow_name(whole, prefix, perf_metric_names[m]);
		memcpy(to[m], whole, sizeof(whole));
		for (int n = 2; is_there(to, m, to[m]); n++) {
			int bytes = snprintf(end, sizeof(end), "-%d", n);

			snprintf(to[m], PERF_MLFLOW_BYTES, "%.*s%s",
			    PERF_MLFLOW_BYTES - 1 - bytes, whole, end);
		}
	}
}
