/*
 * perf_list - the reports themselves, all or decimated, and the file in
 * which the older sampler saves them.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PERF_LIST_H
#define EXPORTERS_PERF_LIST_H

#include <stdio.h>

#include "exporters/perf/read.h"

enum perf_decimate { PERF_ALL, PERF_REFERENCE, PERF_MINMAX };

struct perf_decimation {
	enum perf_decimate way;
	uint64_t max_length; /* maximum reports per node */
};

/* Call `on_report` for each report of a node after decimation
 * (exporters/samples/decimate.h; peaks are those of the CPU average). */
int perf_list_each(const struct perf_select *select,
    const struct perf_pool *pool, uint32_t number,
    const struct perf_decimation *decimation,
    void (*on_report)(void *arg, const struct perf_report *report), void *arg,
    struct err *err);

/* Print one object, node -> list, byte for byte like json.dump(...,
 * indent=4). */
int perf_list_save(const struct perf_select *select,
    const struct perf_pool *pool, const struct perf_decimation *decimation,
    FILE *file, struct err *err);

/* Add up the reports that the older sampler's store would contain at the
 * end. */
int perf_list_resum(const struct perf_select *select, struct perf_pool *pool,
    const struct perf_decimation *decimation, struct err *err);

#endif
