/*
 * stats_spans - how long the spans of commands, programs and imports took.
 *
 * Quantiles (proto/base/quantile.h) are exact, of all durations in memory.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STATS_SPANS_H
#define EXPORTERS_STATS_SPANS_H

#include <stdio.h>

#include "exporters/select/order.h"
#include "exporters/source/source.h"
#include "exporters/stats/stats_format.h"

enum stats_spans_by { STATS_SPANS_NAME, STATS_SPANS_TRACK, STATS_SPANS_NODE };

struct stats_spans_options {
	struct text node, name; /* patterns; empty: all */
	int64_t from_ns, to_ns; /* spans that begin in this time */
	enum stats_spans_by by;
	const struct order *order;
};

/* Print a row for each name, track or node, those of the longest sum first.
 * -1 also when there are no spans, or more than fit in memory. */
int stats_spans(struct source *source, struct text partition,
    const struct stats_spans_options *options, enum stats_format format,
    FILE *file, struct err *err);

/* What they can be sorted by. */
extern const char *const stats_spans_columns[];

#endif
