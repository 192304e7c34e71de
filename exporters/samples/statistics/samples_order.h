/*
 * samples_order - which rows of samples come first, and how many are shown.
 *
 * Numbers of two metrics are not compared: rows are sorted within their
 * section, which is a group, or with nodes a metric of a group.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_STATISTICS_SAMPLES_ORDER_H
#define EXPORTERS_SAMPLES_STATISTICS_SAMPLES_ORDER_H

#include "exporters/samples/statistics/sample_rows.h"
#include "exporters/select/order.h"

/* What rows can be sorted by. */
extern const char *const stats_samples_columns[];

/* The end of the section that begins with the row `first`. */
uint32_t samples_order_section(const struct sample_rows *rows, uint32_t first);

/* Sort finished rows.  Returns how many are not to be shown, which are
 * removed. */
uint32_t samples_order_apply(
    struct sample_rows *rows, const struct order *order);

#endif
