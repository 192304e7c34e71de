/*
 * gnuplot_axis - tics of axes, with labels of which no two are equal, and the
 * unit of an axis of durations.
 *
 * gnuplot's own labels have a fixed number of digits: of 1.5 GiB and 2 GiB it
 * makes "2 GiB" twice.  Bytes are in multiples of 1024, all labels of an axis
 * in the same unit.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PLOT_AXIS_H
#define EXPORTERS_PLOT_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "exporters/plot/gnuplot.h"
#include "proto/base/text.h"

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

/*
 * labels - names shortened to a width so that no two of a picture are equal.
 *
 * A long name loses its middle.  Names that would then be equal differ in what
 * was left out; they lose a part that they have in common instead.
 */

enum { LABELS_WIDTH_MAX = 40, LABELS_BYTES = 4 * LABELS_WIDTH_MAX + 1 };

struct labels {
	char (*at)[LABELS_BYTES]; /* in the order of the names */
	uint32_t count;
};

/* Names of at most `width` characters, LABELS_WIDTH_MAX or less. */
void labels_make(struct labels *labels, const struct text *names,
    uint32_t count, unsigned width);
void labels_clear(struct labels *labels);

/* Write the tics of rows, which stand at 1, 2, 3 ...: each `step`th of `count`
 * has a name, of at most `width` characters, and `after` it what is not cut. */
enum { LABELS_AFTER_BYTES = 64 };
typedef struct text labels_name(
    const void *arg, uint32_t row, char after[static LABELS_AFTER_BYTES]);
void labels_put_rows(FILE *file, uint32_t count, uint32_t step, unsigned width,
    labels_name *name_of, const void *arg);

/* Write the text, shortened to `columns` characters, as gnuplot_put_text does.
 */
void labels_put_cut(FILE *file, struct text text, unsigned columns);
/* The first line above a picture, of a length that fits; see
 * gnuplot_put_heading. */
void labels_put_title(FILE *file, enum gnuplot_terminal terminal,
    unsigned height, unsigned rows, const char *title);

#endif
