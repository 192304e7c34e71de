/*
 * metric_columns - which number of a sample is which metric.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_METRIC_COLUMNS_H
#define AGGREGATOR_QUERY_METRIC_COLUMNS_H

#include "aggregator/query/series.h"

/* The metrics of the set that the page's query wants; none when the set is
 * not defined.  `kind` is the number of the name "set". */
void metric_columns_find(
    struct series_set *set, struct page *page, uint32_t kind, struct text name);

#endif
