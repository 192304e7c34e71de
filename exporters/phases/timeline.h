/*
 * stats_timeline - what each node did when, as a table of times in bands.
 *
 * A row is a node, or the middle one of several nodes that follow each other in
 * the order: 10,000 nodes fit a screen.  Bands are those of node_bands.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PHASES_TIMELINE_H
#define EXPORTERS_PHASES_TIMELINE_H

#include <stdio.h>

#include "exporters/select/order.h"
#include "exporters/source/source.h"
#include "exporters/stats/stats_format.h"

enum { STATS_TIMELINE_ROWS = 800, STATS_TIMELINE_ROWS_MAX = 2000 };

struct stats_timeline {
	const char *model;         /* NULL: the first one that has phases */
	struct text node;          /* list; empty: all */
	int64_t from_ns, to_ns;    /* in which the phases begin */
	uint64_t rows;             /* at most; 0: STATS_TIMELINE_ROWS */
	const struct order *order; /* not sorted: by their begin */
};

/* -1 also when there are no phases, or `rows` is more than
 * STATS_TIMELINE_ROWS_MAX. */
int stats_timeline(struct source *source, struct text partition,
    const struct stats_timeline *what, enum stats_format format, FILE *file,
    struct err *err);

/* What they can be sorted by. */
extern const char *const stats_timeline_columns[];

#endif
