/*
 * usage_report - use as a table of 80 columns, as JSON and as CSV.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/usage/usage.h"

#include <math.h>

#include "exporters/samples/plot.h"
#include "proto/format/csv.h"
#include "proto/json/json.h"
#include "proto/format/table.h"
#include "proto/os/clock.h"

const char *const usage_names[USAGE_NUMBERS] = {
	[USAGE_SECONDS] = "seconds",
	[USAGE_CPUS] = "cpus",
	[USAGE_CPU_USED] = "cpu_hours_used",
	[USAGE_CPU_UNUSED] = "cpu_hours_unused",
	[USAGE_IDLE] = "idle_hours",
	[USAGE_MEMORY_PEAK] = "memory_peak_bytes",
	[USAGE_MEMORY_LIMIT] = "memory_bytes",
	[USAGE_GPU_PEAK] = "gpu_peak",
	[USAGE_GPU_MEMORY_PEAK] = "gpu_memory_peak_bytes",
	[USAGE_DISK_READ] = "disk_read_bytes",
	[USAGE_DISK_WRITTEN] = "disk_written_bytes",
	[USAGE_NETWORK_RECEIVED] = "network_received_bytes",
	[USAGE_NETWORK_SENT] = "network_sent_bytes",
	[USAGE_PRESSURE_CPU] = "cpu_pressure_seconds",
	[USAGE_PRESSURE_MEMORY] = "memory_pressure_seconds",
	[USAGE_PRESSURE_IO] = "io_pressure_seconds",
};

/* ---- table ---- */

static const struct table_column columns[] = {
	{ "node", 14, false },
	{ "cpu h", 6, true },
	{ "unused", 6, true },
	{ "idle h", 6, true },
	{ "memory", 6, true },
	{ "gpu", 4, true },
	{ "read", 5, true },
	{ "written", 7, true },
	{ "recv", 5, true },
	{ "sent", 5, true },
	{ "wait s", 6, true },
	{ NULL, 0, false },
};

/* Three digits and a decimal unit prefix. */
static void
put_bytes(struct table *table, double bytes)
{
	const char *unit = " kMGTPE";
	char text[32];

	if (isnan(bytes) || bytes < 0 || bytes > 1e20) {
		table_none(table);
		return;
	}
	for (; bytes >= 999.5; bytes /= 1000)
		unit++;
	snprintf(text, sizeof(text), "%.3g%.*s", bytes, *unit != ' ', unit);
	table_string(table, text);
}

static void
put_percent(struct table *table, double share)
{
	char text[16];

	if (isnan(share)) {
		table_none(table);
		return;
	}
	snprintf(text, sizeof(text), "%.0f%%", 100 * share);
	table_string(table, text);
}

static double
longest_wait(const double *at)
{
	return fmax(at[USAGE_PRESSURE_CPU],
	    fmax(at[USAGE_PRESSURE_MEMORY], at[USAGE_PRESSURE_IO]));
}

static void
put_row(struct table *table, struct text name, const double *at, double wait)
{
	table_text(table, name);
	table_number(table, at[USAGE_CPU_USED]);
	table_number(table, at[USAGE_CPU_UNUSED]);
	table_number(table, at[USAGE_IDLE]);
	put_bytes(table, at[USAGE_MEMORY_PEAK]);
	put_percent(table, at[USAGE_GPU_PEAK]);
	put_bytes(table, at[USAGE_DISK_READ]);
	put_bytes(table, at[USAGE_DISK_WRITTEN]);
	put_bytes(table, at[USAGE_NETWORK_RECEIVED]);
	put_bytes(table, at[USAGE_NETWORK_SENT]);
	table_number(table, wait);
}

static bool
is_peak(int number)
{
	return number == USAGE_MEMORY_PEAK || number == USAGE_GPU_PEAK ||
	       number == USAGE_GPU_MEMORY_PEAK;
}

/* Totals of rows [first, end): sums of what is known, and the maximum of peaks.
 * Returns the sum of the longest waits. */
static double
sum_up(const struct usage *usage, uint32_t first, uint32_t end,
    double sums[static USAGE_NUMBERS])
{
	double waits = NAN;

	for (int i = 0; i < USAGE_NUMBERS; i++)
		sums[i] = NAN;
	for (uint32_t row = first; row < end; row++) {
		double wait = longest_wait(usage->rows[row].at);

		if (!isnan(wait))
			waits = isnan(waits) ? wait : waits + wait;
		for (int i = 0; i < USAGE_NUMBERS; i++) {
			double value = usage->rows[row].at[i];

			if (isnan(sums[i]) || is_peak(i))
				sums[i] = fmax(sums[i], value);
			else if (!isnan(value))
				sums[i] += value;
		}
	}
	return waits;
}

static void
put_group(const struct usage *usage, FILE *file, uint32_t first, uint32_t end)
{
	struct table_names names = { .count = 0 };
	double sums[USAGE_NUMBERS];
	struct table table;
	char pattern[1024];

	for (uint32_t i = first; i < end; i++)
		table_names_add(&names, usage->rows[i].node);
	table_names_fit(&names, columns[0].width);
	table_names_pattern(&names, pattern, sizeof(pattern));
	if (pattern[0] != '\0')
		fprintf(file, "NODE of %s\n", pattern);
	table_begin(&table, file, columns);
	for (uint32_t i = first; i < end; i++)
		put_row(&table, table_names_rest(&names, usage->rows[i].node),
		    usage->rows[i].at, longest_wait(usage->rows[i].at));
	if (end - first < 2)
		return;
	put_row(&table, text_of("all"), sums, sum_up(usage, first, end, sums));
}

void
usage_table(const struct usage *usage, FILE *file, struct text partition)
{
	char from[CLOCK_TEXT_BYTES], to[CLOCK_TEXT_BYTES], step[24];
	uint32_t first, end;

	fprintf(file, "%.*s\n%s to %s, from %.*s in steps of %s\n",
	    (int)partition.bytes, partition.at,
	    clock_text(from, usage->from_ns, 0),
	    clock_text(to, usage->to_ns, 0), (int)usage->rollup.bytes,
	    usage->rollup.at, samples_plot_step(step, usage->step_ns));
	if (usage->clock[0] != '\0')
		fprintf(file, "%s\n", usage->clock);
	if (usage->nodes > 0) {
		putc('\n', file);
		put_group(usage, file, 0, usage->nodes);
	}
	for (first = usage->nodes; first < usage->count; first = end) {
		struct text job = usage->rows[first].job;

		for (end = first; end < usage->count; end++)
			if (!text_equal(usage->rows[end].job, job))
				break;
		fputs("\njob ", file);
		table_put_elided(file, job, 70);
		putc('\n', file);
		put_group(usage, file, first, end);
	}
}

/* ---- machine-readable ---- */

static void
put_json_row(struct json *json, const struct usage_row *row, bool job)
{
	json_begin_object(json);
	if (job) {
		json_name(json, "job");
		json_text(json, row->job);
	}
	json_name(json, "node");
	json_text(json, row->node);
	for (int i = 0; i < USAGE_NUMBERS; i++) {
		json_name(json, usage_names[i]);
		json_float(json, row->at[i]);
	}
	json_end_object(json);
}

void
usage_json(const struct usage *usage, FILE *file)
{
	struct json json;

	json_init(&json, file, JSON_INDENTED | JSON_STRICT);
	json_begin_object(&json);
	json_name(&json, "from_ns");
	json_int(&json, usage->from_ns);
	json_name(&json, "to_ns");
	json_int(&json, usage->to_ns);
	json_name(&json, "step_ns");
	json_int(&json, usage->step_ns);
	json_name(&json, "rollup");
	json_text(&json, usage->rollup);
	if (usage->clock[0] != '\0') {
		json_name(&json, "clock");
		json_string(&json, usage->clock);
	}
	json_name(&json, "nodes");
	json_begin_array(&json);
	for (uint32_t i = 0; i < usage->nodes; i++)
		put_json_row(&json, &usage->rows[i], false);
	json_end_array(&json);
	json_name(&json, "jobs");
	json_begin_array(&json);
	for (uint32_t i = usage->nodes; i < usage->count; i++)
		put_json_row(&json, &usage->rows[i], true);
	json_end_array(&json);
	json_end_object(&json);
	putc('\n', file);
}

void
usage_csv(const struct usage *usage, FILE *file)
{
	struct csv csv = { file, false };

	csv_string(&csv, "job");
	csv_string(&csv, "node");
	for (int i = 0; i < USAGE_NUMBERS; i++)
		csv_string(&csv, usage_names[i]);
	csv_end_row(&csv);
	for (uint32_t row = 0; row < usage->count; row++) {
		csv_text(&csv, usage->rows[row].job);
		csv_text(&csv, usage->rows[row].node);
		for (int i = 0; i < USAGE_NUMBERS; i++)
			if (isnan(usage->rows[row].at[i]))
				csv_none(&csv);
			else
				csv_float(&csv, usage->rows[row].at[i]);
		csv_end_row(&csv);
	}
}
