/*
 * usage - what nodes and jobs used, and what they left unused.
 *
 * A row is a node over the time window, or a job on a node: what the node used
 * while the job ran there.  CPU time is counted per node, not per job: jobs
 * that run at the same time on a node are each given its full use.  What a
 * counter grew by between two samples counts for the part of that time that
 * lies in the window and in the job.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_USAGE_H
#define EXPORTERS_SAMPLES_USAGE_H

#include "exporters/samples/time_window.h"
#include "proto/hash/string_table.h"

/* Unknown values are NaN: a node without a GPU has no GPU peak. */
enum usage_number {
	USAGE_SECONDS, /* seconds with samples */
	USAGE_CPUS,
	USAGE_CPU_USED,   /* CPU hours */
	USAGE_CPU_UNUSED, /* idle, including waiting for I/O */
	USAGE_IDLE, /* hours in which at least 95 % of the CPUs did nothing */
	USAGE_MEMORY_PEAK,
	USAGE_MEMORY_LIMIT,
	USAGE_GPU_PEAK, /* highest utilization of any GPU, as a fraction */
	USAGE_GPU_MEMORY_PEAK,
	USAGE_DISK_READ,
	USAGE_DISK_WRITTEN,
	USAGE_NETWORK_RECEIVED,
	USAGE_NETWORK_SENT,
	USAGE_PRESSURE_CPU, /* seconds in which a task waited for the resource
			     */
	USAGE_PRESSURE_MEMORY,
	USAGE_PRESSURE_IO,
	USAGE_NUMBERS
};

struct usage_row {
	struct text node, job; /* empty job: everything that ran on the node */
	double at[USAGE_NUMBERS];
};

struct usage {
	struct usage_row *rows; /* nodes by name, then jobs by name and node */
	uint32_t count;
	uint32_t nodes; /* number of rows that are nodes */
	int64_t from_ns, to_ns, step_ns;
	struct text rollup;             /* the coarsest step of all series */
	char clock[SOURCE_CLOCK_WORDS]; /* the clock of the times */
	struct string_table texts;
	/* Times of processors between two samples that are more than all of
	 * them have, and whose they are. */
	uint64_t left_out;
	struct string_table left_out_nodes;
};

/* With --job or --user only the rows of those jobs. */
int usage_read(struct usage *usage, struct source *source,
    struct text partition, const struct time_window_options *options,
    struct err *err);
void usage_clear(struct usage *usage);

/* The used fraction of all CPU hours; NaN if unknown. */
double usage_share(const struct usage_row *row);

#endif
