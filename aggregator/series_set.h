/*
 * series_set - which number of a sample is which metric.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_SERIES_SET_H
#define AGGREGATOR_SERIES_SET_H

#include "aggregator/reader_series.h"

/* The metrics of the set that the page's query wants; none when the set is
 * not defined.  `kind` is the number of the name "set". */
void series_set_find(
    struct series_set *set, struct page *page, uint32_t kind, struct text name);

#endif
