/*
 * gnuplot_axis - tics of axes, with labels of which no two are equal.
 *
 * gnuplot's own labels have a fixed number of digits: of 1.5 GiB and 2 GiB it
 * makes "2 GiB" twice.  Bytes are in multiples of 1024, all labels of an axis
 * in the same unit.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_GNUPLOT_AXIS_H
#define EXPORTERS_GNUPLOT_AXIS_H

#include <stdbool.h>
#include <stdio.h>

/* Set the tics of the axis ("x", "y", "cb") for the range from `low` to `high`.
 */
void gnuplot_put_tics(
    FILE *file, const char *axis, double low, double high, bool bytes);
/* Set range and tics for these values: from 0, unless there are negative ones,
 * to a little above the greatest. */
void gnuplot_put_range(
    FILE *file, const char *axis, double low, double high, bool bytes);

/* Set range, tics and label of the x axis for this time, in seconds since the
 * epoch; at most `tics` tics, at round times of UTC. */
void gnuplot_put_time_axis(FILE *file, double from, double to, unsigned tics);

#endif
