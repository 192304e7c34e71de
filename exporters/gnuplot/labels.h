/*
 * labels - names shortened to a width so that no two of a picture are equal.
 *
 * A long name loses its middle.  Names that would then be equal differ in what
 * was left out; they lose a part that they have in common instead.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_GNUPLOT_LABELS_H
#define EXPORTERS_GNUPLOT_LABELS_H

#include "exporters/gnuplot/gnuplot.h"
#include "proto/base/text.h"

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
