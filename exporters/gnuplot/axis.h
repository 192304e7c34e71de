/*
 * gnuplot_axis - tics of axes, with labels of which no two are equal, and the
 * unit of an axis of durations.
 *
 * gnuplot's own labels have a fixed number of digits: of 1.5 GiB and 2 GiB it
 * makes "2 GiB" twice.  Bytes are in multiples of 1024, all labels of an axis
 * in the same unit.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_GNUPLOT_AXIS_H
#define EXPORTERS_GNUPLOT_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "exporters/gnuplot/gnuplot.h"

/* Set where the legend is, and axes with room above for the lines of text. */
void gnuplot_put_frame(FILE *file, enum gnuplot_terminal terminal);

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

/* The unit of an axis of durations, and labels for a logarithmic one. */

struct duration_unit {
	double seconds;
	const char *plural, *sign; /* "minutes", "min" */
};

/* The unit in which the greatest duration is a number of few digits. */
struct duration_unit duration_unit_of(double greatest_s);
/* Of runs, which people count in minutes. */
struct duration_unit duration_unit_of_runs(double greatest_s);

/* Write a duration with its unit, such as "12.3 s" or "4.0 h". */
void duration_words(char *to, size_t room, double seconds);

/* Set a logarithmic axis ("x") for these seconds, 0 < low < high: round
 * durations with their units, "1 s", "10 s", "1 min". */
void duration_put_log_axis(
    FILE *file, const char *axis, double low, double high);

#endif
