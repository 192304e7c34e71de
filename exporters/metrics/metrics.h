/*
 * metrics - the numbers of pools for Prometheus and what reads its format.
 *
 * Every number is one that a command prints, read by the same code
 * (exporters/now).  A number that the store only has of the records that it
 * still keeps is a gauge; what is a counter never falls, also when an
 * aggregator restarts, because it is the store's.
 *
 * Bounds: METRICS_PARTITIONS partitions, METRICS_NODES nodes and METRICS_SERIES
 * series.  Partitions beyond are those with the oldest records, nodes those
 * that were heard the longest ago; the numbers of a partition are shown as a
 * whole or not at all, those of a node, too.  What is left out is counted.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_METRICS_METRICS_H
#define EXPORTERS_METRICS_METRICS_H

#include <stdbool.h>
#include <stdio.h>

#include "exporters/metrics/exposition.h"
#include "exporters/source/source.h"

enum {
	METRICS_PARTITIONS = 100,
	METRICS_NODES = 2000,
	METRICS_SERIES = 20000,
};

struct metrics; /* opaque */

/* Of the partitions of the source that match the pattern (empty: all).
 * `by_node`: also of each node.  The texts and the source must outlive it. */
struct metrics *metrics_new(
    struct source *source, struct text pattern, bool by_node);
void metrics_free(struct metrics **metrics);

/* Read what has come since the last time; -1: the source did not answer. */
int metrics_read(struct metrics *metrics, int64_t now_ns, struct err *err);
/* Was there no partition? */
bool metrics_is_empty(const struct metrics *metrics);
/* Give what was read. */
void metrics_give(const struct metrics *metrics, struct exposition *exposition);
/* Write it. */
void metrics_write(
    const struct metrics *metrics, enum exposition_format format, FILE *file);

/* What there is to say when the source did not answer: that it did not. */
void metrics_give_down(struct exposition *exposition);
void metrics_write_down(enum exposition_format format, FILE *file);

#endif
