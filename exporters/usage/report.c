/*
 * usage_report - use as a table of 80 columns, as JSON and as CSV.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/usage/usage.h"

#include <math.h>

#include "exporters/samples/plot.h"
#include "proto/format/csv.h"
#include "proto/json/json.h"
#include "proto/format/quantity.h"
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
	{ "node", 11, false },
	{ "cpu h", 6, true },
	{ "unused", 6, true },
	{ "idle h", 6, true },
	{ "memory", 6, true },
	{ "gpu", 4, true },
	{ "read", 6, true },
	{ "written", 7, true },
	{ "recv", 6, true },
	{ "sent", 6, true },
	{ "wait s", 6, true },
	{ NULL, 0, false },
};

static void
put_bytes(struct table *table, double bytes)
{
	char text[QUANTITY_TEXT_BYTES];

	if (isnan(bytes) || bytes < 0 || bytes > 1e20)
		table_none(table);
	else
		table_string(table, quantity_bytes_short(text, bytes));
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

/* The end of the rows [first, end) that are printed. */
static uint32_t
shown_end(const struct usage *usage, uint32_t first, uint32_t end)
{
	return end - first > usage->top ? first + usage->top : end;
}

/* The end of the rows of the same job, or of the nodes. */
static uint32_t
group_end(const struct usage *usage, uint32_t first)
{
	uint32_t end = first;

	while (end < usage->count &&
	       text_equal(usage->rows[end].job, usage->rows[first].job))
		end++;
	return end;
}

/* ---- order ---- */

const char *const usage_columns[] = { "node", "seconds", "cpus",
	"cpu_hours_used", "cpu_hours_unused", "idle_hours", "memory_peak_bytes",
	"memory_bytes", "gpu_peak", "gpu_memory_peak_bytes", "disk_read_bytes",
	"disk_written_bytes", "network_received_bytes", "network_sent_bytes",
	"cpu_pressure_seconds", "memory_pressure_seconds",
	"io_pressure_seconds", NULL };

static struct order_key
key_of(const void *arg, const void *at, int column)
{
	const struct usage_row *row = at;

	(void)arg;
	return (struct order_key){ .is_text = column == 0,
		.text = row->node,
		.number = row->at[column == 0 ? 0 : column - 1] };
}

void
usage_sort(struct usage *usage, const struct order *order)
{
	for (uint32_t first = 0, end; first < usage->count; first = end) {
		end = group_end(usage, first);
		order_rows(order, &usage->rows[first], end - first,
		    sizeof(*usage->rows), key_of, NULL);
	}
	if (order->top > 0 && order->top < UINT32_MAX)
		usage->top = (uint32_t)order->top;
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
	for (uint32_t i = first; i < shown_end(usage, first, end); i++)
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

		end = group_end(usage, first);
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
		json_add_text(json, "job", row->job);
	}
	json_add_text(json, "node", row->node);
	for (int i = 0; i < USAGE_NUMBERS; i++) {
		json_add_float(json, usage_names[i], row->at[i]);
	}
	json_end_object(json);
}

void
usage_json(const struct usage *usage, FILE *file)
{
	struct json json;

	json_init(&json, file, JSON_INDENTED | JSON_STRICT);
	json_begin_object(&json);
	json_add_int(&json, "from_ns", usage->from_ns);
	json_add_int(&json, "to_ns", usage->to_ns);
	json_add_int(&json, "step_ns", usage->step_ns);
	json_add_text(&json, "rollup", usage->rollup);
	if (usage->clock[0] != '\0') {
		json_add_string(&json, "clock", usage->clock);
	}
	json_add_array(&json, "nodes");
	for (uint32_t i = 0; i < shown_end(usage, 0, usage->nodes); i++)
		put_json_row(&json, &usage->rows[i], false);
	json_end_array(&json);
	json_add_array(&json, "jobs");
	for (uint32_t i = usage->nodes, end; i < usage->count; i = end) {
		end = group_end(usage, i);
		for (uint32_t k = i; k < shown_end(usage, i, end); k++)
			put_json_row(&json, &usage->rows[k], true);
	}
	json_end_array(&json);
	json_end_object(&json);
	putc('\n', file);
}

static void
put_csv_row(struct csv *csv, const struct usage_row *row)
{
	csv_text(csv, row->job);
	csv_text(csv, row->node);
	for (int i = 0; i < USAGE_NUMBERS; i++)
		csv_float(csv, row->at[i]);
	csv_end_row(csv);
}

void
usage_csv(const struct usage *usage, FILE *file)
{
	struct csv csv = { file, false };

	csv_titles(&csv, "job node");
	for (int i = 0; i < USAGE_NUMBERS; i++)
		csv_string(&csv, usage_names[i]);
	csv_end_row(&csv);
	for (uint32_t first = 0, end; first < usage->count; first = end) {
		end = group_end(usage, first);
		for (uint32_t i = first; i < shown_end(usage, first, end); i++)
			put_csv_row(&csv, &usage->rows[i]);
	}
}
