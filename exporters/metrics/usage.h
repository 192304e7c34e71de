/*
 * metrics_usage - what the nodes of a partition used in the last minutes.
 *
 * Of a gauge its last value, of a counter its mean rate in the window; a node
 * that has no sample in it has none of them.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_METRICS_USAGE_H
#define EXPORTERS_METRICS_USAGE_H

#include "exporters/metrics/exposition.h"
#include "exporters/source/source.h"
#include "proto/hash/string_table.h"

enum { METRICS_USAGES = 10 };

/* The window. */
#define METRICS_USAGE_NS (300 * INT64_C(1000000000))

extern const struct exposition_family metrics_usage_families[METRICS_USAGES];

struct metrics_usage {
	double numbers[METRICS_USAGES]; /* in their order; NaN: unknown */
};

struct metrics_usages {
	struct string_table nodes;
	struct metrics_usage *at; /* by number of the node */
	uint32_t room;
};

/* Read them as of `now_ns`.  Clear it in any case. */
int metrics_usage_read(struct metrics_usages *usages, struct source *source,
    struct text partition, int64_t now_ns, struct err *err);
void metrics_usage_clear(struct metrics_usages *usages);

/* NULL: the node has none. */
const struct metrics_usage *metrics_usage_of(
    const struct metrics_usages *usages, struct text node);

#endif
