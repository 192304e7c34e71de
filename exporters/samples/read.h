/*
 * samples_read - read the values of metrics, and compute their statistics.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_READ_H
#define EXPORTERS_SAMPLES_READ_H

#include "exporters/samples/sample_rows.h"
#include "exporters/samples/time_window.h"

/* A row for each metric of each metric group, and of each node if `by_node`.
 * -1 also when there are no values.  Clear `rows` in any case. */
int sample_rows_read(struct sample_rows *rows, bool by_node,
    struct source *source, struct text partition,
    const struct metric_options *options,
    const struct time_window_options *window, struct err *err);

#endif
