/*
 * stragglers_measured - what was measured on nodes in windows of time.
 *
 * Counters are what they grew by in the window, evenly between two samples
 * (exporters/samples/series.h).  Of several disks, interfaces or cgroups of a
 * node it is the sum.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STRAGGLERS_MEASURED_H
#define EXPORTERS_STRAGGLERS_MEASURED_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/source/source.h"
#include "proto/hash/string_table.h"

enum measure {
	MEASURE_CPU_WAIT, /* seconds in which a task waited: pressure, some */
	MEASURE_MEMORY_WAIT,
	MEASURE_IO_WAIT,
	MEASURE_STEAL,  /* seconds: half of each wanted one is half of them */
	MEASURE_BUSY,   /* seconds of processors, what was stolen not among it
			 */
	MEASURE_IOWAIT, /* idle, while something waited for I/O */
	MEASURE_IDLE,
	MEASURE_THROTTLED, /* seconds, of cgroups */
	MEASURE_DISK_BUSY, /* seconds */
	MEASURE_DISK_TIME, /* seconds that operations took */
	MEASURE_DISK_OPERATIONS,
	MEASURE_DISK_READ, /* bytes */
	MEASURE_RECEIVED,  /* bytes */
	MEASURE_ERRORS,    /* packets that were dropped or had an error */
	MEASURE_MAJOR_FAULTS,
	MEASURES
};
/* The name of its metric, or of the first of those that it sums. */
struct text measure_metric(enum measure measure);

struct measured_window {
	uint32_t node; /* its number in measured.nodes */
	int64_t begin_ns, end_ns;
	double sum[MEASURES];     /* NaN: it was not measured */
	double seconds[MEASURES]; /* that samples cover, of each device */
	uint32_t samples[MEASURES];
	int64_t stepped_ns; /* how far its clock was set in it */
};

/* What samples cover of it, in seconds, and how many lie in it. */
double measured_seconds(const struct measured_window *window);
uint32_t measured_samples(const struct measured_window *window);

/* Zeroed it is empty. */
struct measured {
	struct string_table nodes;
	/* How many there are: most of them are read faster without names. */
	uint32_t nodes_of_pool;
	struct measured_window *at; /* in the order in which they were added */
	uint32_t count, room;
};

void measured_init(struct measured *measured);
void measured_clear(struct measured *measured);
/* Returns its number. */
uint32_t measured_add(struct measured *measured, struct text node,
    int64_t begin_ns, int64_t end_ns);
/* Read the samples of all windows that were added. */
int measured_read(struct measured *measured, struct source *source,
    struct text partition, struct err *err);

#endif
