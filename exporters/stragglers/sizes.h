/*
 * stragglers_sizes - how many bytes phases moved, as their events say.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STRAGGLERS_SIZES_H
#define EXPORTERS_STRAGGLERS_SIZES_H

#include "exporters/critical/rules.h"
#include "exporters/phases/timeline.h"

/* The attribute that the model names (bytes, poolscope-model(5)), by item of
 * the timeline, which is of `query`; NaN: it has none.  Only phases of which
 * `is_wanted`, by their number, are looked at.  Returns new numbers; NULL: it
 * failed. */
double *sizes_read(const struct phases_timeline *timeline,
    const struct critical_rules *rules, const bool *is_wanted,
    struct source *source, struct text partition,
    const struct wire_query *query, struct err *err);

#endif
