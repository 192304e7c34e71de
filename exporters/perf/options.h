/*
 * perf_options - the options of questions about reports of hosts.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PERF_OPTIONS_H
#define EXPORTERS_PERF_OPTIONS_H

#include "exporters/perf/list.h"
#include "proto/config/opt.h"

struct perf_options {
	int64_t now_ns;
	uint64_t cpu_count, max_length;
	const char *prefix, *save;
	int decimate;
	bool mlflow, since_boot;
};
#define PERF_OPTIONS_DEFAULT                                                   \
	{                                                                      \
		.prefix = ""                                                   \
	}

/* Bound to the struct. */
extern const struct opt perf_options[];

/* What was given of --decimate and --max-length. */
struct perf_decimation perf_decimation_of(
    const struct perf_options *options, bool has_way, bool has_length);
int perf_decimation_check(const struct perf_decimation *how, struct err *err);

#endif
