/*
 * samples_plot_command - the pictures of poolscope-plot samples.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_PLOT_COMMAND_H
#define EXPORTERS_SAMPLES_PLOT_COMMAND_H

#include "exporters/plot/gnuplot.h"
#include "exporters/samples/node_table.h"
#include "exporters/samples/time_window.h"

/* Exits with a usage message when no metric is given. */
void plot_samples_check(const struct metric_options *options);

/* `picture` has the output options; this call sets its base and contents. */
int plot_samples(struct source *source, struct text partition,
    const struct metric_options *options,
    const struct time_window_options *window, const struct picture *picture,
    struct err *err);

/* What they show: read into zeroed `samples`, in steps that fit; narrow the
 * window where no end was given and only a small part of it has samples. */
int plot_samples_read(struct samples *samples, struct source *source,
    struct text partition, const struct metric_options *options,
    const struct time_window_options *given, struct time_window *time_window,
    struct err *err);

#endif
