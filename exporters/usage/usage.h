/*
 * usage - what nodes and jobs used, and what they left unused.
 *
 * A row is a node over the window, or a job on a node: what the node used
 * while the job ran there (nodes count processors, not jobs: two jobs at one
 * time have the same each).  A step that is only partly a job's counts for it
 * in that part.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_USAGE_USAGE_H
#define EXPORTERS_USAGE_USAGE_H

#include <stdio.h>

#include "exporters/samples/time_window.h"

/* What is not known is NaN: a node without GPU has no peak of it. */
enum usage_number {
	USAGE_SECONDS, /* in which there were samples */
	USAGE_CPUS,
	USAGE_CPU_USED,   /* hours of processors */
	USAGE_CPU_UNUSED, /* idle, and waiting for I/O */
	USAGE_IDLE,       /* hours in which 95 % of them did nothing */
	USAGE_MEMORY_PEAK,
	USAGE_MEMORY_LIMIT,
	USAGE_GPU_PEAK, /* share of the one that was most at work */
	USAGE_GPU_MEMORY_PEAK,
	USAGE_DISK_READ,
	USAGE_DISK_WRITTEN,
	USAGE_NETWORK_RECEIVED,
	USAGE_NETWORK_SENT,
	USAGE_PRESSURE_CPU, /* seconds in which something waited for it */
	USAGE_PRESSURE_MEMORY,
	USAGE_PRESSURE_IO,
	USAGE_NUMBERS
};

struct usage_row {
	struct text node, job; /* job empty: whatever ran */
	double at[USAGE_NUMBERS];
};

struct usage {
	struct usage_row *rows; /* nodes by name, then jobs by name and node */
	uint32_t count;
	uint32_t nodes; /* how many of the rows are nodes */
	int64_t from_ns, to_ns, step_ns;
	struct text rollup;             /* the coarsest of all */
	char clock[SOURCE_CLOCK_WORDS]; /* which one the times are on */
	struct string_table texts;
};

/* With --job only rows of that job. */
int usage_read(struct usage *usage, struct source *source,
    struct text partition, const struct time_window_options *options,
    struct err *err);
void usage_clear(struct usage *usage);

/* Used of what there was; NaN when nothing is known. */
double usage_share(const struct usage_row *row);

/* The names of the numbers, in the order of the enum. */
extern const char *const usage_names[USAGE_NUMBERS];

void usage_table(const struct usage *usage, FILE *file, struct text partition);
void usage_json(const struct usage *usage, FILE *file);
void usage_csv(const struct usage *usage, FILE *file);

#endif
