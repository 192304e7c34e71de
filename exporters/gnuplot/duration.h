/*
 * gnuplot_duration - the unit of an axis of durations, and labels for a
 * logarithmic one.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_GNUPLOT_DURATION_H
#define EXPORTERS_GNUPLOT_DURATION_H

#include <stddef.h>
#include <stdio.h>

struct duration_unit {
	double seconds;
	const char *plural, *sign; /* "minutes", "min" */
};

/* The unit in which the greatest duration is a number of few digits. */
struct duration_unit duration_unit_of(double greatest_s);

/* Write a duration with its unit, such as "12.3 s" or "4.0 h". */
void duration_words(char *to, size_t room, double seconds);

/* Set a logarithmic axis ("x") for these seconds, 0 < low < high: round
 * durations with their units, "1 s", "10 s", "1 min". */
void duration_put_log_axis(
    FILE *file, const char *axis, double low, double high);

#endif
