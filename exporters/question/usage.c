/*
 * question_usage - what nodes and jobs used, and what they left unused: a row
 * for each node, then one for each job on each of its nodes.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exporters/question/question.h"
#include "exporters/samples/usage.h"

struct row {
	struct text job, node;
	double at[USAGE_NUMBERS], wait;
};

#define NUMBER(number) ANSWER_AT_NUMBER(struct row, at[USAGE_##number])
#define BYTES(number)  ANSWER_AT_BYTES(struct row, at[USAGE_##number])

static const struct answer_column columns[] = {
	{ "job", "JOB", ANSWER_AT_TEXT(struct row, job),
	    "the job; unknown: all that ran on the node" },
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node), "the node" },
	{ "seconds", NULL, NUMBER(SECONDS),
	    "the time of which there are samples", "s" },
	{ "cpus", NULL, NUMBER(CPUS),
	    "how many processors there were, the mean by time", "{cpu}" },
	{ "cpu_hours_used", "CPU-H", NUMBER(CPU_USED),
	    "time of processors that was used", "h" },
	{ "cpu_hours_unused", "UNUSED", NUMBER(CPU_UNUSED),
	    "time of processors that were idle or waited for I/O", "h" },
	{ "idle_hours", "IDLE-H", NUMBER(IDLE),
	    "time in which at least 95 % of the processors were idle", "h" },
	{ "memory_peak_bytes", "MEMORY", BYTES(MEMORY_PEAK),
	    "the most memory that was used at once" },
	{ "memory_bytes", NULL, BYTES(MEMORY_LIMIT),
	    "how much memory there is" },
	{ "gpu_peak", "GPU", ANSWER_AT_SHARE(struct row, at[USAGE_GPU_PEAK]),
	    "the greatest utilization of any GPU", "1",
	    .traits = ANSWER_SPARE },
	{ "gpu_memory_peak_bytes", NULL, BYTES(GPU_MEMORY_PEAK),
	    "the most memory of any GPU that was used at once" },
	{ "disk_read_bytes", "READ", BYTES(DISK_READ),
	    "what was read from whole disks", .traits = ANSWER_SPARE },
	{ "disk_written_bytes", "WRITTEN", BYTES(DISK_WRITTEN),
	    "what was written to whole disks", .traits = ANSWER_SPARE },
	{ "network_received_bytes", "RECEIVED", BYTES(NETWORK_RECEIVED),
	    "what physical interfaces received", .traits = ANSWER_SPARE },
	{ "network_sent_bytes", "SENT", BYTES(NETWORK_SENT),
	    "what physical interfaces sent", .traits = ANSWER_SPARE },
	{ "cpu_pressure_seconds", NULL, NUMBER(PRESSURE_CPU),
	    "time in which a process waited for a processor", "s" },
	{ "memory_pressure_seconds", NULL, NUMBER(PRESSURE_MEMORY),
	    "time in which a process waited for memory", "s" },
	{ "io_pressure_seconds", NULL, NUMBER(PRESSURE_IO),
	    "time in which a process waited for I/O", "s" },
	{ "pressure_seconds", "WAIT-S", ANSWER_AT_NUMBER(struct row, wait),
	    "the longest of these three", "s", .traits = ANSWER_SPARE },
	{ .key = NULL },
};

/* Of all nodes together, and of each job: sums of what is known, and the
 * greatest of the peaks. */
static const struct answer_table tables[] = { { "usage", columns },
	{ "all", columns }, { "head", question_window_head },
	{ .name = NULL } };

static struct row
make_row(const struct usage_row *of)
{
	struct row row = { .node = of->node, .job = of->job };

	if (of->job.bytes == 0)
		row.job.at = NULL;
	memcpy(row.at, of->at, sizeof(row.at));
	row.wait = fmax(row.at[USAGE_PRESSURE_CPU],
	    fmax(row.at[USAGE_PRESSURE_MEMORY], row.at[USAGE_PRESSURE_IO]));
	return row;
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

static void
sum_up(double *sum, double value, bool is_peak)
{
	if (isnan(*sum) || is_peak)
		*sum = fmax(*sum, value);
	else if (!isnan(value))
		*sum += value;
}

static void
put_sums(struct answer *answer, const struct usage *usage, uint32_t first,
    uint32_t end)
{
	struct row all = make_row(&usage->rows[first]);

	all.node = (struct text){ NULL, 0 };
	for (uint32_t i = first + 1; i < end; i++) {
		struct row row = make_row(&usage->rows[i]);

		for (int k = 0; k < USAGE_NUMBERS; k++)
			sum_up(&all.at[k], row.at[k],
			    k == USAGE_MEMORY_PEAK || k == USAGE_GPU_PEAK ||
				k == USAGE_GPU_MEMORY_PEAK);
		sum_up(&all.wait, row.wait, false);
	}
	answer_row(answer, &all, NULL);
}

/* People see the sum of one row in the row. */
static void
put_all_sums(struct answer *answer, const struct usage *usage)
{
	bool has_begun = false;

	for (uint32_t i = 0, end; i < usage->count; i = end) {
		end = group_end(usage, i);
		if (answer_is_for_people(answer) && end - i < 2)
			continue;
		if (!has_begun) {
			answer_begin_table(answer, "all");
			answer_hide_column(answer, "node");
			if (usage->nodes == usage->count)
				answer_hide_column(answer, "job");
		}
		has_begun = true;
		put_sums(answer, usage, i, end);
	}
}

static void
note_left_out(struct answer *answer, const struct usage *usage)
{
	const struct string_table *nodes = &usage->left_out_nodes;
	char more[40] = "";

	if (usage->left_out == 0)
		return;
	if (nodes->count > 1)
		snprintf(more, sizeof(more), " and %" PRIu32 " other node%s",
		    nodes->count - 1, nodes->count == 2 ? "" : "s");
	answer_note(answer, "left_out", usage->left_out,
	    "left out: %" PRIu64
	    " time%s of processors between two samples, of "
	    "which %.*s%s cannot have so much, such as after a sleep of the "
	    "host",
	    usage->left_out, usage->left_out == 1 ? "" : "s",
	    (int)nodes->names[0].bytes, nodes->names[0].at, more);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct usage usage;
	int rc = usage_read(&usage, asked->source, asked->partition,
	    &asked->values->window, err);

	if (rc == 0)
		question_put_window(&question_usage, asked,
		    &(struct question_window){ usage.from_ns, usage.to_ns,
			usage.step_ns, usage.rollup },
		    answer);
	if (rc == 0 && usage.nodes == usage.count)
		answer_hide_column(answer, "job");
	for (uint32_t i = 0, end; rc == 0 && i < usage.count; i = end) {
		answer_next_group(answer);
		end = group_end(&usage, i);
		for (uint32_t k = i; k < end; k++) {
			struct row row = make_row(&usage.rows[k]);

			answer_row(answer, &row, NULL);
		}
	}
	if (rc == 0)
		put_all_sums(answer, &usage);
	if (rc == 0)
		note_left_out(answer, &usage);
	usage_clear(&usage);
	return rc;
}

const struct question question_usage = { .word = "usage",
	.summary = "what nodes and jobs used of processors, memory, disks",
	.options = "node job user start gap from to step sort top columns",
	.examples = "poolscope stats usage --from -1d\n"
		    "poolscope stats usage --job 4711\n",
	.tables = tables,
	.kinds = 1u << RECORD_SAMPLE,
	.ask = ask };
