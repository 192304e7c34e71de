/*
 * perf_stats_command - print the summary of each node, or its reports.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PERF_STATS_COMMAND_H
#define EXPORTERS_PERF_STATS_COMMAND_H

#include <stdio.h>

#include "exporters/perf/read.h"
#include "exporters/select/order.h"
#include "exporters/stats/stats_format.h"
#include "proto/config/opt.h"

/* Initialize with STATS_PERF_DEFAULT. */
struct stats_perf_options {
	int64_t now_ns;
	uint64_t cpu_count, max_length;
	const char *prefix, *save;
	int decimate;
	bool mlflow, since_boot;
};
/* What nodes can be sorted by: the columns of the table. */
extern const char *const stats_perf_columns[];

#define STATS_PERF_DEFAULT                                                     \
	{                                                                      \
		.prefix = ""                                                   \
	}

/* Options bound to the struct: --now, --cpu-count, --decimate and the others
 * that only this command has. */
extern const struct opt stats_perf_options[];

/* The files that the options allow the command to write. */
void stats_perf_sandbox(
    struct sandbox *sandbox, const struct stats_perf_options *options);
/* Exits with a usage error if the options are inconsistent. */
void stats_perf_check(const struct stats_perf_options *options);

/* Read and print.  Returns -1 also if there are no reports at all, or with
 * `strict` if a node has none. */
int stats_perf(const struct perf_select *select,
    const struct stats_perf_options *options, const struct order *order,
    enum stats_format format, bool strict, FILE *file, struct err *err);

#endif
