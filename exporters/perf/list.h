/*
 * perf_list - the reports themselves: as the older sampler saves them, or a
 * line each; all of them or fewer.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PERF_LIST_H
#define EXPORTERS_PERF_LIST_H

#include <stdio.h>

#include "exporters/perf/read.h"

enum perf_decimate { PERF_ALL, PERF_REFERENCE, PERF_MINMAX };

struct perf_thinning {
	enum perf_decimate way;
	uint64_t max_length; /* of a node's list */
};

/* Give a node's list, thinned (exporters/samples/decimate.h; peaks are those of
 * the CPU average). */
int perf_list_each(const struct perf_select *select,
    const struct perf_pool *pool, uint32_t number,
    const struct perf_thinning *thinning,
    void (*on_report)(void *arg, const struct perf_report *report), void *arg,
    struct err *err);

/* One object, node -> list, byte for byte as json.dump(..., indent=4). */
int perf_list_save(const struct perf_select *select,
    const struct perf_pool *pool, const struct perf_thinning *thinning,
    FILE *file, struct err *err);

/* A line a report: its members behind that of the node. */
int perf_list_lines(const struct perf_select *select,
    const struct perf_pool *pool, const struct perf_thinning *thinning,
    FILE *file, struct err *err);

/* Sum up what the older sampler's store would have had at the end. */
int perf_list_resum(const struct perf_select *select, struct perf_pool *pool,
    const struct perf_thinning *thinning, struct err *err);

#endif
