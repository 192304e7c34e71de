/*
 * samples_plot_command - the pictures of what poolscope-plot samples is asked
 * for. SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_PLOT_COMMAND_H
#define EXPORTERS_SAMPLES_PLOT_COMMAND_H

#include "exporters/gnuplot/picture.h"
#include "exporters/samples/time_window.h"

/* --metric, --metric-group. */
extern const struct opt plot_samples_options[];

/* Ends with a word of use when nothing is asked for. */
void plot_samples_check(void);

/* `picture` says where and how; its base and contents are filled in here. */
int plot_samples(struct source *source, struct text partition,
    const struct time_window_options *options, const struct picture *picture,
    struct err *err);

#endif
