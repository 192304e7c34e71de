/*
 * perf_options - the options of questions about reports of hosts.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/perf/options.h"

enum {
	MAX_LENGTH = 1000, /* capacity of the older sampler's store */
	MAX_LENGTH_MAX = 10000000,
};

const struct opt perf_options[] = {
	{ "now", 0, OPT_TIME, OPT_TO(struct perf_options, now_ns), "TIME",
	    "perf: end the CPU hours at this time (default: the node's last "
	    "report)",
	    NULL, false },
	{ "cpu-count", 0, OPT_COUNT, OPT_TO(struct perf_options, cpu_count),
	    "N",
	    "perf: assume this many CPUs per node (default: as in its last "
	    "report)",
	    NULL, false },
	{ "decimate", 0, OPT_CHOICE, OPT_TO(struct perf_options, decimate),
	    "WAY",
	    "perf, reports: reduce the reports: minmax preserves peaks and the "
	    "end, "
	    "reference works like the older sampler",
	    "minmax|reference", false },
	{ "max-length", 0, OPT_COUNT, OPT_TO(struct perf_options, max_length),
	    "N",
	    "reports, --save: at most N reports per node (default: 1000 with "
	    "--decimate)",
	    NULL, false },
	{ "since-boot", 0, OPT_FLAG, OPT_TO(struct perf_options, since_boot),
	    NULL,
	    "perf: print totals since the node's boot instead of those of the "
	    "reports",
	    NULL, false },
	{ "mlflow-names", 0, OPT_FLAG, OPT_TO(struct perf_options, mlflow),
	    NULL,
	    "perf: also print the metrics by the names that MLflow "
	    "accepts",
	    NULL, false },
	{ "prefix", 0, OPT_TEXT, OPT_TO(struct perf_options, prefix), "TEXT",
	    "perf: begin the MLflow names with this text", NULL, false },
	{ "save", 0, OPT_TEXT, OPT_TO(struct perf_options, save), "FILE",
	    "perf: write the reports in the file format of the older sampler",
	    NULL, false },
	{ .name = NULL },
};

struct perf_decimation
perf_decimation_of(
    const struct perf_options *options, bool has_way, bool has_length)
{
	if (!has_way && !has_length)
		return (struct perf_decimation){ .way = PERF_ALL };
	return (struct perf_decimation){
		.way = options->decimate == 1 ? PERF_REFERENCE : PERF_MINMAX,
		.max_length = has_length ? options->max_length : MAX_LENGTH,
	};
}

int
perf_decimation_check(const struct perf_decimation *how, struct err *err)
{
	if (how->way != PERF_ALL && how->max_length > MAX_LENGTH_MAX)
		return err_set(
		    err, "--max-length must be at most %d", MAX_LENGTH_MAX);
	if (how->way == PERF_MINMAX && how->max_length < 2)
		return err_set(err, "--max-length must be at least 2 (the "
				    "first and the last report)");
	return 0;
}
